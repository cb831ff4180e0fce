// Command dictionary makes a dictionary for compact bundles (codec zstd-N of docs/bundle.md) of a bundle on stdin, that of a
// new cluster:
//
//	kubetab bundle save new.kubetab
//	go run ./core/bundle/internal/dictionary < new.kubetab > core/bundle/dictionary1.zst
//
// A dictionary that a release has had stays as it is: links that were made with it are out there. Another one has another
// number, and both are read.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"
)

// uid is how objects spell theirs: random, and of no use to any other cluster.
var uid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dictionary:", err)
		os.Exit(1)
	}
}

func run(from io.Reader, to io.Writer) error {
	var envelope struct {
		Body []byte `msgpack:"body"`
	}
	if err := msgpack.NewDecoder(from).Decode(&envelope); err != nil {
		return fmt.Errorf("the bundle: %w", err)
	}
	body, err := gzip.NewReader(bytes.NewReader(envelope.Body))
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	cluster, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	zip, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if _, err := zip.Write(uid.ReplaceAll(cluster, []byte("00000000-0000-4000-8000-000000000000"))); err != nil {
		return err
	}
	return zip.Close()
}
