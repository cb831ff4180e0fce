package journal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

const (
	headerName = "\x00kubetab-etcd"
	// headerPayload is the version of the format. An older program refuses a
	// newer one.
	headerPayload = "1"

	// sector is the least that a disk writes at once. A write that was cut short by
	// a loss of power leaves sectors of zeros.
	sector = 512
)

// DamageError says that a file holds something that no crash explains.
type DamageError struct {
	Path string
	// Offset is where the first command that cannot be read begins, in bytes.
	Offset int64
	Reason error
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %v; nothing was changed: restore the file from a copy", e.Path, e.Offset, e.Reason)
}

func (e *DamageError) Unwrap() error { return e.Reason }

// FormatError says that a file is not one of this package, or of a newer version.
type FormatError struct {
	Path, Found string
}

func (e *FormatError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("%s is not a file of this store", e.Path)
	}
	return fmt.Sprintf("%s has format version %q and this program reads version %q; use the program that wrote it", e.Path, e.Found, headerPayload)
}

// examine reads the file and returns where its last complete command ends; 0 when
// there is no file. It changes nothing.
//
// What follows that place is a torn tail, to be cut off, if a crash explains it: a
// command that the file ends in the middle of, or that has sectors of zeros. It is
// damage if not, or if commands follow that can be read: a crash only takes the
// end. In doubt it is damage, because cutting it off would lose what was
// acknowledged.
func examine(path string) (end int64, err error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if err := checkHeader(path, data); err != nil {
		return 0, err
	}
	pos, reason := scan(data, 0)
	if reason == nil {
		return int64(pos), nil
	}
	if damage := explain(data, pos, reason); damage != nil {
		return 0, &DamageError{Path: path, Offset: int64(pos), Reason: damage}
	}
	return int64(pos), nil
}

// checkHeader looks at the first command, as far as it is there.
func checkHeader(path string, data []byte) error {
	want := appendSet(nil, keyOf(headerName), Seal(headerName, []byte(headerPayload)))
	n := min(len(want), len(data))
	if bytes.Equal(data[:n], want[:n]) || len(bytes.Trim(data[:n], "\x00")) == 0 {
		return nil
	}
	if cmd, err := parse(data); err == nil && cmd.name == headerName {
		return &FormatError{Path: path, Found: strings.Clone(cmd.payload)}
	}
	// Is it ours with a damaged header, or something else altogether?
	if next := resync(data, 1); next >= 0 {
		return &DamageError{Path: path, Offset: 0, Reason: fmt.Errorf("the header cannot be read")}
	}
	return &FormatError{Path: path}
}

// scan reads commands from pos on. It returns the end of the data, or where the
// first command begins that cannot be read, and why.
func scan(data []byte, pos int) (int, error) {
	for pos < len(data) {
		cmd, err := parse(data[pos:])
		if err != nil {
			return pos, err
		}
		pos += cmd.size
	}
	return pos, nil
}

// explain returns nil when a crash explains that the command at pos cannot be
// read, and otherwise what is wrong with it.
func explain(data []byte, pos int, reason error) error {
	if next := resync(data, pos+1); next >= 0 {
		return fmt.Errorf("%w, and it is not the end: a record follows at byte %d", reason, next)
	}
	if reason == io.ErrUnexpectedEOF {
		// A damaged length can reach beyond the end, too. Then what is there is a
		// whole record.
		if complete(data[pos:]) {
			return fmt.Errorf("a length is wrong")
		}
		return nil
	}
	if hasZeroSector(data, pos) {
		return nil
	}
	return reason
}

// resync returns the first position from pos on from where all the rest can be
// read, but for a command that is cut short at the end; or -1.
func resync(data []byte, pos int) int {
	for {
		i := bytes.IndexByte(data[min(pos, len(data)):], '*')
		if i < 0 {
			return -1
		}
		pos += i
		end, err := scan(data, pos)
		if end > pos && (err == nil || err == io.ErrUnexpectedEOF) {
			return pos
		}
		// Whatever begins on the way to end fails there, too.
		pos = end + 1
	}
}

// complete reports whether data, which ends too early for one of its lengths, is a
// whole command with a wrong length: the checksums tell.
func complete(data []byte) bool {
	p := parser{rest: data}
	p.literal("*")
	isSet := p.one("23") == '3'
	// Up to here and to the length of the name it has been read already.
	var rest []byte
	if lines := bytes.SplitN(data, []byte("\r\n"), 5); len(lines) == 5 {
		rest = lines[4]
	}
	if !bytes.HasSuffix(rest, []byte("\r\n")) {
		return false
	}
	rest = rest[:len(rest)-2]
	if !isSet {
		_, err := nameOf(borrow.String(rest))
		return err == nil
	}
	for i := 0; ; {
		next := bytes.Index(rest[i:], []byte("\r\n$"))
		if next < 0 {
			return false
		}
		i += next
		if name, err := nameOf(borrow.String(rest[:i])); err == nil {
			_, record, ok := bytes.Cut(rest[i+2:], []byte("\r\n"))
			_, err := Unseal(name, borrow.String(record))
			return ok && err == nil
		}
		i++
	}
}

// hasZeroSector reports whether the file has a sector of zeros (or what there is
// of one) from pos on.
func hasZeroSector(data []byte, pos int) bool {
	for pos < len(data) {
		end := min(pos-pos%sector+sector, len(data))
		if len(bytes.Trim(data[pos:end], "\x00")) == 0 {
			return true
		}
		pos = end
	}
	return false
}

// command is one command of the file; its strings are over the bytes of the file. payload is "" for a delete.
type command struct {
	name, payload string
	size          int
}

// parse reads the command that data begins with. It fails with
// io.ErrUnexpectedEOF when data is the beginning of a command and no more.
func parse(data []byte) (command, error) {
	p := parser{rest: data}
	p.literal("*")
	isSet := p.one("23") == '3'
	p.literal("\r\n$3\r\n")
	if isSet {
		p.literal("set\r\n")
	} else {
		p.literal("del\r\n")
	}
	key := p.item()
	var record string
	if isSet {
		record = p.item()
	}
	if p.err != nil {
		// A name that is wrong does not become right by what follows it.
		if _, err := nameOf(key); key != "" && err != nil {
			return command{}, err
		}
		return command{}, p.err
	}
	cmd := command{size: len(data) - len(p.rest)}
	var err error
	if isSet {
		cmd.name, cmd.payload, err = open(key, record)
	} else {
		cmd.name, err = nameOf(key)
	}
	return cmd, err
}

// parser takes pieces of a command; err is the first failure.
type parser struct {
	rest []byte
	err  error
}

func (p *parser) literal(s string) {
	n := min(len(s), len(p.rest))
	switch {
	case p.err != nil:
	case string(p.rest[:n]) != s[:n]:
		p.err = fmt.Errorf("%q is where %q should be", p.rest[:n], s)
	case n < len(s):
		p.err = io.ErrUnexpectedEOF
	default:
		p.rest = p.rest[n:]
	}
}

// one takes one of the bytes of set.
func (p *parser) one(set string) byte {
	switch {
	case p.err != nil:
		return 0
	case len(p.rest) == 0:
		p.err = io.ErrUnexpectedEOF
		return 0
	}
	b := p.rest[0]
	if bytes.IndexByte([]byte(set), b) < 0 {
		p.err = fmt.Errorf("%q is where one of %q should be", b, set)
		return 0
	}
	p.rest = p.rest[1:]
	return b
}

// item takes a length and as many bytes.
func (p *parser) item() string {
	p.literal("$")
	digits := 0
	for p.err == nil && digits < len(p.rest) && p.rest[digits] != '\r' {
		if c := p.rest[digits]; c < '0' || c > '9' || digits == 18 || (digits == 1 && p.rest[0] == '0') {
			p.err = fmt.Errorf("%q is not a length", p.rest[:digits+1])
		}
		digits++
	}
	if p.err != nil {
		return ""
	}
	length := string(p.rest[:digits])
	p.rest = p.rest[digits:]
	if digits == 0 && len(p.rest) > 0 {
		p.err = fmt.Errorf("a length is missing")
	}
	p.literal("\r\n")
	if p.err != nil {
		return ""
	}
	n, err := strconv.Atoi(length)
	if err != nil {
		p.err = err
		return ""
	}
	if n > len(p.rest) {
		p.err = io.ErrUnexpectedEOF
		return ""
	}
	s := borrow.String(p.rest[:n])
	p.rest = p.rest[n:]
	p.literal("\r\n")
	return s
}

// appendSet appends the command that buntdb writes for a set.
func appendSet(buf []byte, key, record string) []byte {
	return fmt.Appendf(buf, "*3\r\n$3\r\nset\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(record), record)
}

// setSize is the length of that command, deleteSize that of a delete.
func setSize(key, record string) int64 {
	return int64(len("*3\r\n$3\r\nset\r\n")) + itemSize(key) + itemSize(record)
}

func deleteSize(key string) int64 { return int64(len("*2\r\n$3\r\ndel\r\n")) + itemSize(key) }

func itemSize(s string) int64 {
	n := len("$\r\n\r\n") + 1 + len(s)
	for l := len(s); l >= 10; l /= 10 {
		n++
	}
	return int64(n)
}

// truncate cuts the file at end and returns how much it cut off.
func truncate(path string, end int64) (cut int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == end {
		return 0, err
	}
	if err := f.Truncate(end); err != nil {
		return 0, err
	}
	return info.Size() - end, f.Sync()
}
