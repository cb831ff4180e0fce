package python

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Command is a script with its arguments, as a command line of python3 has them.
type Command struct {
	script    *Script // nil where there is no file
	missing   string
	arguments []string
}

// Prepare returns what a command line runs, without the name of the program: -c TEXT, or a FILE, with arguments behind. Options
// that change nothing here may be before. The file is asked for by its absolute name; dir is the folder. ok is false for
// anything else, such as -m, and for a script that is not understood.
func Prepare(args []string, dir string, file func(name string) ([]byte, error)) (command *Command, ok bool) {
	for len(args) > 0 && slices.Contains([]string{"-u", "-B", "-E", "-s"}, args[0]) {
		args = args[1:]
	}
	name, text := "<string>", ""
	switch {
	case len(args) > 1 && (args[0] == "-c" || args[0] == "-uc"):
		text, args = args[1], append([]string{"-c"}, args[2:]...)
	case len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		name = coreutils.Absolute(dir, args[0])
		content, err := file(name)
		if err != nil {
			return &Command{missing: name}, true
		}
		text = string(content)
	default:
		return nil, false
	}
	script, err := Parse(name, text)
	return &Command{script: script, arguments: args}, err == nil
}

// Run runs the command with the call's streams, variables and clock, and returns its exit code. Without the file it is 2.
func (c *Command) Run(k *coreutils.Call) int {
	if c.script == nil {
		fmt.Fprintf(k.Stderr, "%s: can't open file '%s': [Errno 2] No such file or directory\n", k.Name, c.missing)
		return 2
	}
	environment := map[string]string{}
	for _, variable := range k.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		environment[name] = value
	}
	return c.script.Run(coreutils.Stepwise(k.Context), Config{
		Arguments: c.arguments, Environment: environment, Hostname: environment["HOSTNAME"], Out: k.Stdout, Err: k.Stderr,
		Now: func() time.Time { return k.System.Clock().Now() },
		Sleep: func(d time.Duration) error {
			if code := k.System.Pause(k, d); code != 0 {
				return &exit{code: code}
			}
			return nil
		},
	})
}
