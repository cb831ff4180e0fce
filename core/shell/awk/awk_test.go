package awk

import (
	"bytes"
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
		{"", `{print $1 > 1}`, "x\n", "error"},
		{"", `{print ($1 > 1)}`, "2\n", "1\n"},
		{"", `BEGIN {print 1 / 0}`, "", "error"},
		{"", `{print $}`, "", "error"},
		{"", `BEGIN {`, "", "error"},
		{"", `BEGIN {print "a`, "", "error"},
		{"", `function f(x) {return x}`, "", "error"},
		{"", `BEGIN {nosuch(1)}`, "", "error"},
		{"", `BEGIN {printf "%999999999d", 1}`, "", "error"},
		{"(", `{print $1}`, "a\n", ""},
	} {
		var out bytes.Buffer
		p, err := Parse(c.source)
		if err == nil {
			_, err = p.Run(Config{Separator: c.separator, In: strings.NewReader(c.in), Out: &out})
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
		if text, err := command.Output(); err != nil || string(text) != c.want {
			t.Errorf("%s: the machine's awk prints %q (%v), want %q", c.source, text, err, c.want)
		}
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
