package bash_test

import "testing"

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

// The answers are those of bash 5.2 with LC_ALL=C.UTF-8: its errors, and then what it prints.
func TestFormats(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{`printf "%.2s|%5s|%-5s|\n" éabc é é`, "\xc3\xa9|   \xc3\xa9|\xc3\xa9   |\n"},
		{`printf "%q %q %q %q %q %q\n" "a b" "" "it's" $'a\nb' "a~b" '~#x=~'`, "a\\ b '' it\\'s $'a\\nb' a~b \\~#x=\\~\n"},
		{`printf "%d\n" abc 12abc 0x1F 010 "'A" "" " 5" "5 " -3 +4`, "bash: printf: abc: invalid number\nbash: printf: 12abc: invalid number\nbash: printf: 5 : invalid number\n0\n12\n31\n8\n65\n0\n5\n5\n-3\n4\n"},
		{`printf "%f %g %e\n" 1.5x -0 2.5 1e3 100000 1000000`, "bash: printf: 1.5x: invalid number\n1.500000 -0 2.500000e+00\n1000.000000 100000 1.000000e+06\n"},
		{`printf "%z\n" 1`, "bash: printf: `\\': invalid format character\n"},
		{`printf "a%"`, "bash: printf: `%': missing format character\na"},
		{`printf "%5%|\n"`, "bash: printf: `%': invalid format character\n"},
		{`printf "%s\n"`, "\n"},
		{`printf "a%bb\n" "x\cy"; echo z`, "axz\n"},
		{`printf "%.3d|%05d|%-5d|%+d|% d|%x|%o|%u|%X|%#x|%#o\n" 5 5 5 5 5 -1 8 -1 255 255 8`, "005|00005|5    |+5| 5|ffffffffffffffff|10|18446744073709551615|FF|0xff|010\n"},
		{`printf "%*d|%-*d|%.*f|%*s|\n" 5 1 5 2 2 3.14159 -4 a`, "    1|2    |3.14|a   |\n"},
		{`printf "%(%F %T)T|%(%Y-%-m-%_d %u %V %j %k %l %P)T|%12(%F)T\n" 0 86400 0`, "1970-01-01 00:00:00|1970-1- 2 5 01 002  0 12 am|  1970-01-01\n"},
		{`printf "%c%c%3c|\n" hello "" x`, "h\x00  x|\n"},
		{`printf "%5b|%.1b|\n" "\tx" abc`, "   \tx|a|\n"},
		{`printf "%i %ld %lld %hhd\n" 1 2 3 4`, "1 2 3 4\n"},
		{`printf "%Q %.2Q\n" "a b" "a b"`, "a\\ b a\\ \n"},
		{`printf "%05.1f|%+.0f|%G|%8.3e|%.10g|%#x\n" 2.55 2.5 1e-10 12345.678 0.1 0`, "002.5|+2|1E-10|1.235e+04|0.1|0\n"},
		{`printf '\x41\101\u263a\n\e[0m\q'`, "AA\xe2\x98\xba\n\x1b[0m\\q"},
		{`printf '%b\n' 'a\0101\101\x41\n' "\\\\"`, "aAAA\n\n\\\n"},
		{`printf "%'d\n" 1234567`, "1234567\n"},
		{`printf -- "-%s\n" a`, "-a\n"},
		{`printf "%s %s\n" a b c`, "a b\nc \n"},
		{`printf "%s-%d\n" a 1 b; echo $?`, "a-1\nb-0\n0\n"},
		{`printf "no arguments\n" a b c`, "no arguments\n"},
		{`printf '%s\n' "${x[@]}"`, "\n"},
		{`printf "%5.1f%%\n" 12.34 50`, " 12.3%\n 50.0%\n"},
		{`printf -v x "%05.2f" 3.14159; echo "$x"`, "03.14\n"},
		{`printf -v x "%d" y; echo "$? $x"`, "bash: printf: y: invalid number\n1 0\n"},
		{`printf "%x %X %o\n" "'é" 255 "0x10"`, "e9 FF 20\n"},
		{`printf "%-10s|%10s|\n" left right`, "left      |     right|\n"},
		{`printf "%s" a b; printf "\n"`, "ab\n"},
		{`printf "%d%%\n" 5 | cat; printf "%d" z || echo failed`, "5%\nbash: printf: z: invalid number\n0failed\n"},
		{`builtin printf "%.1f\n" 1.25; command printf "%03d\n" 7`, "1.2\n007\n"},
		{`printf "%u %u\n" 5 " 7"`, "5 7\n"},
		{`printf "%e\n" 0x1F`, "3.100000e+01\n"},
		{`printf "%d\n" 9223372036854775807 -9223372036854775808`, "9223372036854775807\n-9223372036854775808\n"},
	} {
		if got, _ := run(t, nil, test.script+"\n:"); got != test.want {
			t.Errorf("%s prints\n%q, bash\n%q", test.script, got, test.want)
		}
	}
}
