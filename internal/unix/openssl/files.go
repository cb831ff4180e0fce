package openssl

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// isStandard reports whether the name of a file means standard input or output.
func isStandard(name string) bool { return name == "" || name == "-" }

// open opens a file to be read, or standard input, which is /dev/stdin as well. The errors are those of package os.
func (r *run) open(name string) (io.ReadCloser, error) {
	if isStandard(name) || name == "/dev/stdin" {
		return io.NopCloser(r.Stdin), nil
	}
	if i, err := r.Files.Stat(r.Path(name), true); err == nil && i.IsDir() {
		return nil, syscall.EISDIR
	}
	return r.Files.Open(r.Path(name), os.O_RDONLY, 0)
}

// mostRead is how many bytes a file of keys, certificates or settings may have. The certificates that browsers trust take 200 kB.
const mostRead = 8 << 20

// notOpened is the error of a file that cannot be opened, in OpenSSL's words.
func notOpened(name string, err error) error {
	return saidf("Can't open %q for reading, %s", name, coreutils.Reason(err))
}

// read returns what is in a file, or in standard input. The error says so as OpenSSL does.
func (r *run) read(name string) ([]byte, error) {
	f, err := r.open(name)
	if err != nil {
		return nil, notOpened(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostRead+1))
	if len(data) > mostRead {
		err = coreutils.ErrMemory
	}
	if err != nil {
		return nil, saidf("Can't read %s, %s", shown(name), coreutils.Reason(err))
	}
	return data, nil
}

// shown is the name of a file in messages.
func shown(name string) string {
	if isStandard(name) {
		return "<stdin>"
	}
	return name
}

// create opens a file to be written, which has the mode perm if it is new, or standard output, which is /dev/stdout as
// well. The error says so as OpenSSL does.
func (r *run) create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	if isStandard(name) || name == "/dev/stdout" {
		return unclosed{r.Stdout}, nil
	}
	f, err := r.Files.Open(r.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return nil, saidf("Can't open %q for writing, %s", name, coreutils.Reason(err))
	}
	return f, nil
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// write puts data into a file, which has the mode perm if it is new, or into standard output.
func (r *run) write(name string, data []byte, perm fs.FileMode) error {
	f, err := r.create(name, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return r.failed(err)
}

// failed is the error of what could not be read or written, in the words of a C program. Nothing is said where nobody reads any more what
// is printed.
func (r *run) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return status(1)
	}
	return fmt.Errorf("%s: %s", r.name, coreutils.Reason(err))
}

// flush writes what the command has printed, to the file of -out if there is that. Others may not read a private key.
func (r *run) flush() error {
	if r.out.Len() == 0 && !r.has("out") {
		return nil
	}
	perm := fs.FileMode(0o644)
	if r.secret {
		perm = 0o600
	}
	return r.write(r.value("out"), r.out.Bytes(), perm)
}

// put prints blocks as -outform says: PEM, or DER, of which there is one.
func (r *run) put(blocks ...*pem.Block) error {
	switch form := strings.ToLower(r.value("outform")); form {
	case "", "pem":
		for _, b := range blocks {
			r.out.Write(pem.EncodeToMemory(b))
		}
	case "der":
		r.out.Write(blocks[len(blocks)-1].Bytes)
	default:
		return r.misused("Invalid format %q for option -outform", form)
	}
	return nil
}

// isDER reports whether -outform asks for DER. As DER, pkey and genpkey write what was there before PKCS#8.
func (r *run) isDER() bool { return strings.EqualFold(r.value("outform"), "der") }

// find returns the first block of the file whose type is one of kinds, or one without a type for DER. what is the name of
// that in messages. The errors are those of read, and one for a file that has no such block.
func (r *run) find(name, what string, kinds ...string) (*pem.Block, error) {
	all, err := r.findAll(name, what, kinds...)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// findAll is find for all blocks. It returns one or more.
func (r *run) findAll(name, what string, kinds ...string) ([]*pem.Block, error) {
	data, err := r.read(name)
	if err != nil && kinds[0] == pemRequest {
		return nil, err
	}
	if err != nil {
		return nil, saidf("Could not open file or uri for loading %s from %s\n%w", what, shown(name), err)
	}
	begin := []byte("-----BEGIN ")
	if len(data) > 0 && data[0] == 0x30 && !bytes.Contains(data, begin) { // an ASN.1 SEQUENCE
		return []*pem.Block{{Bytes: data}}, nil
	}
	var found []*pem.Block
	var others []string
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		for _, kind := range kinds {
			if b.Type == kind {
				found = append(found, b)
			}
		}
		others = append(others, b.Type)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(others) > 0:
		err = fmt.Errorf("it has no %s but %s", kinds[0], strings.Join(others[:min(len(others), 5)], ", "))
	case bytes.Contains(data, begin):
		err = errors.New("bad base64 decode, or no end line: the PEM is torn")
	default:
		err = fmt.Errorf("no start line, Expecting: %s", kinds[0])
	}
	return nil, unreadable(what, name, err)
}

// unreadable is the error of a file that is not what it ought to be.
func unreadable(what, name string, err error) error {
	return saidf("Could not read %s from %s\n%w", what, shown(name), err)
}
