package coreutils

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostBlock is how much of a block is in memory at a time, in bytes.
const mostBlock = 1 << 20

// copying is a run of dd. https://pubs.opengroup.org/onlinepubs/9799919799/utilities/dd.html has the operands, and GNU's more of
// them.
type copying struct {
	*Call
	in, out    string // names; empty for a stream
	read       int64  // bytes of a block that is read
	write      int64  // and of one that is written
	together   bool   // a block is written as it was read, however short
	count      amount // as much is copied at most
	skip, seek amount // of what is read, and of what is written
	conversion []string
	inFlags    []string
	outFlags   []string
	status     string

	r        io.Reader
	w        io.Writer
	open     []io.Closer
	after    []byte // of the output file, what was there behind where it is written to
	written  int64  // bytes
	readIn   records
	writeOut records
	began    time.Time
	shown    time.Time // when status=progress has last shown something
}

// amount is a number of blocks or, as in 10B, of bytes.
type amount struct {
	n       int64
	isBytes bool
}

// in returns an amount in bytes.
func (a amount) in(block int64) int64 {
	switch {
	case a.isBytes:
		return a.n
	case a.n > math.MaxInt64/block:
		return math.MaxInt64
	}
	return a.n * block
}

// records are blocks as dd counts them.
type records struct{ whole, partial int64 }

func (r *records) add(n, block int64) {
	if n == block {
		r.whole++
	} else if n > 0 {
		r.partial++
	}
}

var (
	conversions = []string{"fsync", "fdatasync", "notrunc", "noerror", "sync", "excl", "nocreat", "sparse", "ucase", "lcase", "swab"}
	blockFlags  = []string{
		"append", "direct", "directory", "dsync", "sync", "nonblock", "noatime", "nocache", "noctty", "nofollow",
		"fullblock", "count_bytes", "skip_bytes", "seek_bytes",
	}
	statuses = []string{"none", "noxfer", "progress"}
)

func dd(k *Call) int {
	c := &copying{Call: k, read: 512, write: 512, count: amount{n: -1}}
	defer func() {
		for _, one := range c.open {
			_ = one.Close() // what was written is where it was written to
		}
	}()
	if err := c.operands(); errors.As(err, new(misuse)) {
		return k.Fail("%v\nTry 'dd --help' for more information.", err)
	} else if err != nil {
		return k.Fail("%v", err)
	}
	if err := c.begin(); err != nil {
		return k.Fail("%v", err)
	}
	code := 0
	err := c.copy()
	if !c.together { // blocks are put together anew
		c.writeOut = records{whole: c.written / c.write, partial: min(c.written%c.write, 1)}
	}
	if err != nil {
		if k.Err() != nil {
			return 1 // nobody is told any more
		}
		code = k.Fail("%v", err)
	}
	if c.status != "none" {
		c.tell()
	}
	return code
}

// misuse is an error of who does not know dd.
type misuse string

func (m misuse) Error() string { return string(m) }

// operands reads the arguments.
func (c *copying) operands() error {
	for _, arg := range c.Args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok {
			return misuse("unrecognized operand '" + arg + "'")
		}
		if err := c.operand(name, value); err != nil {
			return err
		}
	}
	c.count.isBytes = c.count.isBytes || slices.Contains(c.inFlags, "count_bytes")
	c.skip.isBytes = c.skip.isBytes || slices.Contains(c.inFlags, "skip_bytes")
	c.seek.isBytes = c.seek.isBytes || slices.Contains(c.outFlags, "seek_bytes")
	return nil
}

func (c *copying) operand(name, value string) error {
	list := func(to *[]string, known []string, what string) error {
		for word := range strings.SplitSeq(value, ",") {
			if !slices.Contains(known, word) {
				return misuse("invalid " + what + ": '" + word + "'")
			}
			*to = append(*to, word)
		}
		return nil
	}
	size := func(to ...*int64) error {
		n, err := product(value)
		if err == nil && n.n <= 0 {
			err = fmt.Errorf("invalid number: '%s'", value)
		}
		for _, one := range to {
			*one = n.n
		}
		return err
	}
	number := func(to *amount) (err error) {
		*to, err = product(value)
		return err
	}
	switch name {
	case "if":
		c.in = value
	case "of":
		c.out = value
	case "bs":
		c.together = true
		return size(&c.read, &c.write)
	case "ibs":
		if !c.together {
			return size(&c.read)
		}
	case "obs":
		if !c.together {
			return size(&c.write)
		}
	case "count":
		return number(&c.count)
	case "skip", "iseek":
		return number(&c.skip)
	case "seek", "oseek":
		return number(&c.seek)
	case "conv":
		return list(&c.conversion, conversions, "conversion")
	case "iflag":
		return list(&c.inFlags, blockFlags, "input flag")
	case "oflag":
		return list(&c.outFlags, blockFlags, "output flag")
	case "status":
		var one []string
		if err := list(&one, statuses, "status level"); err != nil {
			return err
		}
		c.status = value
	default:
		return misuse("unrecognized operand '" + name + "=" + value + "'")
	}
	return nil
}

// product reads a number: a product, such as 2x80x1k, of numbers with units.
func product(text string) (amount, error) {
	of := amount{n: 1}
	for factor := range strings.SplitSeq(text, "x") {
		bare := strings.TrimRight(factor, "cwbkKMGTPEiB")
		n, err := strconv.ParseInt(bare, 10, 64)
		unit, known := units[factor[len(bare):]]
		switch factor[len(bare):] {
		case "c":
			unit, known = 1, true
		case "w":
			unit, known = 2, true
		case "B":
			unit, known, of.isBytes = 1, true, true
		}
		if err != nil || n < 0 || !known || n > 0 && int64(unit) > math.MaxInt64/n || n > 0 && of.n > math.MaxInt64/(n*int64(unit)) {
			return amount{}, fmt.Errorf("invalid number: '%s'", text)
		}
		of.n *= n * int64(unit)
	}
	return of, nil
}

// begin opens what is copied, and goes to where it is read from and written to.
func (c *copying) begin() error {
	c.r, c.w = c.Stdin, c.Stdout
	if c.in != "" {
		f, err := c.Files.Open(c.Path(c.in), 0, 0)
		if err != nil {
			return fmt.Errorf("failed to open '%s': %s", c.in, Reason(err))
		}
		c.r, c.open = f, append(c.open, f)
	}
	if err := c.openOutput(); err != nil {
		return err
	}
	c.began = c.System.Clock().Now()
	c.shown = c.began
	skip := c.skip.in(c.read)
	n, err := io.CopyN(io.Discard, c.r, skip)
	switch {
	case err == io.EOF && n < skip:
		c.Fail("%s: cannot skip to specified offset", cmp.Or(c.in, "'standard input'"))
		return nil
	case err != nil:
		return fmt.Errorf("%s: cannot skip: %s", cmp.Or(c.in, "'standard input'"), Reason(err))
	}
	return nil
}

func (c *copying) converts(word string) bool { return slices.Contains(c.conversion, word) }

// openOutput opens the output file. What it keeps of what was there is written again, because files cannot be written in the
// middle.
func (c *copying) openOutput() error {
	seek := c.seek.in(c.write)
	if c.out == "" {
		_, err := io.CopyN(c.w, zeros{}, seek)
		return err
	}
	name := c.Path(c.out)
	flag := os.O_WRONLY | os.O_CREATE
	if c.converts("nocreat") {
		flag &^= os.O_CREATE
	}
	if c.converts("excl") {
		flag |= os.O_EXCL
	}
	info, err := c.Files.Stat(name, true)
	isFile := err == nil && info.Mode().IsRegular()
	var before []byte
	switch {
	case slices.Contains(c.outFlags, "append"):
		seek = 0
		if flag |= os.O_APPEND; !c.converts("notrunc") {
			flag |= os.O_TRUNC
		}
	case err == nil && !isFile:
		seek = 0 // of a device
	default:
		flag |= os.O_TRUNC
		if isFile && info.Size() > 0 && (seek > 0 || c.converts("notrunc")) {
			if before, err = c.start(name, math.MaxInt64); err != nil {
				return fmt.Errorf("failed to open '%s': %s", c.out, Reason(err))
			}
		}
	}
	f, err := c.Files.Open(name, flag, 0o644)
	if err != nil {
		return fmt.Errorf("failed to open '%s': %s", c.out, Reason(err))
	}
	c.w, c.open = f, append(c.open, f)
	if c.converts("notrunc") && seek < int64(len(before)) {
		c.after = before[seek:]
	}
	before = before[:min(int64(len(before)), seek)]
	if _, err := f.Write(before); err != nil {
		return fmt.Errorf("error writing '%s': %s", c.out, Reason(err))
	}
	if _, err := io.CopyN(f, zeros{}, seek-int64(len(before))); err != nil {
		return fmt.Errorf("failed to truncate to %d bytes in output file '%s': %s", seek, c.out, Reason(err))
	}
	return nil
}

// zeros are without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// copy copies, block after block.
func (c *copying) copy() error {
	buffer := make([]byte, min(c.read, mostBlock))
	total := int64(0)
	for done := int64(0); c.count.n < 0 || c.count.isBytes || done < c.count.n; done++ {
		size := c.read
		if c.count.n >= 0 && c.count.isBytes {
			size = min(size, c.count.n-total)
		}
		before := c.written
		n, err := c.block(buffer, size)
		total += n
		c.readIn.add(n, c.read)
		if c.together {
			c.writeOut.add(c.written-before, c.write)
		}
		c.progress()
		if err == io.EOF || n == 0 && err == nil {
			break
		} else if err != nil {
			return err
		}
	}
	if c.written < int64(len(c.after)) {
		if _, err := c.w.Write(c.after[c.written:]); err != nil {
			return fmt.Errorf("error writing '%s': %s", c.out, Reason(err))
		}
	}
	return nil
}

// block copies one block of size bytes, or what there is of it at the moment, and returns how many bytes it has read. The
// error is io.EOF at the end.
func (c *copying) block(buffer []byte, size int64) (read int64, err error) {
	for read < size && err == nil {
		part := buffer[:min(int64(len(buffer)), size-read)]
		var n int
		if slices.Contains(c.inFlags, "fullblock") {
			n, err = io.ReadFull(c.r, part)
		} else {
			n, err = c.r.Read(part)
		}
		read += int64(n)
		if err := c.put(part[:n]); err != nil {
			return read, err
		}
		if n < len(part) {
			break
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	if err != nil && err != io.EOF {
		return read, fmt.Errorf("error reading '%s': %s", cmp.Or(c.in, "standard input"), Reason(err))
	}
	if short := c.read - read; c.converts("sync") && read > 0 && short > 0 {
		clear(buffer)
		for ; short > 0; short -= int64(len(buffer)) {
			if err := c.put(buffer[:min(short, int64(len(buffer)))]); err != nil {
				return read, err
			}
		}
	}
	return read, err
}

// put writes some of a block, as it is to be converted.
func (c *copying) put(data []byte) error {
	switch {
	case c.converts("ucase"):
		data = bytes.ToUpper(data)
	case c.converts("lcase"):
		data = bytes.ToLower(data)
	}
	if c.converts("swab") {
		for i := 0; i+1 < len(data); i += 2 {
			data[i], data[i+1] = data[i+1], data[i]
		}
	}
	n, err := c.w.Write(data)
	c.written += int64(n)
	if err != nil {
		return fmt.Errorf("error writing '%s': %s", cmp.Or(c.out, "standard output"), Reason(err))
	}
	return nil
}

// progress shows how far it has come, each second, if somebody wants to know.
func (c *copying) progress() {
	if now := c.System.Clock().Now(); c.status == "progress" && now.Sub(c.shown) >= time.Second {
		c.shown = now
		fmt.Fprintf(c.Stderr, "\r%s", c.summary())
	}
}

// tell says what was copied.
func (c *copying) tell() {
	if c.shown.After(c.began) {
		fmt.Fprintln(c.Stderr)
	}
	fmt.Fprintf(c.Stderr, "%d+%d records in\n%d+%d records out\n", c.readIn.whole, c.readIn.partial, c.writeOut.whole, c.writeOut.partial)
	if c.status != "noxfer" {
		fmt.Fprintln(c.Stderr, c.summary())
	}
}

// summary is how much was copied, in how much time.
func (c *copying) summary() string {
	size := fmt.Sprintf("%d bytes", c.written)
	switch {
	case c.written == 1:
		size = "1 byte"
	case c.written >= 1024:
		size += fmt.Sprintf(" (%s, %s)", scaled(float64(c.written), 1000), scaled(float64(c.written), 1024))
	case c.written >= 1000:
		size += fmt.Sprintf(" (%s)", scaled(float64(c.written), 1000))
	}
	took := c.System.Clock().Since(c.began).Seconds()
	rate := "Infinity B"
	if took > 0 {
		rate = scaled(float64(c.written)/took, 1000)
	}
	return fmt.Sprintf("%s copied, %.6g s, %s/s", size, took, rate)
}

// scaled is a number of bytes with a unit, of which the next is base times as large.
func scaled(n, base float64) string {
	letters, i := "kMGTPE", -1
	for ; (n >= base || math.RoundToEven(n) >= base) && i+1 < len(letters); i++ {
		n /= base
	}
	if i < 0 {
		return fmt.Sprintf("%.0f B", n)
	}
	unit := letters[i:i+1] + "B"
	if base == 1024 {
		unit = strings.ToUpper(letters[i:i+1]) + "iB"
	}
	if math.RoundToEven(n*10) < 100 {
		return fmt.Sprintf("%.1f %s", n, unit)
	}
	return fmt.Sprintf("%.0f %s", n, unit)
}
