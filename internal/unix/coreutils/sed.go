package coreutils

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sed edits line by line, so that it can be behind a watch.
func sed(k *Call) int {
	o, scripts, files, err := sedArguments(k)
	if err != nil {
		return k.Fail("%v", err)
	}
	if scripts == nil {
		if len(files) == 0 {
			return k.Fail("no script")
		}
		scripts, files = files[:1], files[1:]
	}
	script, err := parseSed(k, strings.Join(scripts, "\n"), o.extended)
	if err != nil {
		code := k.Fail("%v", err)
		if errors.As(err, new(noLabel)) {
			code = 4
		}
		return code
	}
	o.quiet = o.quiet || script.quiet
	r := &sedRun{Call: k, sedOptions: o, ctx: Stepwise(k.Context), commands: script.commands, printed: map[string]*sedOutput{}, read: map[string]*sedFile{}}
	defer r.close()
	return r.run(files)
}

// sedOptions are those of the command line.
type sedOptions struct {
	quiet, extended, separate, inPlace bool
	suffix                             string // of copies of what is edited in place
	end                                byte   // of a line
	width                              int    // of what l prints; 0 has no end
}

// sedArguments takes the arguments apart. It is long because options stand in three forms, and some have values.
func sedArguments(k *Call) (o sedOptions, scripts, files []string, err error) {
	o.end, o.width = '\n', 70
	script := func(name string) error {
		text, err := k.Files.ReadFile(k.Path(name))
		if name == "-" {
			text, err = ReadAll(k.Stdin)
		}
		if err != nil {
			return fmt.Errorf("couldn't open file %s: %s", name, Reason(err))
		}
		scripts = append(scripts, strings.TrimSuffix(string(text), "\n"))
		return nil
	}
	args := k.Args
	value := func(attached string, isAttached bool) (string, error) {
		if isAttached {
			return attached, nil
		}
		if len(args) == 0 {
			return "", errors.New("option requires an argument")
		}
		text := args[0]
		args = args[1:]
		return text, nil
	}
	option := func(name string, attached string, isAttached bool) error {
		switch name {
		case "n", "quiet", "silent":
			o.quiet = true
		case "E", "r", "regexp-extended":
			o.extended = true
		case "s", "separate":
			o.separate = true
		case "z", "null-data":
			o.end = 0
		case "i", "in-place":
			o.inPlace, o.separate, o.suffix = true, true, attached
		case "u", "unbuffered", "posix", "follow-symlinks", "sandbox": // as it is anyway
		case "e", "expression", "f", "file", "l", "line-length":
			text, err := value(attached, isAttached)
			switch {
			case err != nil:
				return err
			case name[0] == 'e':
				scripts = append(scripts, text)
			case name[0] == 'f':
				return script(text)
			default:
				if o.width, err = strconv.Atoi(text); err != nil || o.width < 0 {
					return fmt.Errorf("invalid line length: %s", text)
				}
			}
		default:
			if len(name) == 1 {
				return fmt.Errorf("invalid option -- '%s'", name)
			}
			return fmt.Errorf("unrecognized option '--%s'", name)
		}
		return nil
	}
	for len(args) > 0 && err == nil {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			files, args = append(files, args...), nil
		case strings.HasPrefix(arg, "--"):
			name, attached, isAttached := strings.Cut(arg[2:], "=")
			err = option(name, attached, isAttached)
		case len(arg) > 1 && arg[0] == '-':
			for i := 1; i < len(arg) && err == nil; i++ {
				if letter := arg[i : i+1]; strings.Contains("eifl", letter) {
					err = option(letter, arg[i+1:], letter == "i" || i+1 < len(arg))
					break
				} else {
					err = option(letter, "", false)
				}
			}
		default:
			files = append(files, arg)
		}
	}
	return o, scripts, files, err
}
