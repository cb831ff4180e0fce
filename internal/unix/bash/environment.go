package bash

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// directory returns what runs in the place of cd: the interpreter's knows no options, and says what fails in words of its
// own.
func (c *Config) directory(hc interp.HandlerContext, with func(...string) []string, args []string) []string {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		option := args[0]
		if strings.Trim(option[1:], "LPe@") != "" && option != "--" {
			return c.refused(hc.Stderr, "cd: %s: invalid option", option)
		}
		args = args[1:]
	}
	to := ""
	switch {
	case len(args) > 1 && c.Dialect == Bash:
		return c.refused(hc.Stderr, "cd: too many arguments")
	case len(args) == 0:
		if to = hc.Env.Get("HOME").String(); to == "" {
			return c.refused(hc.Stderr, "cd: HOME not set")
		}
	case args[0] == "-":
		if to = hc.Env.Get("OLDPWD").String(); to == "" {
			return c.refused(hc.Stderr, "cd: OLDPWD not set")
		}
	case args[0] == "":
		return []string{"true"}
	default:
		to = args[0]
	}
	err := c.enters(coreutils.Absolute(hc.Dir, to))
	switch {
	case err == nil:
		return with(args[:min(len(args), 1)]...)
	case c.Dialect == Bash:
		return c.refused(hc.Stderr, "cd: %s: %s", to, coreutils.Reason(err))
	}
	return c.refused(hc.Stderr, "cd: can't cd to %s: %s", to, coreutils.Reason(err))
}

// errNotDirectory is worded as coreutils.Reason words ENOTDIR, which fs has no name for.
//
//lint:ignore ST1005 as the C library has it
var errNotDirectory = errors.New("Not a directory")

// enters fails where the shell cannot go to a directory.
func (c *Config) enters(dir string) error {
	info, err := c.Files.Stat(dir, true)
	switch {
	case err != nil:
		var path *fs.PathError
		if errors.As(err, &path) {
			return path.Err
		}
		return err
	case !info.IsDir():
		return errNotDirectory
	}
	return c.access(dir, 1)
}

// access says whether the shell's user may do something to a file, by the bits of Config.Access.
func (c *Config) access(name string, what fs.FileMode) error {
	if c.Access != nil {
		return c.Access(name, what)
	}
	info, err := c.Files.Stat(name, true)
	if err == nil && what&1 != 0 && !c.executable(info) {
		return fs.ErrPermission
	}
	return err
}

// maskVariable has what umask has set. Subshells have it of their own, as with umask.
const maskVariable = "__umask"

// mask is the umask of a shell. ok is false where nobody has set one.
func mask(vars expand.Environ) (bits fs.FileMode, ok bool) {
	n, err := strconv.ParseUint(vars.Get(maskVariable).String(), 8, 9)
	if err != nil {
		return 0o022, false
	}
	return fs.FileMode(n), true
}

// masked returns what runs in the place of umask. The files that redirections make are masked, and those of programs are
// not.
func (c *Config) masked(hc interp.HandlerContext, args []string) []string {
	symbolic, again := false, false
	for len(args) > 0 && (args[0] == "-S" || args[0] == "-p") {
		symbolic, again = symbolic || args[0] == "-S", again || args[0] == "-p"
		args = args[1:]
	}
	bits, _ := mask(hc.Env)
	if len(args) == 0 {
		text := fmt.Sprintf("%04o", uint32(bits))
		if symbolic {
			text = symbols(bits)
		}
		if again {
			text = "umask " + text
		}
		return printing(text + "\n")
	}
	if n, err := strconv.ParseUint(args[0], 8, 12); err == nil {
		bits = fs.FileMode(n) & 0o777
	} else if allowed, err := coreutils.ParseMode(args[0], uint32(^bits&0o777)); err == nil {
		bits = ^fs.FileMode(allowed) & 0o777
	} else {
		return c.refused(hc.Stderr, "umask: `%s': invalid symbolic mode operator", args[0])
	}
	return []string{"eval", fmt.Sprintf("%s=%04o", maskVariable, uint32(bits))}
}

// symbols is what umask -S prints: what is allowed.
func symbols(mask fs.FileMode) string {
	var all []string
	for i, who := range "ugo" {
		text := string(who) + "="
		for j, letter := range "rwx" {
			if mask>>(8-3*i-j)&1 == 0 {
				text += string(letter)
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, ",")
}

// limits are what ulimit prints: the values of a container that has been given none.
var limits = []struct {
	letter      byte
	what, value string
}{
	{'c', "core file size              (blocks, -c)", "unlimited"},
	{'d', "data seg size               (kbytes, -d)", "unlimited"},
	{'e', "scheduling priority                 (-e)", "0"},
	{'f', "file size                   (blocks, -f)", "unlimited"},
	{'i', "pending signals                     (-i)", "31511"},
	{'l', "max locked memory           (kbytes, -l)", "8192"},
	{'m', "max memory size             (kbytes, -m)", "unlimited"},
	{'n', "open files                          (-n)", "1048576"},
	{'p', "pipe size                (512 bytes, -p)", "8"},
	{'q', "POSIX message queues         (bytes, -q)", "819200"},
	{'r', "real-time priority                  (-r)", "0"},
	{'s', "stack size                  (kbytes, -s)", "8192"},
	{'t', "cpu time                   (seconds, -t)", "unlimited"},
	{'u', "max user processes                  (-u)", "unlimited"},
	{'v', "virtual memory              (kbytes, -v)", "unlimited"},
	{'x', "file locks                          (-x)", "unlimited"},
}

// limited returns what runs in the place of ulimit. Nothing here has such limits: setting one is accepted.
func (c *Config) limited(hc interp.HandlerContext, args []string) []string {
	letters := ""
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters += strings.Trim(args[0][1:], "HS")
		args = args[1:]
	}
	if letters == "" {
		letters = "f"
	}
	var text strings.Builder
	for _, limit := range limits {
		switch {
		case strings.Contains(letters, "a") || len(letters) > 1 && strings.IndexByte(letters, limit.letter) >= 0:
			fmt.Fprintf(&text, "%s %s\n", limit.what, limit.value)
		case letters == string(limit.letter):
			fmt.Fprintln(&text, limit.value)
		}
	}
	switch {
	case text.Len() == 0:
		return c.refused(hc.Stderr, "ulimit: -%s: invalid option", letters)
	case len(args) > 0 && args[0] != "unlimited" && slices.ContainsFunc([]byte(args[0]), func(b byte) bool { return b < '0' || b > '9' }):
		return c.refused(hc.Stderr, "ulimit: %s: invalid number", args[0])
	case len(args) > 0:
		return []string{"true"}
	}
	return printing(text.String())
}
