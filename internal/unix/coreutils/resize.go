package coreutils

import (
	"io"
	"os"
	"strings"
)

// truncate gives files a size: an absolute one, or one that is relative to what they have or to another file's.
func truncate(k *Call) int {
	f := k.Flags("sr")
	_, keeps := f.Long["no-create"]
	text, isGiven := f.Value['s'], f.On['s']
	if long, ok := f.Long["size"]; ok {
		text, isGiven = long, true
	}
	reference, hasReference := f.Value['r'], f.On['r']
	if long, ok := f.Long["reference"]; ok {
		reference, hasReference = long, true
	}
	switch {
	case !isGiven && !hasReference:
		return k.Fail("you must specify either '--size' or '--reference'")
	case len(f.Rest) == 0:
		return k.Fail("missing file operand")
	}
	kind, number := byte(0), text
	if text != "" && strings.IndexByte("+-<>/%", text[0]) >= 0 {
		kind, number = text[0], text[1:]
	}
	if hasReference && isGiven && kind == 0 {
		return k.Fail("you must specify a relative '--size' with '--reference'")
	}
	var by amount
	if isGiven {
		var err error
		if by, err = product(number); err != nil {
			return k.Fail("Invalid number: '%s'", text)
		}
		if strings.IndexByte("/%", kind) >= 0 && kind != 0 && by.n == 0 {
			return k.Fail("division by zero")
		}
	}
	code := 0
	for _, name := range f.Rest {
		path := k.Path(name)
		info, err := k.Files.Stat(path, true)
		if err != nil && (keeps || f.On['c']) {
			continue
		}
		var has int64
		if err == nil {
			has = info.Size()
		}
		base := has
		if hasReference {
			of, err := k.Files.Stat(k.Path(reference), true)
			if err != nil {
				return k.Fail("cannot stat '%s': %s", reference, Reason(err))
			}
			base = of.Size()
		}
		if err := k.resize(path, has, resized(base, kind, by.n, isGiven)); err != nil {
			code = k.Fail("cannot open '%s' for writing: %s", name, Reason(err))
		}
	}
	return code
}

// resized is the size that a file has that had has bytes, by what truncate is told.
func resized(has int64, kind byte, by int64, isGiven bool) int64 {
	switch {
	case !isGiven:
		return has
	case kind == '+':
		return has + by
	case kind == '-':
		return max(has-by, 0)
	case kind == '<':
		return min(has, by)
	case kind == '>':
		return max(has, by)
	case kind == '/':
		return has / by * by
	case kind == '%':
		return (has + by - 1) / by * by
	}
	return by
}

// fallocate gives a file at least the size that an offset and a length have together.
func fallocate(k *Call) int {
	f := k.Flags("lo")
	length, offset := f.Value['l'], f.Value['o']
	for name, to := range map[string]*string{"length": &length, "offset": &offset} {
		if long, ok := f.Long[name]; ok {
			*to = long
		}
	}
	switch {
	case len(f.Rest) == 0:
		return k.Fail("no filename specified")
	case length == "":
		return k.Fail("no length argument specified")
	}
	size, err := product(length)
	if err != nil || size.n == 0 {
		return k.Fail("invalid length value specified")
	}
	from := amount{}
	if offset != "" {
		if from, err = product(offset); err != nil {
			return k.Fail("invalid offset value specified")
		}
	}
	path := k.Path(f.Rest[0])
	has := int64(0)
	if info, err := k.Files.Stat(path, true); err == nil {
		has = info.Size()
	}
	_, keeps := f.Long["keep-size"]
	want := max(has, from.n+size.n)
	if keeps || f.On['n'] {
		want = has
	}
	if err := k.resize(path, has, want); err != nil {
		return k.Fail("fallocate failed: %s", Reason(err))
	}
	return 0
}

// resize gives a file of has bytes, or none, another size: it is cut, or goes on with zeros.
func (k *Call) resize(path string, has, size int64) error {
	if size < has {
		data, err := k.start(path, size)
		if err != nil {
			return err
		}
		return k.Files.WriteFile(path, data, 0o644)
	}
	f, err := k.Files.Open(path, appendFlags, 0o644)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, zeros{}, size-has)
	if closing := f.Close(); err == nil {
		err = closing
	}
	return err
}

// start is what is in a file up to a size.
func (k *Call) start(path string, size int64) ([]byte, error) {
	f, err := k.Files.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(io.LimitReader(f, size))
}
