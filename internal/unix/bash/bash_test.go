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

	"mvdan.cc/sh/v3/expand"

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
		Exec: func(ctx context.Context, args []string) error {
			if hc := bash.HandlerCtx(ctx); args[0] == "cat" {
				_, err := io.Copy(hc.Stdout, hc.Stdin)
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, strings.Join(args, " "))
			return nil
		},
		Find: func(_ expand.Environ, _, name string) string {
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

// Of a script with a syntax error the lines before run, as bash reads them one by one.
func TestBegun(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{"echo one\necho (\necho two", "echo one\n"},
		{"echo one; echo (\n", ""},
		{"echo one\nif true; then\n  echo (\nfi", "echo one\n"},
		{"cat <<E\ntext\nE\nx=1; y=2\nfor\n", "cat <<E\ntext\nE\nx=1; y=2\n"},
		{"if true; then echo a; fi\n\n# note\ndone", "if true; then echo a; fi\n"},
		{"echo 'a\nb'\necho 'unclosed\n", "echo 'a\nb'\n"},
		{"done", ""},
		{"echo one\ncat <<A <<-B | tr a-z A-Z\n", "echo one\n"},
		{"cat <<EOF", ""},
	} {
		_, err := bash.Parse(test.script, "", nil)
		if err == nil {
			t.Errorf("%q has no error", test.script)
			continue
		}
		got := bash.Begun(test.script, err, "it's wrong")
		before, _, says := strings.Cut(got, "\nbuiltin ")
		if before != test.want || says != (test.want != "") {
			t.Errorf("%q begins with %q, want %q", test.script, got, test.want)
		}
		if got == "" {
			continue
		}
		if out, _ := run(t, nil, strings.TrimPrefix(got, test.want)+"echo $?"); out != "it's wrong\n2\n" {
			t.Errorf("%q ends with %q", test.script, out)
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
		{`echo $$ "${$}x" $(echo $$) $(($$ + 1)); (echo $$); eval 'echo $$'; cat <<< $$; echo $$ | cat; (echo $$) | cat; echo $$ & wait`, "42 42x 42 43\n42\n42\n42\n42\n42\n42\n", func(c *bash.Config) { c.Number = func() int { return 42 } }},
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
