package coreutils

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// The disk that df tells of, in kilobytes.
const (
	diskSize = 98831908
	diskUsed = 12353988
)

// df shows one file system, whatever file is asked for.
func df(k *Call) int {
	f := k.Flags("tBx")
	for _, name := range f.Rest {
		if _, err := k.Files.Stat(k.Path(name), true); err != nil {
			return k.Fail("%s: %s", name, Reason(err))
		}
	}
	_, long := f.Long["human-readable"]
	size, available, show := "1K-blocks", "Available", func(kilobytes int64) string { return strconv.FormatInt(kilobytes, 10) }
	switch {
	case f.On['h'] || f.On['H'] || long:
		size, available, show = "Size", "Avail", func(kilobytes int64) string { return Human(kilobytes << 10) }
	case f.On['m'] || f.Value['B'] == "M":
		size, show = "1M-blocks", func(kilobytes int64) string { return strconv.FormatInt((kilobytes+1023)/1024, 10) }
	case f.On['P']:
		size = "1024-blocks"
	}
	used, percent := "Used", fmt.Sprintf("%d%%", (diskUsed*100+diskSize-1)/diskSize)
	row := []string{show(diskSize), show(diskUsed), show(diskSize - diskUsed), percent}
	titles := []string{size, used, available, "Use%"}
	if f.On['i'] {
		row = []string{"6291456", "212341", "6079115", "4%"}
		titles = []string{"Inodes", "IUsed", "IFree", "IUse%"}
	}
	first, second := fmt.Sprintf("%-14s", "Filesystem"), fmt.Sprintf("%-14s", "overlay")
	if f.On['T'] {
		first, second = first+" Type   ", second+" overlay"
	}
	for at, title := range titles {
		width := max(len(title), len(row[at]), 5)
		if at == len(titles)-1 {
			width = len(title)
		}
		first += fmt.Sprintf(" %*s", width, title)
		second += fmt.Sprintf(" %*s", width, row[at])
	}
	fmt.Fprintf(k.Stdout, "%s Mounted on\n%s /\n", first, second)
	return 0
}

// du adds up what is in folders, each folder in a line.
func du(k *Call) int {
	f := k.Flags("d")
	deepest := -1 // no limit
	text, long := f.Long["max-depth"]
	if f.On['d'] {
		text, long = f.Value['d'], true
	}
	if long {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return k.Fail("invalid maximum depth '%s'", text)
		}
		deepest = n
	}
	_, summary := f.Long["summarize"]
	if f.On['s'] || summary {
		deepest = 0
	}
	_, human := f.Long["human-readable"]
	u := &usage{Call: k, human: human || f.On['h'], bytes: f.On['b'], mega: f.On['m'], files: f.On['a'], deepest: deepest}
	if len(f.Rest) == 0 {
		f.Rest = []string{"."}
	}
	code, total := 0, int64(0)
	for _, name := range f.Rest {
		n, err := u.of(k.Path(name), name, 0)
		if err != nil {
			code = k.refuse("cannot access '%s': %s", "%s: %s", name, Reason(err))
		}
		total += n
	}
	if f.On['c'] {
		u.show(total, "total")
	}
	return code
}

// usage is one run of du.
type usage struct {
	*Call
	human, bytes, mega, files bool
	deepest                   int // level whose folders are shown; below zero is all
}

// of returns what a file takes, with what is below it, and shows it.
func (u *usage) of(p, name string, depth int) (int64, error) {
	i, err := u.Files.Stat(p, false)
	if err != nil {
		return 0, err
	}
	total := blocks(i) << 10
	if u.bytes {
		total = i.Size()
	}
	if i.IsDir() {
		entries, failed := u.Files.ReadDir(p)
		err = failed
		for _, e := range entries {
			if u.Err() != nil {
				return total, u.Err()
			}
			n, failed := u.of(path.Join(p, e.Name()), strings.TrimSuffix(name, "/")+"/"+e.Name(), depth+1)
			if failed != nil && !errors.Is(failed, fs.ErrNotExist) { // it may go meanwhile
				err = failed
			}
			total += n
		}
	}
	if (i.IsDir() || u.files || depth == 0) && (u.deepest < 0 || depth <= u.deepest) {
		u.show(total, name)
	}
	return total, err
}

func (u *usage) show(bytes int64, name string) {
	size := strconv.FormatInt((bytes+1023)/1024, 10)
	switch {
	case u.human && bytes == 0:
		size = "0"
	case u.human:
		size = Human(bytes)
	case u.bytes:
		size = strconv.FormatInt(bytes, 10)
	case u.mega:
		size = strconv.FormatInt((bytes+1<<20-1)>>20, 10)
	}
	fmt.Fprintf(u.Stdout, "%s\t%s\n", size, name)
}
