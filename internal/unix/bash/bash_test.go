package bash_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/kubetab/kubetab/internal/locked"
	"github.com/kubetab/kubetab/internal/unix/bash"
)

// tree is a tree of files that no machine has.
type tree struct{ fstest.MapFS }

func (t tree) name(p string) string { return strings.TrimPrefix(p, "/") }

func (t tree) Stat(name string, _ bool) (fs.FileInfo, error) {
	if name == "/" {
		name = "/."
	}
	return t.MapFS.Stat(t.name(name))
}

func (t tree) ReadDir(name string) ([]fs.DirEntry, error) { return t.MapFS.ReadDir(t.name(name)) }

type readOnly struct{ fs.File }

func (readOnly) Write([]byte) (int, error) { return 0, os.ErrPermission }

// run returns what a script prints in /desk, and the programs that it has run.
func run(t *testing.T, change func(*bash.Config), script string) (printed string, ran []string) {
	t.Helper()
	files := tree{fstest.MapFS{
		"desk/a.txt":    {Data: []byte("of a\n")},
		"desk/b.txt":    {Data: []byte("of b\n")},
		"desk/run":      {Mode: 0o755},
		"desk/sub/lib":  {Data: []byte("echo sourced\n")},
		"desk/elements": {Data: []byte("c=(1)\n((c[0]++)); echo ${c[0]} $1; return 3")},
		"desk/broken":   {Data: []byte("{ echo")},
		"desk/deep":     {Data: []byte(strings.Repeat("(", 100_000))},
	}}
	var out strings.Builder
	both := locked.NewWriter(&out)
	var mu sync.Mutex
	c := bash.Config{
		Dir: "/desk", Stdout: both, Stderr: both, Files: files, Jobs: bash.NewProcesses(0).Jobs(),
		Call: func(_ context.Context, args []string) ([]string, error) { return args, nil },
		Exec: func(_ context.Context, args []string) error {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, strings.Join(args, " "))
			return nil
		},
		Find: func(name string) string {
			if name == "ran" || name == "run" {
				return "/bin/" + name
			}
			return ""
		},
		Open: func(_ context.Context, name string, _ int, _ fs.FileMode) (io.ReadWriteCloser, error) {
			f, err := files.Open(files.name(name))
			return readOnly{f}, err
		},
	}
	if change != nil {
		change(&c)
	}
	runner, err := bash.New(c)
	if err != nil {
		t.Fatal(err)
	}
	file, err := bash.Parse(script, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := bash.Run(t.Context(), runner, file); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return out.String(), ran
}

// No way to the world leads past the Config.
func TestEveryWayLeadsThroughConfig(t *testing.T) {
	for script, want := range map[string]string{
		`echo $(<a.txt)`:                "of a\n",
		`echo *.txt`:                    "a.txt b.txt\n",
		`cd sub && pwd && source ./lib`: "/desk/sub\nsourced\n",
		`test -x run && test ! -x a.txt && test ! -e /etc/passwd && echo yes`: "yes\n",
		`echo $PWD`: "/desk\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
	if _, ran := run(t, nil, `/bin/ls -l; nothing`); len(ran) != 2 || ran[0] != "/bin/ls -l" || ran[1] != "nothing" {
		t.Errorf("ran %q", ran)
	}
}

// printf as bash has it: "--" ends its options, and the first argument after it is the format.
func TestPrintf(t *testing.T) {
	for script, want := range map[string]string{
		`printf -- "--- %s\n" a b`: "--- a\n--- b\n",
		`printf "%s\n" --`:         "--\n",
		`printf -- --`:             "--",
		`printf -v x '%s-%02d\n' web 7 db 8; echo "[$x]"`:              "[web-07\ndb-08\n]\n",
		`a=(1 2); printf -va[1] -- "%s" "it's \$HOME"; echo "${a[1]}"`: "it's $HOME\n",
		`declare -A m; printf -v 'm[one]' 1; echo ${m[one]}`:           "1\n",
		`f() { local x; printf -v x in; echo $x; }; x=out; f; echo $x`: "in\nout\n",
		`printf -v x 'a\0b'; echo ${#x}`:                               "1\n",
		`printf -v 'x;echo y' z; echo $?`:                              "bash: printf: `x;echo y': not a valid identifier\n1\n",
		`printf -v; echo $?`:                                           "bash: printf: -v: option requires an argument\n1\n",
	} {
		if got, _ := run(t, nil, script); got != want {
			t.Errorf("%s prints %q, want %q", script, got, want)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, tc := range []struct {
		script, want string
		change       func(*bash.Config)
	}{
		{`echo $A $1 $2 $#`, "second x y 2\n", func(c *bash.Config) {
			c.Env, c.Params = []string{"A=first", "A=second"}, []string{"x", "y"}
		}},
		{`echo $PWD`, "/desk\n", func(c *bash.Config) { c.Env = []string{"PWD=/elsewhere"} }},
		{`false | true || echo failed`, "failed\n", func(c *bash.Config) { c.Options = []string{"-o", "pipefail"} }},
		{`test -x a.txt && echo yes`, "yes\n", func(c *bash.Config) { c.Executable = func(fs.FileInfo) bool { return true } }},
		{"alias hi='echo hello'\nhi", "hello\n", func(c *bash.Config) { c.Interactive = true }},
		{`echo one`, "two\n", func(c *bash.Config) {
			c.Call = func(context.Context, []string) ([]string, error) { return []string{"echo", "two"}, nil }
		}},
	} {
		if got, _ := run(t, tc.change, tc.script); got != tc.want {
			t.Errorf("%s prints %q, want %q", tc.script, got, tc.want)
		}
	}
	if _, err := bash.New(bash.Config{Dir: "/", Options: []string{"-?"}, Call: func(_ context.Context, args []string) ([]string, error) { return args, nil }}); err == nil {
		t.Error("an option that there is not was taken")
	}
}
