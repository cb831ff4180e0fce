package server_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/shell/lines"
)

// A transcript is what a terminal shows: commands after "$ ", their further lines after "> ", and below each of them
// what it prints on both outputs, with [exit N] where the code is not 0. A line that starts with "# " is prose. Commands
// run in sh, in a folder of their own.
//
// A command that ends in "&" runs in the background; two further commands look at it:
//
//	$ until TEXT    what it prints up to and with the first line that has TEXT in it
//	$ interrupt     Ctrl-C, and the rest
//
// Whatever differs from one run to the next is replaced, see normalise. `go test ./server -run Kubectl -update` writes
// the outputs anew.
type transcript []*step

type step struct {
	prose   []string // before the command
	command string   // "" in a last step which is prose only
	output  string
}

func parseTranscript(text string) (transcript, error) {
	steps := transcript{{}}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		last := steps[len(steps)-1]
		switch {
		case strings.HasPrefix(line, "# ") || line == "#":
			if last.command != "" {
				last = &step{}
				steps = append(steps, last)
			}
			last.prose = append(last.prose, line)
		case strings.HasPrefix(line, "$ "):
			if last.command != "" {
				last = &step{}
				steps = append(steps, last)
			}
			last.command = line[2:]
		case strings.HasPrefix(line, "> ") && last.command != "" && last.output == "":
			last.command += "\n" + line[2:]
		case last.command != "":
			last.output += line + "\n"
		case line != "":
			return nil, fmt.Errorf("line %d: output before the first command", i+1)
		}
	}
	for _, s := range steps {
		if s.output = strings.TrimRight(s.output, "\n"); s.output != "" {
			s.output += "\n"
		}
	}
	return steps, nil
}

func (t transcript) String() string {
	var b strings.Builder
	for i, s := range t {
		if i > 0 {
			b.WriteString("\n")
		}
		for _, line := range s.prose {
			b.WriteString(line + "\n")
		}
		if s.command != "" {
			b.WriteString("$ " + strings.ReplaceAll(s.command, "\n", "\n> ") + "\n" + s.output)
		}
	}
	return b.String()
}

// commandLimit is how long a command may take beside other stories, on a machine that is busy with other things.
const commandLimit = 5 * time.Minute

// shell runs the commands of one transcript.
type shell struct {
	dir string
	env []string
	job *job // the last one in the background
}

// run returns what the terminal shows after command.
func (s *shell) run(t *testing.T, command string) string {
	name, argument, _ := strings.Cut(command, " ")
	switch {
	case (name == "until" || name == "interrupt") && s.job == nil:
		t.Fatalf("$ %s\nno command was started in the background", command)
		return ""
	case name == "until":
		return s.job.until(t, argument)
	case name == "interrupt":
		return s.job.interrupt(t)
	case strings.HasSuffix(command, "&"):
		s.job = startJob(t, s.command(strings.TrimSpace(strings.TrimSuffix(command, "&"))))
		return ""
	}
	c := s.command(command)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out // one writer, so that the lines keep their order
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(commandLimit, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
	defer timer.Stop()
	err := c.Wait()
	text := out.String()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return withCode(text, c.ProcessState.ExitCode())
}

// withCode adds the line of an exit code that is not 0.
func withCode(text string, code int) string {
	if code == 0 {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + fmt.Sprintf("[exit %d]\n", code)
}

func (s *shell) command(text string) *exec.Cmd {
	c := exec.Command("sh", "-c", text)
	c.Dir, c.Env = s.dir, s.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt is for the whole job, as in a terminal
	return c
}

// job is a command in the background.
type job struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	text  string // what it has printed and nobody has looked at
	grown chan struct{}
	ended chan struct{}
}

func startJob(t *testing.T, c *exec.Cmd) *job {
	j := &job{cmd: c, grown: make(chan struct{}, 1), ended: make(chan struct{})}
	c.Stdout, c.Stderr = j, j
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait() // the code is in ProcessState
		close(j.ended)
	}()
	t.Cleanup(func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL); <-j.ended })
	return j
}

func (j *job) Write(p []byte) (int, error) {
	j.mu.Lock()
	j.text += string(p)
	j.mu.Unlock()
	select {
	case j.grown <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (j *job) until(t *testing.T, text string) string {
	line := regexp.MustCompile(`(?s)^.*?` + regexp.QuoteMeta(text) + `[^\n]*\n`)
	for limit := time.After(commandLimit); ; {
		j.mu.Lock()
		got := line.FindString(j.text)
		j.text = j.text[len(got):]
		rest := j.text
		j.mu.Unlock()
		if got != "" {
			return got
		}
		select {
		case <-j.grown:
		case <-j.ended:
			t.Fatalf("ended without printing %q; it printed:\n%s", text, rest)
		case <-limit:
			t.Fatalf("has not printed %q; it printed:\n%s", text, rest)
		}
	}
}

func (j *job) interrupt(t *testing.T) string {
	syscall.Kill(-j.cmd.Process.Pid, syscall.SIGINT)
	select {
	case <-j.ended:
	case <-time.After(commandLimit):
		t.Fatal("does not end after an interrupt")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	text := j.text
	j.text = ""
	return withCode(text, max(0, j.cmd.ProcessState.ExitCode())) // -1 is what an interrupt leaves
}

// normalise replaces what differs from one run to the next by a word in capitals.
func normalise(text, dir string) string {
	text = lines.CanceledWatch.ReplaceAllString(text, "")
	all := strings.Split(strings.ReplaceAll(text, dir, "DIR"), "\n")
	for i, line := range all {
		for _, r := range varying {
			line = r.pattern.ReplaceAllString(line, r.with)
		}
		all[i] = strings.TrimRight(line, " ") // tables pad their last column
	}
	if text = strings.TrimRight(strings.Join(all, "\n"), "\n"); text != "" {
		text += "\n"
	}
	return text
}

var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://SERVER"},
	{regexp.MustCompile(`\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+`), "TOKEN"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?Z| [+-]\d{4}( [A-Z]+)?)?`), "TIME"},
	{regexp.MustCompile(`\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "TIME"},
	{regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`), "-XXXXX"}, // what generateName adds
	{regexp.MustCompile(`("?resourceVersion"?: ?)"\d+"`), `${1}"RV"`},
	{regexp.MustCompile(`/tmp/(LIVE|MERGED)-\d+/`), "/tmp/$1/"},
	{regexp.MustCompile(`  (<invalid>|(\d+[smhd])+)(  +|$)`), "  AGE   "},
}

func readTranscript(t *testing.T, path string) transcript {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parseTranscript(string(data))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return steps
}
