package awk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Command is the program awk: it runs the AWK program of its first argument, or of the file of -f, and returns what that exits with; 2
// for one that cannot be run.
func Command(c *coreutils.Call) int {
	config := Config{
		Variables: map[string]string{}, Environment: map[string]string{}, In: c.Stdin, Out: c.Stdout, Context: c,
		Open: func(name string) (io.ReadCloser, error) {
			f, err := c.Files.Open(c.Path(name), os.O_RDONLY, 0)
			return f, reasonOf(err)
		},
		Create: func(name string, add bool) (io.WriteCloser, error) {
			flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
			if add {
				flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
			}
			f, err := c.Files.Open(c.Path(name), flag, 0o644)
			return f, reasonOf(err)
		},
		Command: func(line string, in io.Reader, out io.Writer) int {
			run := *c
			run.Stdin, run.Stdout = in, out
			return c.System.Run(&run, c.Environ(), []string{"sh", "-c", line})
		},
	}
	for _, v := range c.Environ() {
		name, value, _ := strings.Cut(v, "=")
		config.Environment[name] = value
	}
	source, code := arguments(c, &config)
	if code != 0 {
		return code
	}
	program, err := Parse(source)
	if err != nil {
		return c.Fail("%v", err) + 1
	}
	code, err = program.Run(config)
	if c.Err() != nil {
		return 130 // and says nothing, as programs that are ended
	}
	if err != nil {
		return c.Fail("%v", err) + 1
	}
	return code
}

// arguments reads the command line into config and returns the program's text. A code
// other than 0 is that of the command, which has said what is wrong.
func arguments(c *coreutils.Call, config *Config) (text string, code int) {
	args := c.Args
	var source *string
	value := func(flag string) string {
		if len(flag) > 2 {
			return flag[2:]
		}
		if len(args) == 0 {
			return ""
		}
		v := args[0]
		args = args[1:]
		return v
	}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		flag := args[0]
		args = args[1:]
		if flag == "--" {
			break
		}
		switch flag[1] {
		case 'F':
			if config.Separator = value(flag); config.Separator == "t" {
				config.Separator = `\t`
			}
		case 'v':
			name, text, ok := strings.Cut(value(flag), "=")
			if !ok {
				return "", c.Fail("-v wants name=value") + 1
			}
			config.Variables[name] = text
		case 'f':
			name := value(flag)
			text, err := c.Files.ReadFile(c.Path(name))
			if err != nil {
				return "", c.Fail("%s: %s", name, coreutils.Reason(err)) + 1
			}
			s := string(text)
			source = &s
		default:
			return "", c.Fail("unknown option %s", flag) + 1
		}
	}
	if source == nil {
		if len(args) == 0 {
			fmt.Fprintln(c.Stderr, "usage: awk [-F separator] [-v name=value] 'program' [file ...]")
			return "", 2
		}
		source, args = &args[0], args[1:]
	}
	config.Arguments = args
	return *source, 0
}

// reasonOf is an error in the words of a program, or nil.
func reasonOf(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(coreutils.Reason(err))
}
