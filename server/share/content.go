package share

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Kinds of content.
const (
	filesKind  = "files"  // zlib of JSON [["path", "text"], ...], as web/src/page/share/link.ts has it
	bundleKind = "bundle" // docs/bundle.md
	goneKind   = "gone"   // taken down
)

var mediaTypes = map[string]string{
	filesKind:  "application/vnd.kubetab.files",
	bundleKind: "application/vnd.kubetab.bundle",
}

// kindOf returns the kind of a media type, or nothing.
func kindOf(mediaType string) string {
	name, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	for kind, each := range mediaTypes {
		if each == name {
			return kind
		}
	}
	return ""
}

const (
	// Those of a link with files.
	mostFiles = 100
	mostText  = 1_000_000
	// mostCluster is the largest size of a bundle's cluster, inflated: 64 times the size of the content.
	mostCluster = 16 << 20
)

// check refuses content that is not of its kind. It inflates no more than the kind may have.
func check(kind string, content []byte) error {
	if kind == filesKind {
		return checkFiles(content)
	}
	return checkBundle(content)
}

func checkFiles(content []byte) error {
	from := bytes.NewReader(content)
	zip, err := zlib.NewReader(from)
	if err != nil {
		return errors.New("the files are not compressed with zlib")
	}
	// JSON spells some bytes with six; names and quotes take some room, too.
	text, err := inflate(zip, from, 7*mostText)
	if err != nil {
		return fmt.Errorf("the files: %w", err)
	}
	var files [][]string
	if !utf8.Valid(text) || json.Unmarshal(text, &files) != nil {
		return errors.New("the files are no JSON of [[path, text], ...]")
	}
	if len(files) == 0 || len(files) > mostFiles {
		return fmt.Errorf("there are %d files, and 1 to %d are possible", len(files), mostFiles)
	}
	size := 0
	for i, file := range files {
		if len(file) != 2 {
			return fmt.Errorf("file %d is no [path, text]", i+1)
		}
		size += len(file[1])
	}
	if size > mostText {
		return fmt.Errorf("the files have %d bytes, and %d are possible", size, mostText)
	}
	return nil
}

// inflate reads all of zip, which may be most bytes. Nothing may follow in from: browsers inflate no text with more behind it.
func inflate(zip io.Reader, from *bytes.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(zip, int64(most)+1))
	switch {
	case err != nil:
		return nil, errors.New("what is compressed is damaged")
	case len(text) > most:
		return nil, fmt.Errorf("inflated they have more than %d bytes", most)
	case from.Len() > 0:
		return nil, fmt.Errorf("%d bytes follow what is compressed", from.Len())
	}
	return text, nil
}

// shape is what a value of msgpack must be.
type shape struct {
	kind   string            // text, number, float, boolean, bytes, map, array
	fields map[string]*shape // of a map; nil has any names, and values as of
	of     *shape            // of an array, or of any field
}

var (
	text    = &shape{kind: "text"}
	number  = &shape{kind: "number"}
	float   = &shape{kind: "float"}
	boolean = &shape{kind: "boolean"}
	data    = &shape{kind: "bytes"}
)

func fields(of map[string]*shape) *shape { return &shape{kind: "map", fields: of} }
func each(of *shape) *shape              { return &shape{kind: "array", of: of} }
func named(of *shape) *shape             { return &shape{kind: "map", of: of} }

// The format in docs/bundle.md. Whether an API server can read the objects is checked when a bundle is opened, because
// that takes Kubernetes.
var (
	envelopeShape = fields(map[string]*shape{"format": text, "version": number, "codec": text, "size": number, "body": data})
	clusterShape  = fields(map[string]*shape{
		"kubernetes": text, "build": text, "time": text, "name": text, "revision": number,
		"settings": fields(map[string]*shape{
			"emulatedVersion": text, "runtimeConfig": named(text), "featureGates": named(boolean), "nodes": number, "controllers": each(text), "noScheduler": boolean,
		}),
		"clock":  fields(map[string]*shape{"aheadSeconds": float, "paused": boolean, "speed": float}),
		"leases": each(fields(map[string]*shape{"id": number, "ttl": number})),
		"records": each(fields(map[string]*shape{
			"key": text, "create": number, "mod": number, "version": number, "lease": number, "value": data,
		})),
		"files": each(fields(map[string]*shape{"path": text, "data": data})),
	})
)

func checkBundle(content []byte) error {
	if err := has(content, envelopeShape); err != nil {
		return fmt.Errorf("it is no bundle: %w", err)
	}
	var envelope struct {
		Format  string `msgpack:"format"`
		Version int    `msgpack:"version"`
		Codec   string `msgpack:"codec"`
		Size    int64  `msgpack:"size"`
		Body    []byte `msgpack:"body"`
	}
	if err := msgpack.Unmarshal(content, &envelope); err != nil {
		return errors.New("it is no bundle")
	}
	switch {
	case envelope.Format != "kubetab.bundle" || envelope.Version != 1 || envelope.Codec != "gzip":
		return errors.New("it is no bundle of version 1, compressed with gzip")
	case envelope.Size > mostCluster:
		return fmt.Errorf("the cluster has %d bytes, and %d are possible", envelope.Size, mostCluster)
	}
	from := bytes.NewReader(envelope.Body)
	zip, err := gzip.NewReader(from)
	if err != nil {
		return errors.New("the bundle's body is not compressed with gzip")
	}
	zip.Multistream(false)
	cluster, err := inflate(zip, from, int(envelope.Size))
	if err != nil || int64(len(cluster)) != envelope.Size {
		return fmt.Errorf("the bundle's body does not have the %d bytes that its envelope says", envelope.Size)
	}
	if err := has(cluster, clusterShape); err != nil {
		return fmt.Errorf("the bundle's cluster: %w", err)
	}
	return nil
}

// has reports whether a text of msgpack is one value of a shape.
func has(content []byte, s *shape) error {
	r := bytes.NewReader(content)
	d := msgpack.NewDecoder(r)
	if err := s.check(d); err != nil {
		return err
	}
	if _, err := d.PeekCode(); !errors.Is(err, io.EOF) {
		return errors.New("something follows it")
	}
	return nil
}

var errShape = errors.New("it is damaged, or not what docs/bundle.md describes")

// check reads one value. It goes as deep as the shape, whatever the value says.
func (s *shape) check(d *msgpack.Decoder) error {
	code, err := d.PeekCode()
	if err != nil {
		return errShape
	}
	switch s.kind {
	case "map":
		if !msgpcode.IsFixedMap(code) && code != msgpcode.Map16 && code != msgpcode.Map32 {
			return errShape
		}
		return s.checkMap(d)
	case "array":
		if !msgpcode.IsFixedArray(code) && code != msgpcode.Array16 && code != msgpcode.Array32 {
			return errShape
		}
		n, err := d.DecodeArrayLen()
		for i := 0; i < n && err == nil; i++ { // each takes a byte at least
			err = s.of.check(d)
		}
		return known(err)
	case "text":
		if !msgpcode.IsString(code) {
			return errShape
		}
	case "bytes":
		if !msgpcode.IsBin(code) {
			return errShape
		}
	case "boolean":
		if code != msgpcode.True && code != msgpcode.False {
			return errShape
		}
	case "float":
		if code != msgpcode.Float && code != msgpcode.Double && !isNumber(code) {
			return errShape
		}
	case "number":
		if !isNumber(code) {
			return errShape
		}
	}
	return known(d.Skip()) // none of these holds another
}

func isNumber(code byte) bool {
	return msgpcode.IsFixedNum(code) || code >= msgpcode.Uint8 && code <= msgpcode.Int64
}

func (s *shape) checkMap(d *msgpack.Decoder) error {
	n, err := d.DecodeMapLen()
	seen := map[string]bool{}
	for i := 0; i < n && err == nil; i++ {
		code, peekErr := d.PeekCode()
		if peekErr != nil || !msgpcode.IsString(code) {
			return errShape
		}
		var name string
		if name, err = d.DecodeString(); err != nil {
			break
		}
		of := s.of
		if s.fields != nil {
			of = s.fields[name]
		}
		if of == nil || seen[name] {
			return errShape
		}
		seen[name] = true
		err = of.check(d)
	}
	return known(err)
}

func known(err error) error {
	if err != nil {
		return errShape
	}
	return nil
}
