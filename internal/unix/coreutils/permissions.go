package coreutils

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Owner returns the numbers of a file's user and group. They are 0 where files have no owners.
func Owner(i fs.FileInfo) (uid, gid int64) {
	if of, ok := i.(interface{ Owner() (uid, gid int64) }); ok {
		return of.Owner()
	}
	return 0, 0
}

// The bits of a mode, as Unix counts them.
const (
	setuid = 0o4000
	setgid = 0o2000
	sticky = 0o1000
	umask  = 0o022 // what a mode without who does not touch
)

// unixMode returns a mode's twelve bits for permissions.
func unixMode(m fs.FileMode) uint32 {
	bits := uint32(m.Perm())
	for bit, is := range map[uint32]fs.FileMode{setuid: fs.ModeSetuid, setgid: fs.ModeSetgid, sticky: fs.ModeSticky} {
		if m&is != 0 {
			bits |= bit
		}
	}
	return bits
}

// fileMode is the reverse of unixMode.
func fileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits) & fs.ModePerm
	for bit, is := range map[uint32]fs.FileMode{setuid: fs.ModeSetuid, setgid: fs.ModeSetgid, sticky: fs.ModeSticky} {
		if bits&bit != 0 {
			m |= is
		}
	}
	return m
}

// modeText is a mode as ls shows it: drwxr-sr-t.
func modeText(m fs.FileMode) string {
	text := []byte(m.Perm().String())
	switch {
	case m.IsDir():
		text[0] = 'd'
	case m&fs.ModeSymlink != 0:
		text[0] = 'l'
	case m&fs.ModeDevice != 0:
		text[0] = 'c'
	}
	for _, special := range []struct {
		bit         fs.FileMode
		at          int
		with, alone byte
	}{{fs.ModeSetuid, 3, 's', 'S'}, {fs.ModeSetgid, 6, 's', 'S'}, {fs.ModeSticky, 9, 't', 'T'}} {
		switch {
		case m&special.bit == 0:
		case text[special.at] == 'x':
			text[special.at] = special.with
		default:
			text[special.at] = special.alone
		}
	}
	return string(text)
}

// names are those of users and groups by number.
type names struct{ users, groups map[int64]string }

// names reads /etc/passwd and /etc/group. What is not there has no name but root.
func (k *Call) names() names {
	return names{k.namesIn("/etc/passwd"), k.namesIn("/etc/group")}
}

func (k *Call) namesIn(file string) map[int64]string {
	found := map[int64]string{0: "root"}
	data, err := k.Files.ReadFile(file)
	if err != nil {
		return found
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 3 {
			continue
		}
		if id, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			found[id] = fields[0]
		}
	}
	return found
}

// of returns the names of a file's user and group, or their numbers.
func (n names) of(i fs.FileInfo) (user, group string) {
	uid, gid := Owner(i)
	return nameOr(n.users, uid), nameOr(n.groups, gid)
}

func nameOr(names map[int64]string, id int64) string {
	if name, ok := names[id]; ok {
		return name
	}
	return strconv.FormatInt(id, 10)
}

// UserName returns what /etc/passwd calls a user.
func (k *Call) UserName(uid int64) (string, bool) {
	name, ok := k.namesIn("/etc/passwd")[uid]
	return name, ok
}

// GroupName returns what /etc/group calls a group.
func (k *Call) GroupName(gid int64) (string, bool) {
	name, ok := k.namesIn("/etc/group")[gid]
	return name, ok
}

// altered takes -R and the first argument, which says what is to change, and returns
// how each of the other files is changed by f.
func (k *Call) altered(f func(what, p string, i fs.FileInfo) error) int {
	recursive := false
	args := k.Args
	for ; len(args) > 0 && isAlterFlag(args[0]); args = args[1:] {
		recursive = recursive || args[0] == "--recursive" || !strings.HasPrefix(args[0], "--") && strings.Contains(args[0], "R")
	}
	switch len(args) {
	case 0:
		return k.misuse("missing operand")
	case 1:
		return k.misuse("missing operand after ‘%s’", args[0])
	}
	code := 0
	for _, name := range args[1:] {
		p := k.Path(name)
		i, err := k.Files.Stat(p, true)
		if err != nil {
			err = wording{"cannot access '%s': %s", "%s: %s", []any{name, Reason(err)}}
		} else {
			if recursive && i.IsDir() {
				err = k.walk(p, func(p string, i fs.FileInfo) error {
					if i.Mode()&fs.ModeSymlink != 0 {
						return nil
					}
					return f(args[0], p, i)
				})
			} else {
				err = f(args[0], p, i)
			}
		}
		if err != nil {
			code = k.report(err, func() int { return k.alteration(name, err) })
		}
	}
	return code
}

// alteration says why a file is not altered.
func (k *Call) alteration(name string, err error) int {
	switch k.Name {
	case "chown":
		return k.refuse("changing ownership of '%s': %s", "%s: %s", name, Reason(err))
	case "chgrp":
		return k.refuse("changing group of '%s': %s", "%s: %s", name, Reason(err))
	}
	return k.refuse("changing permissions of '%s': %s", "%s: %s", name, Reason(err))
}

// isAlterFlag tells the options of chmod, chown and chgrp from a mode such as -x.
func isAlterFlag(arg string) bool {
	switch arg {
	case "-R", "-v", "-f", "-c", "-h", "-Rv", "-vR", "-Rf", "-fR", "--recursive", "--verbose", "--silent", "--quiet", "--changes", "--no-dereference", "--":
		return true
	}
	return false
}

func chmod(k *Call) int {
	return k.altered(func(mode, p string, i fs.FileInfo) error {
		bits, err := parseMode(mode, unixMode(i.Mode()), i.IsDir())
		if err != nil {
			return wording{"invalid mode: ‘%s’\nTry 'chmod --help' for more information.", "invalid mode '%s'", []any{mode}}
		}
		return k.Files.Chmod(p, fileMode(bits))
	})
}

// ParseMode returns the bits of a mode as chmod takes it, in octal or such as u=rwx,go-w, of a file that has bits now. It
// fails for others.
func ParseMode(mode string, bits uint32) (uint32, error) { return parseMode(mode, bits, false) }

// parseMode applies a mode of chmod's, in octal digits or letters, to the bits that a
// file has. It fails for what is neither.
func parseMode(mode string, bits uint32, isDir bool) (uint32, error) {
	wrong := fmt.Errorf("invalid mode '%s'", mode)
	if n, err := strconv.ParseUint(mode, 8, 32); err == nil {
		if n > 0o7777 {
			return 0, wrong
		}
		return uint32(n), nil
	}
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+-=")
		if at < 0 {
			return 0, wrong
		}
		who, ok := whoOf(clause[:at])
		if !ok {
			return 0, wrong
		}
		for clause = clause[at:]; clause != ""; {
			op := clause[0]
			clause = clause[1:]
			end := strings.IndexAny(clause, "+-=")
			if end < 0 {
				end = len(clause)
			}
			what, ok := bitsOf(clause[:end], bits, isDir)
			if !ok {
				return 0, wrong
			}
			clause = clause[end:]
			mask := who
			if at == 0 {
				mask = who &^ umask
			}
			switch op {
			case '+':
				bits |= what & mask
			case '-':
				bits &^= what & mask
			case '=':
				bits = bits&^who | what&mask
			}
		}
	}
	return bits, nil
}

// whoOf returns the bits that letters of ugoa stand for; none are all.
func whoOf(letters string) (bits uint32, ok bool) {
	if letters == "" {
		return 0o7777, true
	}
	for _, letter := range letters {
		switch letter {
		case 'u':
			bits |= 0o700 | setuid
		case 'g':
			bits |= 0o070 | setgid
		case 'o':
			bits |= 0o007 | sticky
		case 'a':
			bits |= 0o7777
		default:
			return 0, false
		}
	}
	return bits, true
}

// bitsOf returns what letters of rwxXst stand for, for everybody, or the bits that one
// of ugo has.
func bitsOf(letters string, have uint32, isDir bool) (bits uint32, ok bool) {
	switch letters {
	case "u":
		return have >> 6 & 7 * 0o111, true
	case "g":
		return have >> 3 & 7 * 0o111, true
	case "o":
		return have & 7 * 0o111, true
	}
	for _, letter := range letters {
		switch letter {
		case 'r':
			bits |= 0o444
		case 'w':
			bits |= 0o222
		case 'x':
			bits |= 0o111
		case 'X':
			if isDir || have&0o111 != 0 {
				bits |= 0o111
			}
		case 's':
			bits |= setuid | setgid
		case 't':
			bits |= sticky
		default:
			return 0, false
		}
	}
	return bits, true
}

func chown(k *Call) int {
	return k.altered(func(owner, p string, _ fs.FileInfo) error {
		user, group, both := strings.Cut(owner, ":")
		if !both {
			user, group, _ = strings.Cut(owner, ".")
		}
		uid, err := k.id(user, "/etc/passwd", "user")
		if err != nil {
			return err
		}
		gid, err := k.id(group, "/etc/group", "group")
		if err != nil {
			return err
		}
		return k.Files.Chown(p, uid, gid)
	})
}

func chgrp(k *Call) int {
	return k.altered(func(group, p string, _ fs.FileInfo) error {
		gid, err := k.id(group, "/etc/group", "group")
		if err != nil {
			return err
		}
		return k.Files.Chown(p, -1, gid)
	})
}

// id returns the number of a user or a group by its name or number; -1 for none.
func (k *Call) id(name, file, kind string) (int64, error) {
	if name == "" {
		return -1, nil
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && n >= 0 {
		return n, nil
	}
	for id, known := range k.namesIn(file) {
		if known == name {
			return id, nil
		}
	}
	return 0, wording{"invalid " + kind + ": ‘%s’", "unknown " + kind + " %s", []any{name}}
}

func stat(k *Call) int {
	f := k.Flags("cf")
	format, formatted := f.Value['c']
	if text, ok := f.Long["format"]; ok {
		format, formatted = text, true
	}
	if len(f.Rest) == 0 {
		return k.misuse("missing operand")
	}
	code, names := 0, k.names()
	for _, name := range f.Rest {
		i, err := k.Files.Stat(k.Path(name), f.On['L'])
		if err != nil {
			code = k.refuse("cannot statx '%s': %s", "can't stat '%s': %s", name, Reason(err))
			continue
		}
		if formatted {
			fmt.Fprintln(k.Stdout, names.format(format, name, i))
			continue
		}
		shown := name
		if to := target(i); to != "" {
			shown += " -> " + to
		}
		uid, gid := Owner(i)
		user, group := names.of(i)
		fmt.Fprintf(k.Stdout, "  File: %s\n  Size: %-10d\t%s\nAccess: (%04o/%s)  Uid: (%5d/%8s)   Gid: (%5d/%8s)\nModify: %s\n",
			shown, i.Size(), kindOf(i), unixMode(i.Mode()), modeText(i.Mode()), uid, user, gid, group, i.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700"))
	}
	return code
}

// kindOf is what stat calls a file.
func kindOf(i fs.FileInfo) string {
	switch m := i.Mode(); {
	case m.IsDir():
		return "directory"
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeDevice != 0:
		return "character special file"
	case i.Size() == 0:
		return "regular empty file"
	}
	return "regular file"
}

// format fills in stat's -c.
func (n names) format(format, name string, i fs.FileInfo) string {
	uid, gid := Owner(i)
	user, group := n.of(i)
	return strings.NewReplacer("%%", "%", "%a", strconv.FormatUint(uint64(unixMode(i.Mode())), 8), "%A", modeText(i.Mode()), "%u", strconv.FormatInt(uid, 10),
		"%g", strconv.FormatInt(gid, 10), "%U", user, "%G", group, "%n", name, "%N", "'"+name+"'", "%s", strconv.FormatInt(i.Size(), 10), "%F", kindOf(i),
		"%Y", strconv.FormatInt(i.ModTime().Unix(), 10), "%y", i.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 -0700"), "%h", "1").Replace(format)
}
