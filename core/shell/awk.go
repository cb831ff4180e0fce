package shell

import (
	"fmt"
	"io"
	"strings"

	interpreter "github.com/kubetab/kubetab/core/shell/awk"

	"github.com/kubetab/kubetab/core/coreutils"
)

// awk runs an AWK program, see package awk.
func awk(_ *session, c *coreutils.Call) int {
	config := interpreter.Config{Variables: map[string]string{}, In: c.Stdin, Out: c.Stdout}
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
				return c.Fail("-v wants name=value") + 1
			}
			config.Variables[name] = text
		case 'f':
			name := value(flag)
			text, err := c.Files.ReadFile(c.Path(name))
			if err != nil {
				return c.Fail("%s: %s", name, coreutils.Reason(err)) + 1
			}
			s := string(text)
			source = &s
		default:
			return c.Fail("unknown option %s", flag) + 1
		}
	}
	if source == nil {
		if len(args) == 0 {
			fmt.Fprintln(c.Stderr, "usage: awk [-F separator] [-v name=value] 'program' [file ...]")
			return 2
		}
		source, args = &args[0], args[1:]
	}
	program, err := interpreter.Parse(*source)
	if err != nil {
		return c.Fail("%v", err) + 1
	}
	if len(args) > 0 {
		var all []io.Reader
		for _, name := range args {
			text, err := c.Files.ReadFile(c.Path(name))
			if err != nil {
				return c.Fail("%s: %s", name, coreutils.Reason(err)) + 1
			}
			all = append(all, strings.NewReader(string(text)))
		}
		config.In = io.MultiReader(all...)
	}
	code, err := program.Run(config)
	if err != nil {
		return c.Fail("%v", err) + 1
	}
	return code
}
