package coreutils

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// lsLong are the short names of long options.
var lsLong = map[string]byte{
	"all": 'a', "almost-all": 'A', "classify": 'F', "dereference": 'L', "directory": 'd', "human-readable": 'h', "inode": 'i', "no-group": 'G',
	"numeric-uid-gid": 'n', "recursive": 'R', "reverse": 'r', "size": 's',
}

// listing is one run of ls.
type listing struct {
	*Call
	on    map[byte]bool
	names names
	code  int
	begun bool // something has been printed
}

// listed is a file that ls prints.
type listed struct {
	name string
	path string // absolute
	fs.FileInfo
}

// ls prints one name a line, as GNU's does where it does not write to a terminal, and long lines as busybox's does.
func ls(k *Call) int {
	f := k.Flags("ITw")
	for name := range f.Long {
		if letter, known := lsLong[name]; known {
			f.On[letter] = true
		}
	}
	for _, letter := range strings.Trim(f.Value['#'], "0123456789") { // of -1r
		f.On[byte(letter)] = true
	}
	for letter := range f.On {
		if !strings.ContainsRune("1aACdFfGghHiIklLmnNopqrRsStTuUvwxX", rune(letter)) {
			if k.Userland == Busybox {
				return k.unknown(byte(letter))
			}
			return 1 + k.unknown(byte(letter))
		}
	}
	l := &listing{Call: k, on: f.On}
	l.on['l'] = l.on['l'] || l.on['n'] || l.on['g'] || l.on['o']
	if l.on['l'] && !l.on['n'] {
		l.names = k.names()
	}
	if len(f.Rest) == 0 {
		f.Rest = []string{"."}
	}
	var files, dirs []listed
	for _, name := range f.Rest {
		i, err := l.stat(name)
		switch {
		case err != nil:
			l.fail(2, "cannot access '%s': %s", "%s: %s", name, Reason(err))
		case i.IsDir() && !l.on['d']:
			dirs = append(dirs, listed{name, k.Path(name), i})
		default:
			files = append(files, listed{name, k.Path(name), i})
		}
	}
	l.show(files)
	l.sort(dirs)
	for _, dir := range dirs {
		l.dir(dir, len(f.Rest) > 1 || l.on['R'])
	}
	return l.code
}

func (l *listing) fail(code int, gnu, busybox string, args ...any) {
	l.refuse(gnu, busybox, args...)
	if l.Userland == Busybox {
		code = 1
	}
	l.code = max(l.code, code)
}

// stat looks at a file that was named. A link leads on where its own line is not what is asked for.
func (l *listing) stat(name string) (fs.FileInfo, error) {
	follow := l.on['L'] || l.on['H'] || !l.on['l'] && !l.on['d'] && !l.on['F'] || strings.HasSuffix(name, "/")
	i, err := l.Files.Stat(l.Path(name), follow)
	if err != nil && follow && errors.Is(err, fs.ErrNotExist) && !strings.HasSuffix(name, "/") {
		return l.Files.Stat(l.Path(name), false) // a link that leads nowhere
	}
	return i, err
}

// sort puts files into the order that is asked for.
func (l *listing) sort(files []listed) {
	if l.on['U'] || l.on['f'] {
		return
	}
	slices.SortStableFunc(files, func(a, b listed) int {
		order := 0
		switch {
		case l.on['t']:
			order = b.ModTime().Compare(a.ModTime())
		case l.on['S']:
			order = cmp.Compare(b.Size(), a.Size())
		case l.on['X']:
			order = strings.Compare(path.Ext(a.name), path.Ext(b.name))
		}
		if order == 0 {
			order = strings.Compare(a.name, b.name)
		}
		if l.on['r'] {
			order = -order
		}
		return order
	})
}

// dir prints what is in a directory, under its name if it is titled, and with -R what is below it.
func (l *listing) dir(d listed, titled bool) {
	if l.Err() != nil {
		return
	}
	if titled {
		if l.begun {
			fmt.Fprintln(l.Stdout)
		}
		fmt.Fprintf(l.Stdout, "%s:\n", d.name)
		l.begun = true
	}
	entries, err := l.Files.ReadDir(d.path)
	if err != nil {
		l.fail(1, "cannot open directory '%s': %s", "can't open '%s': %s", d.name, Reason(err))
		return
	}
	var files []listed
	if l.on['a'] || l.on['f'] {
		files = append(files, listed{".", d.path, d.FileInfo})
		if i, err := l.Files.Stat(path.Dir(d.path), true); err == nil {
			files = append(files, listed{"..", path.Dir(d.path), i})
		}
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") && !l.on['a'] && !l.on['A'] && !l.on['f'] {
			continue
		}
		p := path.Join(d.path, entry.Name())
		i, err := l.Files.Stat(p, l.on['L'])
		if err != nil && l.on['L'] {
			i, err = l.Files.Stat(p, false)
		}
		if err != nil {
			l.fail(1, "cannot access '%s': %s", "%s: %s", path.Join(d.name, entry.Name()), Reason(err))
			continue
		}
		files = append(files, listed{entry.Name(), p, i})
	}
	if l.on['l'] || l.on['s'] {
		total := int64(0)
		for _, file := range files {
			total += blocks(file)
		}
		fmt.Fprintf(l.Stdout, "total %s\n", l.kilobytes(total))
	}
	l.show(files)
	if !l.on['R'] {
		return
	}
	for _, file := range files {
		if file.IsDir() && file.name != "." && file.name != ".." {
			file.name = strings.TrimSuffix(d.name, "/") + "/" + file.name
			l.dir(file, true)
		}
	}
}

// show prints files, each in a line.
func (l *listing) show(files []listed) {
	l.sort(files)
	for _, file := range files {
		l.begun = true
		line := ""
		if l.on['i'] {
			line += strconv.FormatUint(uint64(inode(file.path)), 10) + " "
		}
		if l.on['s'] {
			line += l.kilobytes(blocks(file)) + " "
		}
		if l.on['l'] {
			line += l.columns(file)
		}
		fmt.Fprintln(l.Stdout, line+file.name+l.mark(file))
	}
}

// columns are what a long line has before the name.
func (l *listing) columns(file listed) string {
	user, group := l.names.of(file.FileInfo)
	if l.on['n'] {
		uid, gid := Owner(file.FileInfo)
		user, group = strconv.FormatInt(uid, 10), strconv.FormatInt(gid, 10)
	}
	owners := ""
	if !l.on['g'] {
		owners += fmt.Sprintf("%-8s ", user)
	}
	if !l.on['o'] && !l.on['G'] {
		owners += fmt.Sprintf("%-8s ", group)
	}
	size := strconv.FormatInt(file.Size(), 10)
	if l.on['h'] {
		size = Human(file.Size())
	}
	layout, changed := "Jan _2 15:04", file.ModTime().UTC()
	if age := l.now().Sub(changed); age > halfYear || age < -time.Hour {
		layout = "Jan _2  2006"
	}
	return fmt.Sprintf("%s    1 %s%9s %s ", modeText(file.Mode()), owners, size, changed.Format(layout))
}

// halfYear is the age from which on ls shows the year of a file.
const halfYear = 365 * 24 * time.Hour / 2

func (k *Call) now() time.Time { return k.System.Clock().Now() }

// mark is what a line has behind the name: where a link leads, and with -F and -p what kind of file it is.
func (l *listing) mark(file listed) string {
	mode := file.Mode()
	switch to := target(file.FileInfo); {
	case to != "" && l.on['l']:
		return " -> " + to
	case mode.IsDir() && (l.on['F'] || l.on['p']):
		return "/"
	case !l.on['F']:
	case mode&fs.ModeSymlink != 0:
		return "@"
	case mode&fs.ModeNamedPipe != 0:
		return "|"
	case mode&fs.ModeSocket != 0:
		return "="
	case mode.IsRegular() && mode&0o111 != 0:
		return "*"
	}
	return ""
}

// blocks is how many kilobytes a file takes on a disk with blocks of four of them.
func blocks(i fs.FileInfo) int64 {
	switch {
	case i.IsDir():
		return 4
	case !i.Mode().IsRegular():
		return 0
	}
	return (i.Size() + 4095) / 4096 * 4
}

func (l *listing) kilobytes(n int64) string {
	if l.on['h'] {
		return Human(n << 10)
	}
	return strconv.FormatInt(n, 10)
}

// inode is a number that a file keeps as long as it has its name: the files here have none.
func inode(p string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(p))
	return h.Sum32()
}

// Human is a number of bytes as -h of ls, df and du shows it: 512, 1.5K, 12M, rounded up.
func Human(n int64) string {
	value, unit := float64(n), -1
	for value >= 1024 && unit < len("KMGTPE")-1 {
		value, unit = value/1024, unit+1
	}
	if unit >= 0 && math.Ceil(value) >= 1024 && unit < len("KMGTPE")-1 {
		value, unit = value/1024, unit+1
	}
	switch {
	case unit < 0:
		return strconv.FormatInt(n, 10)
	case math.Ceil(value*10) < 100:
		return fmt.Sprintf("%.1f%c", math.Ceil(value*10)/10, "KMGTPE"[unit])
	}
	return fmt.Sprintf("%.0f%c", math.Ceil(value), "KMGTPE"[unit])
}
