package coreutils

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
)

func base64Command(k *Call) int {
	f := k.Flags("w")
	_, decodes := f.Long["decode"]
	decodes = decodes || f.On['d'] || f.On['D']
	width := 76
	text, isGiven := f.Value['w']
	if value, ok := f.Long["wrap"]; ok {
		text, isGiven = value, true
	}
	if isGiven {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return k.Fail("invalid wrap size: '%s'", text)
		}
		width = n
	}
	wrong := false
	code := k.each(f.Rest, func(_ string, r io.Reader) error {
		if decodes {
			data, err := ReadAll(r)
			if err != nil {
				return err
			}
			decoded, err := base64.StdEncoding.DecodeString(strings.NewReplacer("\n", "", "\r", "").Replace(string(data)))
			if _, failed := k.Stdout.Write(decoded); failed == nil && err != nil {
				wrong = true
			}
			return nil
		}
		out := &wrapped{out: bufio.NewWriter(k.Stdout), width: width}
		encoder := base64.NewEncoder(base64.StdEncoding, out)
		if _, err := io.Copy(encoder, r); err != nil {
			return err
		}
		if err := encoder.Close(); err != nil {
			return err
		}
		return out.end()
	})
	if wrong {
		return k.Fail("invalid input")
	}
	return code
}

// wrapped breaks what is written to it into lines, unless width is 0.
type wrapped struct {
	out       *bufio.Writer
	width, at int
}

func (w *wrapped) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := len(rest)
		if w.width > 0 {
			if w.at == w.width {
				_ = w.out.WriteByte('\n') // the error is that of the next write
				w.at = 0
			}
			n = min(n, w.width-w.at)
		}
		if _, err := w.out.Write(rest[:n]); err != nil {
			return 0, err
		}
		w.at += n
		rest = rest[n:]
	}
	return len(b), nil
}

func (w *wrapped) end() error {
	if w.width > 0 && w.at > 0 {
		_ = w.out.WriteByte('\n') // the error is that of Flush
	}
	return w.out.Flush()
}

// sum prints the digest of each file, or compares with those in files that it
// once printed.
func sum(k *Call, algorithm func() hash.Hash) int {
	f := k.Flags("")
	if _, long := f.Long["check"]; long || f.On['c'] {
		return checkSums(k, f, algorithm)
	}
	return k.each(f.Rest, func(name string, r io.Reader) error {
		h := algorithm()
		if _, err := io.Copy(h, r); err != nil {
			return err
		}
		_, err := fmt.Fprintf(k.Stdout, "%x  %s\n", h.Sum(nil), name)
		return err
	})
}

// cksum prints the checksum of each file that POSIX defines: a CRC of its bytes and of their number.
func cksum(k *Call) int {
	f := k.Flags("")
	return k.each(f.Rest, func(name string, r io.Reader) error {
		var crc uint32
		add := func(b byte) {
			crc ^= uint32(b) << 24
			for range 8 {
				if crc&(1<<31) != 0 {
					crc = crc<<1 ^ 0x04c11db7
				} else {
					crc <<= 1
				}
			}
		}
		size := 0
		in := bufio.NewReader(r)
		for {
			b, err := in.ReadByte()
			if err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			add(b)
			size++
		}
		for n := size; n > 0; n >>= 8 {
			add(byte(n))
		}
		_, err := fmt.Fprintln(k.Stdout, strings.TrimSuffix(fmt.Sprintf("%d %d %s", ^crc, size, name), " -"))
		return err
	})
}

func checkSums(k *Call, f Flags, algorithm func() hash.Hash) int {
	_, quiet := f.Long["quiet"]
	_, silent := f.Long["status"]
	say := func(format string, args ...any) {
		if !silent {
			fmt.Fprintf(k.Stdout, format+"\n", args...)
		}
	}
	code := 0
	warn := func(n int, one, many string) {
		if n > 0 && !silent {
			_ = k.Fail("WARNING: %d %s", n, map[bool]string{true: one, false: many}[n == 1])
		}
	}
	read := k.each(f.Rest, func(list string, r io.Reader) error {
		text, err := ReadAll(r)
		if err != nil {
			return err
		}
		known, misformatted, unreadable, different := 0, 0, 0, 0
		for line := range strings.Lines(string(text)) {
			digest, name, found := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
			want, err := hex.DecodeString(digest)
			if !found || len(name) < 2 || err != nil || len(want) != algorithm().Size() {
				misformatted++
				continue
			}
			known++
			name = name[1:] // the mode: a blank for text or an asterisk
			h := algorithm()
			if failed := k.each([]string{name}, func(_ string, r io.Reader) error {
				_, err := io.Copy(h, r)
				return err
			}); failed != 0 {
				unreadable++
				say("%s: FAILED open or read", name)
				continue
			}
			if !bytes.Equal(h.Sum(nil), want) {
				different++
				say("%s: FAILED", name)
			} else if !quiet {
				say("%s: OK", name)
			}
		}
		if known == 0 {
			code = k.Fail("%s: no properly formatted checksum lines found", list)
			return nil
		}
		warn(misformatted, "line is improperly formatted", "lines are improperly formatted")
		warn(unreadable, "listed file could not be read", "listed files could not be read")
		warn(different, "computed checksum did NOT match", "computed checksums did NOT match")
		if unreadable+different > 0 {
			code = 1
		}
		return nil
	})
	return max(code, read)
}
