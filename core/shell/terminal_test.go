package shell_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long anything may take, on a machine that has much to do: it ends a test that hangs, and no other.
const patience = 5 * time.Minute

// seat is somebody at a terminal of the shared shell.
type seat struct {
	t    *testing.T
	url  string // of the terminal
	out  chan []byte
	rest string // what reads has left
}

// sit opens a terminal that is ended with the test.
func sit(t *testing.T, history ...string) *seat {
	t.Helper()
	return sitAt(t, httpServer(t), history...)
}

// sitAt is sit for a shell that is served at url.
func sitAt(t *testing.T, url string, history ...string) *seat {
	t.Helper()
	s := open(t, url, map[string]any{"columns": 80, "rows": 24, "history": history})
	s.sees(`\$ $`)
	return s
}

// open opens a terminal by a request for one.
func open(t *testing.T, url string, request map[string]any) *seat {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url+"/kubetab/terminals", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var created struct{ ID string }
	if err := json.NewDecoder(response.Body).Decode(&created); err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("create a terminal: %s %v", response.Status, err)
	}
	s := &seat{t: t, url: url + "/kubetab/terminals/" + created.ID, out: make(chan []byte, 1024)}
	stream, err := http.Get(s.url + "/output")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.out)
		for {
			b := make([]byte, 4096)
			n, err := stream.Body.Read(b)
			if n > 0 {
				s.out <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, s.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(r); err != nil {
			t.Error(err)
		} else {
			response.Body.Close()
		}
		stream.Body.Close()
	})
	return s
}

func (s *seat) types(keys string) {
	s.t.Helper()
	response, err := http.Post(s.url+"/input", "application/octet-stream", strings.NewReader(keys))
	if err != nil {
		s.t.Fatal(err)
	}
	response.Body.Close()
}

// sees waits until what has come since the last call matches, and returns it
// with its escape sequences.
func (s *seat) sees(pattern string) string {
	s.t.Helper()
	return s.looks(pattern, math.MaxInt)
}

// ends is sees for a pattern of the last of much that is printed.
func (s *seat) ends(pattern string) {
	s.t.Helper()
	s.looks(pattern, 1000)
}

// looks is sees of the last bytes.
func (s *seat) looks(pattern string, last int) string {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	var text string
	limit := time.After(patience)
	for {
		// Colours and cursor movements are another test's.
		plain := regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]|\x1b\][^\a]*\a|\r`).ReplaceAllString(text, "")
		if re.MatchString(plain) {
			return text
		}
		select {
		case b, ok := <-s.out:
			if !ok {
				s.t.Fatalf("the terminal has ended, after %q: no %s", plain, pattern)
			}
			text += string(b)
			text = text[max(0, len(text)-last):]
		case <-limit:
			s.t.Fatalf("%q has no %s", plain, pattern)
		}
	}
}

func TestTerminalReadsUntilALineIsWhole(t *testing.T) {
	s := sit(t)
	for _, typed := range []struct{ lines, prints string }{
		{"cat <<EOF\nx $((1 + 1))\nEOF", "x 2"},
		{"cat <<'EOF'\nx $HOME `b \" $( \n\nEOF", "x $HOME `b \" $( \n"},
		{"cat <<\"E F\"\nx\nE F", "x"},
		{"cat <<\\EOF | tr a-z A-Z\nabc\nEOF", "ABC"},
		{"cat <<'A'; cat <<'B'\na\nB\nA\nb\nB", "a\nB\nb"},
		{"cat <<EOF\na\\\nEOF\nEOF", "aEOF"},
		{"echo \"$(cat <<'EOF'\ntext\nEOF\n)\"", "text"},
		{"f() { cat <<'EOF'\nhere\nEOF\n}\nf", "here"},
		{"while read l; do\necho =$l\ndone <<'EOF'\n1\n2\nEOF", "=1\n=2"},
		{"echo 'it'\\''s\nfine'", "it's\nfine"},
		{"echo \"a\\\"\nb\"", "a\"\nb"},
		{"echo a \\\nb", "a b"},
		{"echo 'a \\\nb'", "a \\\nb"},
		{"if true\nthen echo a\nfi", "a"},
		{"a=(\n1\n2\n)\necho ${a[@]}", "1 2"},
		{"echo p |\ncat &&\necho q", "p\nq"},
		{"case x in\nx) echo y;;\nesac", "y"},
		{"echo ${nope:-\nb} $((1 +\n2))", "b 3"},
	} {
		s.types(strings.ReplaceAll(typed.lines, "\n", "\r") + "\recho =end$((1 + 1))=\r")
		s.sees(`(?s)\n` + regexp.QuoteMeta(typed.prints) + `\n.*=end2=\n.*\$ $`)
	}
}

// pastes types a text as a page does: in pieces, the next when the last has been taken.
func (s *seat) pastes(text string) {
	go func() {
		for piece := range slices.Chunk([]byte(text), 16<<10) {
			s.types(string(piece))
		}
	}()
}

// Two megabytes are more than may wait to be read, and too much to parse from the beginning for each line.
func TestTerminalTakesLargePastes(t *testing.T) {
	lines := strings.Repeat("    description: what the field means, and what happens without it \\\r", 30_000)
	size := len(lines)
	s := sit(t)
	for _, paste := range []struct{ name, text string }{
		{"a document", "cat >here <<'EOF'\r" + lines + "EOF\r"},
		{"a document with tabs before its end", "cat >here <<-EOF\r" + strings.ReplaceAll(lines, " \\", "  ") + "\t\tEOF\r"},
		{"a quoted text", "printf '%s' '" + lines + "' >here\r"},
		{"one line", "printf '%s' " + strings.Repeat("x", 100_000) + " >here\r"},
		{"what a program reads", "cat >here\r" + lines + "\x04"},
	} {
		t.Run(paste.name, func(t *testing.T) {
			want := size
			if paste.name == "one line" {
				want = 100_000
			}
			s.pastes(paste.text + "echo $(wc -c <here) bytes\r")
			s.ends(fmt.Sprintf(`(?s)\n%d bytes\n.*\$ $`, want))
		})
	}
}

// What was pasted for a program that does not read it does not keep ^C from ending it, and is not run afterwards.
func TestInterruptThrowsPasteAway(t *testing.T) {
	s := sit(t)
	s.types("sleep 1000\r")
	s.sees("sleep 1000\n")
	const room = 1 << 20 // no key more fits
	s.types((strings.Repeat("echo pasted\r", room/len("echo pasted\r")) + "echo pasted")[:room])
	s.types("\x03")
	s.ends(`(?s)\^C\n.*\$ $`)
	s.types("echo and on\r")
	if shown := s.sees(`(?s)\nand on\n.*\$ $`); strings.Contains(shown, "pasted") {
		t.Errorf("the paste was run: %q", shown)
	}
}

func TestTerminalRunsWhatIsTyped(t *testing.T) {
	s := sit(t)
	s.types("echo hello\r")
	s.sees(`(?s)echo hello\n.*hello\n.*\$ $`)
	s.types("cat <<EOF\r")
	s.sees(`> $`)
	s.types("in a document\rEOF\r")
	s.sees(`(?s)in a document\n.*in a document\n.*\$ $`)
	s.types("cat <<'EOF'\r")
	s.sees(`> $`)
	s.types("quoted $HOME\rEOF\r")
	s.sees(`(?s)quoted \$HOME\n.*quoted \$HOME\n.*\$ $`)
	s.types("for i in 1 2; do\r")
	s.sees(`> $`)
	s.types("echo number $i; done\r")
	s.sees(`(?s)number 1\nnumber 2\n.*\$ $`)
	s.types("cd /; pwd\r")
	s.sees(`(?s)\n/\n.*/ \$ $`)
	s.types("nosuch\r")
	s.sees(`bash: nosuch: command not found`)
}

// A page that is reloaded asks for what was printed after what it has shown: the page before it may have taken that along.
func TestOutputAfterAPosition(t *testing.T) {
	s := sit(t)
	get := func(query string, want int) *http.Response {
		t.Helper()
		response, err := http.Get(s.url + "/output" + query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		if response.StatusCode != want {
			t.Fatalf("%s: %s", query, response.Status)
		}
		return response
	}
	position := get("", http.StatusOK).Header.Get("Kubetab-Position")
	s.types("echo not $((6 * 7)) lost\r")
	s.sees(`not 42 lost\n.*\$ $`)
	again := get("?from="+position, http.StatusOK)
	if at := again.Header.Get("Kubetab-Position"); at != position || at == "0" {
		t.Errorf("the answer begins at %s instead of %s", at, position)
	}
	var text []byte
	for b := make([]byte, 4096); !regexp.MustCompile(`not 42 lost\r\n[^$]*\$ `).Match(text); {
		n, err := again.Body.Read(b)
		if text = append(text, b[:n]...); err != nil {
			t.Fatalf("%v after %q", err, text)
		}
	}
	get("?from=-1", http.StatusBadRequest)
	get("?from=x", http.StatusBadRequest)
}

func TestTypedForACommandIsReadByIt(t *testing.T) {
	s := sit(t)
	// All at once: nothing may be read ahead of the line that is for cat.
	s.types("cat > typed.txt\rone\rtwo\r\x04echo after: $(wc -l < typed.txt)\r")
	s.sees(`after: 2`)
	s.types("read -p 'name? ' name; echo \"hello $name\"\r")
	s.sees(`name\? `)
	s.types("tab\r")
	s.sees(`hello tab\n`)
}

func TestInterruptEndsAWatch(t *testing.T) {
	s := sit(t)
	s.types("kubectl get configmaps -n default -w\r")
	s.sees(`kube-root-ca.crt`)
	s.types("\x03")
	s.sees(`\^C\n.*\$ $`)
	s.types("echo $?; sleep 100\r")
	s.sees(`130\n`)
	s.types("\x03")
	s.sees(`\$ $`)
	s.types("kubectl get pods typed but not run\x03")
	s.sees(`\^C\n.*\$ $`)
	s.types("echo still here\r")
	s.sees(`(?s)echo still here\n.*still here\n`)
}

func TestEndOfInputEndsTheTerminal(t *testing.T) {
	s := sit(t)
	s.types("\x04")
	s.sees(`exit\n`)
	for range s.out { // ends
	}
}

func TestCompletion(t *testing.T) {
	post(t, httpServer(t), "kubectl create namespace completion; kubectl create configmap -n completion settings-of-the-test")
	for _, c := range []struct{ typed, sees string }{
		{"kubec\t", `kubectl $`},
		{"kubectl get configm\t", `configmaps $`},
		{"kubectl get cm -n completion sett\t", `settings-of-the-test $`},
		{"k get cm -n completion sett\t", `settings-of-the-test $`},
		{"kubectl get cm -n compl\t", `completion $`},
		{"kubectl config use-context kubetab-v\t", `kubetab-view $`},
		{"kubectl --context kubetab-v\t", `kubetab-view $`},
		{"kubectl get pods -o js\t", `json$`},
		{"FOO=1 kubectl get cm -n completion sett\t", `settings-of-the-test $`},
		{"echo x | kubectl get cm -n completion sett\t", `settings-of-the-test $`},
		{"echo $(kubectl get cm -n completion sett\t", `settings-of-the-test $`},
		{"touch 'a file.txt'; cat a\\ f\t", `a\\ file.txt $`},
		{"touch yours.yaml; cat yours.yaml\rkubectl apply -f y\t", `yours.yaml $`},
		{"touch its.yaml; cat its.yaml\rkubectl apply --filename=i\t", `--filename=its.yaml $`},
		{"mkdir -p folder/inner\rls fold\t", `folder/$`},
		{"alias kc='k -n completion' kcg='kc get'\rkcg cm sett\t", `settings-of-the-test $`},
		{"alias greeting=echo\rgreet\t", `greeting $`},
		{"alias greeting=echo; unalias greeting\rgreet\t", `greet\a$`},
		{"alias echo='echo x'\rech\t", `echo $`},
		{"salute() { echo; }\rsalu\t", `salute $`},
	} {
		t.Run(c.typed, func(t *testing.T) {
			s := sit(t)
			if before, after, ok := strings.Cut(c.typed, "; cat"); ok {
				s.types(before + "\r")
				s.sees(`\$ $`)
				c.typed = "cat" + after
			}
			s.types(c.typed)
			s.sees(c.sees)
		})
	}
	t.Run("several are listed", func(t *testing.T) {
		s := sit(t)
		s.types("kubectl config use-context kubetab-\t")
		s.sees(`(?s)kubetab-admin +kubetab-edit +kubetab-view\n.*use-context kubetab-$`)
	})
}

func TestHistory(t *testing.T) {
	s := sit(t, "echo from before", "echo latest")
	s.types("\x1b[A")
	s.sees(`echo latest$`)
	s.types("\x1b[A\r")
	s.sees(`(?s)echo from before\n.*from before\n.*\$ $`)
	s.types("\x12late")
	s.sees(`\(reverse-i-search\)` + "`late': echo latest")
	s.types("\r")
	s.sees(`(?s)latest\n.*\$ $`)
	s.types("history\r")
	text := s.sees(`(?s)1  echo from before\n +2  echo latest\n +3  echo from before\n +4  echo latest\n +5  history\n`)
	// The page is told of each line, to keep it over reloads.
	if want := ";history;" + base64.StdEncoding.EncodeToString([]byte("history")) + "\a"; !strings.Contains(text, want) {
		t.Errorf("%q has no %q", text, want)
	}
}

// TestAnOfferIsNoText: it is shown, and in the line only when it is taken.
func TestAnOfferIsNoText(t *testing.T) {
	for _, c := range []struct{ keys, sees string }{
		{"\r", `(?s)echo offered\n.*offered\n`},
		{"\t\r", `(?s)echo offered\n.*offered\n`},
		{"\x1b[C today\r", `(?s)echo offered today\n.*offered today\n`},
		{"echo mine\r", `(?s)echo mine\n.*mine\n`},
		{"\x7fecho mine\r", `(?s)echo mine\n.*mine\n`},
		{"\x03\recho other\r", `(?s)echo other\n.*other\n`},
	} {
		s := open(t, httpServer(t), map[string]any{"columns": 80, "rows": 24, "offer": "echo offered"})
		s.sees(`\$ echo offered$`)
		s.types(c.keys)
		s.sees(c.sees)
		s.types("echo a''gain\r")
		s.sees(`(?s)\nagain\n.*\$ $`) // and no offer any more
	}
}

func TestLineEditing(t *testing.T) {
	for _, c := range []struct{ keys, prints string }{
		{"echo wrld\x1b[D\x1b[D\x1b[Do\r", "world"},
		{"cho start\x01e\r", "start"},
		{"echo one two\x17three\r", "one three"},
		{"nonsense\x15echo cleared\r", "cleared"},
		{"echo ab\x02\x14\r", "ba"},
		{"echo cut here\x1bb\x0b\r", "cut"},
		{"echo yanked\x17\x19\r", "yanked"},
		{"echo 界\x7f世\r", "世"},
		{"echo del\x1b[D\x1b[3~\r", "de"},
		{"echo a\x1b[H\x1b[F b\r", "a b"},
		{"echo " + strings.Repeat("long ", 30) + "\x01\x05end\r", strings.Repeat("long ", 30) + "end"},
	} {
		s := sit(t)
		s.types(c.keys)
		s.sees(`\n` + regexp.QuoteMeta(c.prints) + `\n`)
	}
}

// Text of objects and logs must neither speak to the page nor do anything else
// to the terminal than be shown.
func TestHostileText(t *testing.T) {
	hostile := []string{
		"\x1b]7373;edit;ZTE=;L2V0Yy9wYXNzd2Q=\a", "\x1b]0;title\x1b\\", "\x1b]52;c;cm0gLXJm\a", "\x1bP$q\x1b\\", "\x1b[6n", "\x1b[c", "\x1b[?1049h",
		"\u009d7373;edit;ZTE=\u009c", "\u009b6n", "\x1bc", "\x1b[2J", "\x1b[1;1H", "\x1b_G\x1b\\", "\x1b[>0q", "\x1b[?9001h", "\r\nline", "\u202egnp.exe", "\x07", "\x0e",
		"\x1b]7373;edi\x1b]7373;edit;ZTE=\a", "\x1b\x1b]7373;edit;ZTE=\a", "\xc2\x1b]7373;edit;ZTE=\a", "\x9d7373;edit;ZTE=\a",
	}
	name := filepath.Join(shared.home, "hostile.txt")
	if err := os.WriteFile(name, []byte("begin"+strings.Join(hostile, "|")+"\x1b[31mred\x1b[0m end\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := sit(t)
	check := func(command, last string) {
		t.Helper()
		s.types(command + "\r")
		var all string
		limit := time.After(patience)
		for !strings.Contains(all, last) {
			select {
			case b := <-s.out:
				all += string(b)
			case <-limit:
				t.Fatalf("%q: no %q", all, last)
			}
		}
		_, shown, _ := strings.Cut(all, "begin")
		shown = strings.ReplaceAll(strings.ReplaceAll(shown, "\x1b[31m", ""), "\x1b[0m", "")
		if i := strings.Index(shown, "end"); i >= 0 {
			shown = shown[:i]
		}
		for _, r := range shown {
			if r < 0x20 && r != '\r' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e {
				t.Fatalf("%s lets %q through: %q", command, r, shown)
			}
		}
	}
	check("cat hostile.txt", " end\r\n")
	check("cat hostile.txt >&2", " end\r\n")
	// An object holds text only as valid UTF-8.
	if err := os.WriteFile(name, []byte(strings.ToValidUTF8("begin"+strings.Join(hostile, "|")+" end\n", "?")), 0o644); err != nil {
		t.Fatal(err)
	}
	check("kubectl create configmap hostile -n default --from-file=hostile.txt --dry-run=client -o go-template='{{index .data \"hostile.txt\"}}'", " end\r\n")
	check("echo \"$(cat hostile.txt)\"", " end\r\n")
}

// TestAnAWKProgramThatDoesNotEndIsEnded: in a tab it would hold the only thread.
func TestAnAWKProgramThatDoesNotEndIsEnded(t *testing.T) {
	s := sit(t)
	s.types("awk 'BEGIN {while (1) n++}'\r")
	s.sees(`'\n`)
	s.types("\x03")
	s.sees(`(?s)\^C.*~ \$ $`)
}
