package awk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const table = `NAME READY STATUS RESTARTS
web-1 1/1 Running 0
web-2 0/1 Pending 3
db-0 1/1 Running 12
`

// Each program does what the machine's own awk does, where there is one; what
// is written here is what it printed.
func TestPrograms(t *testing.T) {
	for _, c := range []struct{ separator, source, in, want string }{
		{"", `{print $1}`, table, "NAME\nweb-1\nweb-2\ndb-0\n"},
		{"", `NR > 1 {print $1, $NF}`, table, "web-1 0\nweb-2 3\ndb-0 12\n"},
		{"", `$3 == "Running"`, table, "web-1 1/1 Running 0\ndb-0 1/1 Running 12\n"},
		{"", `/web/ {n++} END {print n " found"}`, table, "2 found\n"},
		{"", `$4 > 2 {print $1}`, table, "NAME\nweb-2\ndb-0\n"},
		{"", `NR > 1 && $4 >= 3 {s += $4; c++} END {printf "%d %.2f\n", s, s/c}`, table, "15 7.50\n"},
		{"", `BEGIN {print 1 + 2 * 3 ^ 2, 7 % 4, -3 + 1, 10 / 4}`, "", "19 3 -2 2.5\n"},
		{"", `BEGIN {x = "a" "b"; print x 1 + 2 "c"}`, "", "ab3c\n"},
		{"", `BEGIN {print (1 < 2) (2 < 1), !0, !"a", 1 == 1.0, "10" < "9", 10 < 9}`, "", "10 1 0 1 1 0\n"},
		{":", `{print $2; $2 = "x"; print; print NF}`, "a:b:c\n", "b\na x c\n3\n"},
		{":", `BEGIN {OFS = "-"} {$1 = $1; print}`, "a:b:c\n", "a-b-c\n"},
		{"[0-9]+", `{print $2}`, "a12b3c\n", "b\n"},
		{"", `{for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? " " : "\n")}`, "a b c\n", "c b a\n"},
		{"", `{n = split($0, parts, ","); print n, parts[1], parts[n]}`, "x,y,z\n", "3 x z\n"},
		{"", `{print length, length($1), substr($1, 2, 3), index($0, "lo"), toupper($1), tolower("AB")}`, "hello you\n", "9 5 ell 4 HELLO ab\n"},
		{"", `{print substr($0, 0), substr($0, 4, 99) "|"}`, "abcde\n", "abcde de|\n"},
		{"", `{gsub(/o/, "0"); sub(/l+/, "[&]"); print; print gsub("x", "y")}`, "foo hello\n", "f00 he[ll]0\n0\n"},
		{"", `{if (match($0, /[0-9]+/)) print RSTART, RLENGTH, substr($0, RSTART, RLENGTH)}`, "port 8080 open\n", "6 4 8080\n"},
		{"", `$1 ~ /^w/ && $3 !~ "Run" {print $1}`, table, "web-2\n"},
		{"", `/web-1/,/web-2/ {print NR}`, table, "2\n3\n"},
		{"", `{seen[$3]++} END {print seen["Running"], seen["Pending"], ("Failed" in seen)}`, table, "2 1 0\n"},
		{"", `{a[$1] = $2; delete a["x"]} END {for (k in a) n++; print n}`, "x 1\ny 2\n", "1\n"},
		{"", `BEGIN {a[1, 2] = 3; print a[1, 2], ((1, 2) in a)}`, "", "3 1\n"},
		{"", `BEGIN {while (i < 3) {i++; if (i == 2) continue; print i}; do {print "d"} while (0)}`, "", "1\n3\nd\n"},
		{"", `BEGIN {for (;;) {if (++i > 4) break}; print i}`, "", "5\n"},
		{"", `NR == 2 {next} {print NR} NR == 3 {exit}`, table, "1\n3\n"},
		{"", `BEGIN {printf "%5s|%-5s|%05d|%x|%c|%c|%%|%e\n", "a", "b", 42, 255, 65, "hey", 1.5}`, "", "    a|b    |00042|ff|A|h|%|1.500000e+00\n"},
		{"", `BEGIN {x = 5; x += 2; x *= 3; x -= 1; x /= 4; x ^= 2; x %= 7; print x, x++, x, --x}`, "", "4 4 5 4\n"},
		{"", `BEGIN {print length("世界"), substr("世界", 2), 1e3, 0.1 + 0.2, 100000 * 100000, 1/3}`, "", "2 界 1000 0.3 10000000000 0.333333\n"},
		{"", "# a comment\nBEGIN {\n  if (1)\n    print \"yes\"\n  else\n    print \"no\"\n}\n", "", "yes\n"},
		{"", `BEGIN {if (0) print "a"; else print "b"; print "tab\there \"quoted\""}`, "", "b\ntab\there \"quoted\"\n"},
		{"", `{$5 = "new"; print; print NF}`, "a b\n", "a b   new\n5\n"},
		{"", `END {print $0, NR}`, "one\nlast\n", "last 2\n"},
		{"", `{print ($1 > 1)}`, "2\n", "1\n"},
		{"", `BEGIN {print 1 / 0}`, "", "error"},
		{"", `{print $}`, "", "error"},
		{"", `BEGIN {`, "", "error"},
		{"", `BEGIN {print "a`, "", "error"},
		{"", `BEGIN {nosuch(1)}`, "", "error"},
		{"", `BEGIN {printf "%999999999d", 1}`, "", "error"},
		{"(", `{print $1}`, "a\n", ""},

		// Functions: recursion, locals, arrays by reference, a result that is not given.
		{"", `function f(n) {return n < 2 ? n : f(n - 1) + f(n - 2)} BEGIN {print f(15)}`, "", "610\n"},
		{"", `function fill(a, n,   i) {for (i = 1; i <= n; i++) a[i] = i * i} BEGIN {i = "mine"; fill(sq, 3); print sq[3], i, length(sq)}`, "", "9 mine 3\n"},
		{"", `function change(x) {x = 2; return x} BEGIN {x = 1; y = change(x); print x, y}`, "", "1 2\n"},
		{"", `function none() {return} BEGIN {print "[" none() "]", none() + 0}`, "", "[] 0\n"},
		{"", `function inner(a) {a["k"] = 1} function outer(b) {inner(b)} BEGIN {outer(z); print z["k"]}`, "", "1\n"},
		{"", `function max(a, b) {if (a > b) return a; return b} {m = max(m, $4)} END {print m}`, table, "RESTARTS\n"},
		{"", `function stop() {exit 3} BEGIN {stop(); print "never"} END {print "end"}`, "", "exit 3: end\n"},
		{"", "function twice(s)\n{\n  return s s\n}\nBEGIN { print twice(\"ab\") }", "", "abab\n"},
		{"", `function f(f1) {for (;;) {while (1) {if (f1++ > 3) return f1}}} BEGIN {print f(0)}`, "", "5\n"},
		{"", `BEGIN {f(1)}`, "", "error"},
		{"", `function f(a) {return a} BEGIN {f(1, 2)}`, "", "error"},
		{"", `function f() {f()} BEGIN {f()}`, "", "error"},
		{"", `return 1`, "", "error"},
		{"", `BEGIN {a[1]; print a}`, "", "error"},

		// getline, from the input, files and commands; output to files and commands.
		{"", `NR == 1 {getline; print "then", $0, NR} END {print NR}`, "a\nb\nc\n", "then b 2\n3\n"},
		{"", `NR == 1 {getline x; print $0, x, NR}`, "a\nb\n", "a b 2\n"},
		{"", `BEGIN {while ((getline line) > 0) n++; print n, line}`, "a\nb\n", "2 b\n"},
		{"", `BEGIN {"echo one two" | getline; print $2; "echo three" | getline x; print x}`, "", "two\nthree\n"},
		{"", `BEGIN {while (("printf 'x\\ny\\n'" | getline l) > 0) print "got", l; print close("printf 'x\\ny\\n'")}`, "", "got x\ngot y\n0\n"},
		{"", `BEGIN {print (getline l < "/nonexistent/file")}`, "", "-1\n"},
		{"", `{print $1 | "sort"} END {close("sort"); print "done"}`, "b\na\n", "a\nb\ndone\n"},
		{"", `BEGIN {print "last"; print "b\na" | "sort"}`, "", "last\na\nb\n"},
		{"", `BEGIN {f = "DIR/out"; print "x" > f; print "y" > f; close(f); print "z" >> f; close(f); while ((getline l < f) > 0) print "read", l}`, "", "read x\nread y\nread z\n"},
		{"", `BEGIN {printf "%s-%d\n", "a", 7 > "/dev/stdout"}`, "", "a-7\n"},
		{"", `BEGIN {print system("exit 3"); system("echo hi")}`, "", "3\nhi\n"},

		// Records, formats, and the rest of the functions.
		{"", `BEGIN {RS = ";"} {print NR ": " $0}`, "a;b;c", "1: a\n2: b\n3: c\n"},
		{"", `BEGIN {RS = ""} {print NR, $1, NF}`, "\n\na b\nc\n\n\nd\n", "1 a 3\n2 d 1\n"},
		{"", `BEGIN {RS = "[0-9]+"} {printf "%s,", $0}`, "a1b22c", "a,b,c,"},
		{"", `BEGIN {OFMT = "%.2f"; CONVFMT = "%.3f"; x = 3.14159; print x, x ""; print 3, 3 ""}`, "", "3.14 3.142\n3 3\n"},
		{"", `BEGIN {printf "%.3f %.3f %.3f %.3f %.3f\n", sin(1), cos(1), atan2(1, 2), exp(1), log(10)}`, "", "0.841 0.540 0.464 2.718 2.303\n"},
		{"", `BEGIN {srand(5); x = rand(); srand(5); print (x == rand()), (x < 1), srand()}`, "", "1 1 5\n"},
		{"", `BEGIN {s = "aaa"; print gsub(/x*/, "-", s), s}`, "", "4 -a-a-a-\n"},
		{"", `BEGIN {s = "foobar"; sub(/o|oo/, "<&>", s); print s}`, "", "f<oo>bar\n"},
		{"", `BEGIN {re = "^[a-c]+$"; print ("abc" ~ re), ("abd" ~ re), match("xxabc", "[a-c]+"), RSTART, RLENGTH}`, "", "1 0 3 3 3\n"},
		{"", `BEGIN {n = split("a1b22c", p, /[0-9]+/); print n, p[3]; n = split("", p); print n, length(p)}`, "", "3 c\n0 0\n"},
		{"", `BEGIN {a[1]; a[2]; delete a; print length(a); if (!(1 in a)) print "gone"}`, "", "0\ngone\n"},
		{"", `BEGIN {printf "%i|%+d|% d|%o|%X|%#x|%5.1f|%-8s|%.2s|%*d\n", 3.9, 4, 5, 8, 255, 255, 2.25, "ab", "xyz", 4, 7}`, "", "3|+4| 5|10|FF|0xff|  2.2|ab      |xy|   7\n"},
		{"", `BEGIN {print substr("hello", 2), substr("hello", 2, 0) "|", substr("hello", 9) "|", length()}`, "", "ello | | 0\n"},
		{"", `BEGIN {print ARGC, ARGV[0], ENVIRON["AWKTEST"]}`, "", "1 awk value\n"},
		{"", `BEGIN {print -3 % 2, 2 ^ 3, 2 ^ 3 ^ 0, 1 == 1, "a" < "b", 1e300 * 1e300}`, "", "-1 8 2 1 1 inf\n"},
		{"", `{$3 = ""; print; NF = 2; print; $0 = "x y z"; print NF}`, "a b c d\n", "a b  d\na b\n3\n"},
		{"", `BEGIN {exit} END {print "still"}`, "", "still\n"},
		{"", `BEGIN {print "\101\t\"q\""}`, "", "A\t\"q\"\n"},
		{"", `BEGIN { if (!("x" in a)) print "no"; a["x"]; print ("x" in a) ? "yes" : "no" }`, "", "no\nyes\n"},
		{"", `BEGIN { while (i++ < 2) for (j = 0; j < 2; j++) if (j) continue; else print i, j }`, "", "1 0\n2 0\n"},
		{"", `!seen[$1]++`, "a\nb\na\n", "a\nb\n"},
		{"", `END {print $NF; print NR % 2 ? "odd" : "even"}`, "a b\nc d\n", "d\neven\n"},
	} {
		dir := t.TempDir()
		c.source = strings.ReplaceAll(c.source, "DIR", dir)
		var out bytes.Buffer
		p, err := Parse(c.source)
		if err == nil {
			var code int
			if code, err = p.Run(config(c.separator, c.in, &out)); code != 0 {
				out = *bytes.NewBufferString(fmt.Sprintf("exit %d: %s", code, &out))
			}
		}
		got := out.String()
		if err != nil {
			got = "error"
		}
		if c.want != "" && got != c.want {
			t.Errorf("%s: %q (%v), want %q", c.source, got, err, c.want)
		}
		real, missing := exec.LookPath("awk")
		if missing != nil || c.want == "error" || c.want == "" || !isASCII(c.source) {
			continue
		}
		args := []string{c.source}
		if c.separator != "" {
			args = append([]string{"-F", c.separator}, args...)
		}
		command := exec.Command(real, args...)
		command.Stdin = strings.NewReader(c.in)
		command.Env = append(os.Environ(), "AWKTEST=value")
		text, err := command.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			text, err = fmt.Appendf(nil, "exit %d: %s", exit.ExitCode(), text), nil
		}
		if err != nil || string(text) != c.want {
			t.Errorf("%s: the machine's awk prints %q (%v), want %q", c.source, text, err, c.want)
		}
	}
}

// config is a program's on a real machine.
func config(separator, in string, out io.Writer) Config {
	return Config{
		Separator: separator, In: strings.NewReader(in), Out: out, Environment: map[string]string{"AWKTEST": "value"},
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Create: func(name string, add bool) (io.WriteCloser, error) {
			if add {
				return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			}
			return os.Create(name)
		},
		Command: func(line string, in io.Reader, out io.Writer) int {
			command := exec.Command("sh", "-c", line)
			command.Stdin, command.Stdout = in, out
			_ = command.Run() // the exit code says it
			return command.ProcessState.ExitCode()
		},
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Where awks differ, ours does what POSIX says.
func TestPOSIX(t *testing.T) {
	for _, c := range []struct{ source, in, want string }{
		{`BEGIN {RS = ""; FS = ":"} {print $1 "-" $2 "-" $3}`, "a:b\nc\n", "a-b-c\n"},
		{`BEGIN {print substr("hello", -1, 3), substr("hello", 1.5, 1)}`, "", "h e\n"},
		{`BEGIN {"echo a" | getline; "echo b" | getline x; print NR}`, "", "2\n"},
		{`function skip() {next} NR == 2 {skip()} {print NR}`, "a\nb\nc\n", "1\n3\n"}, // gawk's; POSIX leaves it open
		{`BEGIN {print 2 ** 3}`, "", "8\n"},                                           // gawk's, too
	} {
		var out bytes.Buffer
		p, err := Parse(c.source)
		if err == nil {
			_, err = p.Run(config("", c.in, &out))
		}
		if err != nil || out.String() != c.want {
			t.Errorf("%s: %q (%v), want %q", c.source, &out, err, c.want)
		}
	}
}

// Whatever comes in, there is an answer or an error.
func FuzzRun(f *testing.F) {
	f.Add(`{print $1, NF}`, "a b\n")
	f.Add(`BEGIN {a["x"] = 1; for (k in a) print k}`, "")
	f.Fuzz(func(t *testing.T, source, in string) {
		p, err := Parse(source)
		if err != nil || strings.Contains(source, "while") || strings.Contains(source, "for") || strings.Contains(source, "do") {
			return
		}
		_, _ = p.Run(Config{In: strings.NewReader(in), Out: &bytes.Buffer{}}) // any error will do
	})
}
