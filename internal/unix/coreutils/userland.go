package coreutils

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Userland is whose programs a machine has. They speak differently, and do the same here.
type Userland int

const (
	GNU Userland = iota
	Busybox
)

// busyboxVersion is the first line of busybox's help.
const busyboxVersion = "BusyBox v1.36.1 (2024-09-26 21:31:42 UTC) multi-call binary.\n"

// refuse says in the words of its userland why a command fails, and returns 1. GNU's ‘’ are plain quotes where the locale has no
// others.
func (k *Call) refuse(gnu, busybox string, args ...any) int {
	return k.Fail(k.words(gnu, busybox), args...)
}

func (k *Call) words(gnu, busybox string) string {
	switch {
	case k.Userland == Busybox:
		return busybox
	case !k.isUTF8():
		return strings.NewReplacer("‘", "'", "’", "'").Replace(gnu)
	}
	return gnu
}

// isUTF8 reports whether the locale's characters are those of UTF-8.
func (k *Call) isUTF8() bool {
	if k.Env == nil {
		return false
	}
	get := func(name string) string { return k.Env.Get(name).String() }
	locale := strings.ToUpper(cmp.Or(get("LC_ALL"), get("LC_CTYPE"), get("LANG")))
	return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
}

// misuse says what is wrong with the arguments, and where there is help. It returns 1.
func (k *Call) misuse(gnu string, args ...any) int {
	if k.Userland == Busybox {
		k.help(k.Name)
		return 1
	}
	return k.refuse(gnu+"\nTry '"+k.Name+" --help' for more information.", "", args...)
}

// unknown says that there is no option of a letter.
func (k *Call) unknown(letter byte) int {
	if k.Userland == Busybox {
		k.Fail("unrecognized option: %c", letter) // as in an image with musl
	}
	return k.misuse("invalid option -- '%c'", letter)
}

// unreadable says that a file cannot be opened or read, and returns 1.
func (k *Call) unreadable(name string, err error) int {
	gnu, busybox := "%s: %s", "%s: %s"
	isFolder := errors.Is(err, syscall.EISDIR)
	switch k.Name {
	case "cat", "tail", "uniq", "less", "more", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum":
		busybox = "can't open '%s': %s"
		if isFolder {
			busybox = "read error: %[2]s"
		}
	}
	switch k.Name {
	case "head", "tail":
		gnu = "cannot open '%s' for reading: %s"
		if isFolder {
			gnu = "error reading '%s': %s"
		}
	case "sort":
		gnu = "cannot read: %s: %s"
		if isFolder {
			gnu = "read failed: %s: %s"
		}
	case "tac", "split":
		gnu = "failed to open '%s' for reading: %s"
	case "rev":
		gnu = "cannot open %s: %s"
	}
	return k.refuse(gnu, busybox, name, Reason(err))
}

// wording is an error that userlands word differently. The arguments of both are the same.
type wording struct {
	gnu, busybox string
	args         []any
}

func (w wording) Error() string { return fmt.Sprintf(w.gnu, w.args...) }

// report says why something fails, and returns 1. Errors that are no wording are otherwise's, or have their own words.
func (k *Call) report(err error, otherwise func() int) int {
	var w wording
	switch {
	case errors.As(err, &w):
		return k.refuse(w.gnu, w.busybox, w.args...)
	case otherwise == nil:
		return k.Fail("%v", err)
	}
	return otherwise()
}

// usages are what stands behind Usage and the name, of GNU's programs and of busybox's. Further lines are other ways to call GNU's.
var usages = map[string]struct{ gnu, busybox string }{
	"ls":       {"[OPTION]... [FILE]...", "[-1AaCxdLHRFplinshrSXvctu] [-w WIDTH] [FILE]..."},
	"cat":      {"[OPTION]... [FILE]...", "[-nbvteA] [FILE]..."},
	"head":     {"[OPTION]... [FILE]...", "[OPTIONS] [FILE]..."},
	"tail":     {"[OPTION]... [FILE]...", "[OPTIONS] [FILE]..."},
	"wc":       {"[OPTION]... [FILE]...\n[OPTION]... --files0-from=F", "[-clwL] [FILE]..."},
	"sort":     {"[OPTION]... [FILE]...\n[OPTION]... --files0-from=F", "[-nrughMcszbdfiokt] [-o FILE] [-k START[.OFS][OPTS][,END[.OFS][OPTS]] [-t CHAR] [FILE]..."},
	"rm":       {"[OPTION]... [FILE]...", "[-irf] FILE..."},
	"rmdir":    {"[OPTION]... DIRECTORY...", "[-p] DIRECTORY..."},
	"mkdir":    {"[OPTION]... DIRECTORY...", "[-m MODE] [-p] DIRECTORY..."},
	"cp":       {"[OPTION]... [-T] SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY SOURCE...", "[-arPLHpfinlsTu] SOURCE DEST\nor: cp [-arPLHpfinlsu] SOURCE... { -t DIRECTORY | DIRECTORY }"},
	"mv":       {"[OPTION]... [-T] SOURCE DEST\n[OPTION]... SOURCE... DIRECTORY\n[OPTION]... -t DIRECTORY SOURCE...", "[-finT] SOURCE DEST\nor: mv [-fin] SOURCE... { -t DIRECTORY | DIRECTORY }"},
	"touch":    {"[OPTION]... FILE...", "[-cham] [-d DATE] [-t DATE] [-r FILE] FILE..."},
	"ln":       {"[OPTION]... [-T] TARGET LINK_NAME\n[OPTION]... TARGET\n[OPTION]... TARGET... DIRECTORY\n[OPTION]... -t DIRECTORY TARGET...", "[-sfnbtv] [-S SUF] TARGET... LINK|DIR"},
	"chmod":    {"[OPTION]... MODE[,MODE]... FILE...\n[OPTION]... OCTAL-MODE FILE...\n[OPTION]... --reference=RFILE FILE...", "[-Rcvf] MODE[,MODE]... FILE..."},
	"chown":    {"[OPTION]... [OWNER][:[GROUP]] FILE...\n[OPTION]... --reference=RFILE FILE...", "[-RhLHPcvf]... USER[:[GRP]] FILE..."},
	"chgrp":    {"[OPTION]... GROUP FILE...\n[OPTION]... --reference=RFILE FILE...", "[-RhLHPcvf]... GROUP FILE..."},
	"sleep":    {"NUMBER[SUFFIX]...\nOPTION", "[N]..."},
	"stat":     {"[OPTION]... FILE...", "[-ltf] [-c FMT] FILE..."},
	"basename": {"NAME [SUFFIX]\nOPTION... NAME...", "FILE [SUFFIX] | -a FILE... | -s SUFFIX FILE..."},
	"dirname":  {"[OPTION] NAME...", "FILENAME"},
	"readlink": {"[OPTION]... FILE...", "[-fnv] FILE"},
	"realpath": {"[OPTION]... FILE...", "FILE..."},
	"seq":      {"[OPTION]... LAST\n[OPTION]... FIRST LAST\n[OPTION]... FIRST INCREMENT LAST", "[-w] [-s SEP] [FIRST [INC]] LAST"},
}

// help prints how a program is called. What its options do is left out.
func (k *Call) help(name string) {
	usage, known := usages[name]
	switch {
	case k.Userland == Busybox && known:
		fmt.Fprintf(k.Stderr, "%s\nUsage: %s %s\n", busyboxVersion, name, usage.busybox)
	case k.Userland == Busybox:
		fmt.Fprintf(k.Stderr, "%s\nUsage: %s\n", busyboxVersion, name)
	default:
		for i, way := range strings.Split(usage.gnu, "\n") {
			fmt.Fprintf(k.Stdout, "%s %s %s\n", [...]string{"Usage:", "  or: "}[min(i, 1)], name, way)
		}
		fmt.Fprintf(k.Stdout, "\nGNU coreutils online help: <https://www.gnu.org/software/coreutils/>\n"+
			"Full documentation <https://www.gnu.org/software/coreutils/%[1]s>\nor available locally via: info '(coreutils) %[1]s invocation'\n", name)
	}
}

// helping is a program that prints its help with --help.
func helping(name string, f func(*Call) int) func(*Call) int {
	return func(k *Call) int {
		for _, arg := range k.Args {
			if arg == "--" {
				break
			}
			if arg == "--help" {
				k.help(name)
				return 0
			}
		}
		return f(k)
	}
}
