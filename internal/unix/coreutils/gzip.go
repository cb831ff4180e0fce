package coreutils

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

var (
	errSuffix = errors.New("unknown suffix -- ignored")
	errFormat = errors.New("not in gzip format")
)

// gzipCommand is gzip, gunzip and zcat: it packs files or streams, or unpacks them.
func gzipCommand(k *Call) int {
	f := k.Flags("S")
	unpacks := f.On['d'] || f.Has("decompress") || f.Has("uncompress") || k.Name != "gzip"
	tests := f.On['t'] || f.Has("test")
	out := f.On['c'] || f.Has("stdout") || f.Has("to-stdout") || k.Name == "zcat"
	keeps, forces := f.On['k'] || f.Has("keep"), f.On['f'] || f.Has("force")
	level := gzip.DefaultCompression
	if n, err := strconv.Atoi(f.Value['#']); err == nil && n >= gzip.BestSpeed && n <= gzip.BestCompression {
		level = n
	}
	names := f.Rest
	if len(names) == 0 {
		names = []string{"-"}
	}
	code := 0
	for _, name := range names {
		err := func() error {
			if name == "-" {
				return k.pack(k.Stdout, k.Stdin, unpacks || tests, tests, level)
			}
			to := name + ".gz"
			if unpacks {
				to = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".tgz")
				if strings.HasSuffix(name, ".tgz") {
					to += ".tar"
				}
			}
			switch {
			case tests || out:
			case unpacks && to == name:
				return errSuffix
			case !unpacks && strings.HasSuffix(name, ".gz") && !forces:
				return errors.New("already has .gz suffix -- unchanged")
			}
			in, err := k.open(name)
			if err != nil {
				return errors.New(Reason(err))
			}
			defer in.Close()
			if tests || out {
				return k.pack(k.Stdout, in, unpacks || tests, tests, level)
			}
			if _, err := k.Files.Stat(k.Path(to), false); err == nil && !forces {
				return fmt.Errorf("%s already exists; not overwritten", to)
			}
			w, err := k.Files.Open(k.Path(to), writeFlags, 0o644)
			if err != nil {
				return errors.New(Reason(err))
			}
			if err := errors.Join(k.pack(w, in, unpacks, false, level), w.Close()); err != nil {
				return errors.Join(err, k.Files.Remove(k.Path(to), false)) // half a file is worse than none
			}
			if !keeps {
				return k.Files.Remove(k.Path(name), false)
			}
			return nil
		}()
		if err != nil {
			if name == "-" {
				name = "stdin"
			}
			if errors.Is(err, errFormat) {
				fmt.Fprintln(k.Stderr) // as GNU's does
			}
			fmt.Fprintf(k.Stderr, "gzip: %s: %s\n", name, Reason(err))
			if code = max(code, 1); errors.Is(err, errSuffix) {
				code = 2 // a warning
			}
		}
	}
	return code
}

// pack copies r to w, packed or unpacked. What it tests it does not write.
func (k *Call) pack(w io.Writer, r io.Reader, unpacks, tests bool, level int) error {
	if tests {
		w = io.Discard
	}
	if !unpacks {
		z, err := gzip.NewWriterLevel(w, level)
		if err != nil {
			return err
		}
		_, err = io.Copy(z, r)
		return errors.Join(err, z.Close())
	}
	in := bufio.NewReader(r)
	if magic, err := in.Peek(2); err == nil && !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return errFormat
	}
	z, err := gzip.NewReader(in)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end of file")
	case err != nil:
		return errFormat
	}
	if _, err = io.Copy(w, z); errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("unexpected end of file")
	} else if errors.Is(err, gzip.ErrChecksum) {
		return errors.New("invalid compressed data--crc error")
	}
	return err
}
