package container

import (
	"strings"
	"testing"
)

func TestShellsSpeakAsThoseOfTheirImages(t *testing.T) {
	for _, test := range []struct {
		image string
		argv  []string
		want  string
	}{
		{"debian", []string{"sh", "-c", `echo "a\nb"`}, "a\nb\n"},
		{"nginx", []string{"/bin/sh", "-c", `echo -n "a\tb"`}, "a\tb"},
		{"debian", []string{"bash", "-c", `echo "a\nb"; echo -en "a\tb"`}, "a\\nb\na\tb"},
		{"busybox", []string{"sh", "-c", `echo "a\nb"; echo -en "a\tb"`}, "a\\nb\na\tb"},
		{"nginx:alpine", []string{"sh", "-c", `echo "a\nb"`}, "a\\nb\n"},
		{"debian", []string{"bash", "-c", "nothing; cat < nofile; :"}, "bash: nothing: command not found\nbash: nofile: No such file or directory\n"},
		{"busybox", []string{"/bin/sh", "-c", "nothing; cat < nofile; :"}, "/bin/sh: nothing: not found\n/bin/sh: can't open nofile: no such file\n"},
		{"busybox", []string{"sh", "-c", "exec echo $HOSTNAME"}, "box\n"},
		{"busybox", []string{"sh", "-c", `cd /tmp; ln -s /etc e; ls -l e | cut -c 1-10,57-; mkdir -p a/b; touch a/b/c; ls -R a; ls -dF a e`}, "lrwxrwxrwx e -> /etc\na:\nb\n\na/b:\nc\na/\ne@\n"},
		{"busybox", []string{"sh", "-c", "alias hi='echo a; echo b'\nhi c"}, "a\nb c\n"},
		{"debian", []string{"bash", "-c", "alias hi='echo a'\nhi"}, "bash: hi: command not found\n"},
		{"debian", []string{"bash", "-c", "/nothing; ./nothing; echo $?"}, "bash: /nothing: No such file or directory\nbash: ./nothing: No such file or directory\n127\n"},
		{"busybox", []string{"sh", "-c", "/nothing; echo $?"}, "sh: /nothing: not found\n127\n"},
		{"busybox", []string{"sh", "-xc", `[ a = "$HOSTNAME" ]; [[ -n $HOSTNAME ]]`}, "+ '[' a = box ']'\n+ [[ -n box ]]\n"},
		{"busybox", []string{"sh", "-c", `sleep 100 & sleep 200 & pgrep sleep; pgrep -fl '^sleep 2'; pgrep -a sh; pkill -f '^sleep 1'; wait -n; echo $?; pgrep -c sleep; killall -0 sleep && killall -9 sleep; wait $!; echo $?; pkill sleep; echo $?; killall sleep`},
			"8\n9\n9 sleep\n1 sh -c sleep 100 & sleep 200 & pgrep sleep; pgrep -fl '^sleep 2'; pgrep -a sh; pkill -f '^sleep 1'; wait -n; echo $?; pgrep -c sleep; killall -0 sleep && killall -9 sleep; wait $!; echo $?; pkill sleep; echo $?; killall sleep\n143\n1\n137\n1\nkillall: sleep: no process killed\n"},
		{"busybox", []string{"sh", "-c", `trap 'echo ended; exit 3' TERM; pkill sh; sleep 1; echo no`}, "ended\n"},
		{"busybox", []string{"echo", "-en", `a\tb`}, "a\tb"},
		{"debian", []string{"bash", "-c", `cat /dev/zero | head -c 3 | od -An -c; yes | head -n 1; dd if=/dev/zero | head -c 1 | wc -c; cat /dev/zero | true; echo ${PIPESTATUS[0]}`}, "  \\0  \\0  \\0\ny\n1\n141\n"},
		{"debian", []string{"bash", "-c", "sleep 0 & wait; kill %%; kill %1; kill 99999; kill -FOO 1; kill; sleep 9 & jobs; kill $!"},
			"bash: kill: %%: no such job\nbash: kill: %1: no such job\nbash: kill: (99999) - No such process\nbash: kill: FOO: invalid signal specification\n" +
				"kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n[1]+  Running                 sleep 9 &\n"},
		{"busybox", []string{"sh", "-c", "kill %%; kill 99999; kill -FOO 1; kill; :"},
			"sh: kill: %%: no such job\nsh: can't kill pid 99999: No such process\nsh: bad signal name 'FOO'\nsh: you need to specify whom to kill\n"},
		{"busybox", []string{"kill", "99999"}, "kill: can't kill pid 99999: No such process\n"},
		{"debian", []string{"bash", "-c", "bash --version | head -n 1; echo $BASH_VERSION $SHLVL; bash -c 'echo $SHLVL'; export -p | grep SHLVL"}, "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n5.2.15(1)-release 1\n2\ndeclare -x SHLVL=\"1\"\n"},
		{"busybox", []string{"sh", "-c", "echo $BASH_VERSION $SHLVL; export -p | grep SHLVL; env | grep SHLVL"}, "1\nexport SHLVL='1'\nSHLVL=1\n"},
		{"debian", []string{"sh", "-c", "echo \"<$SHLVL>\""}, "<>\n"},
	} {
		if got := run(t, test.image, test.argv...).output(); got != test.want {
			t.Errorf("%s: %q prints %q, want %q", test.image, test.argv, got, test.want)
		}
	}
}

// A sidecar follows a file that comes later, is replaced and is cut.
func TestTailFollowsNames(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", `tail -n+1 -F /tmp/log > /tmp/out 2>&1 &
		saw() { until grep -qs "$1" /tmp/out; do sleep 1; done; }
		saw open; echo one > /tmp/log; saw one; echo two >> /tmp/log; saw two
		echo last >> /tmp/log; mv /tmp/log /tmp/old; saw last; saw inaccessible; echo three > /tmp/log; saw three
		echo newer > /tmp/next; mv /tmp/next /tmp/log; saw newer
		rm /tmp/log; until [ $(grep -c inaccessible /tmp/out) = 2 ]; do sleep 1; done; echo four > /tmp/log; saw four
		printf '' > /tmp/log; saw truncated; echo five >> /tmp/log; saw five; kill $!; wait $!; echo $?; cat /tmp/out`)
	b.step(t, func() bool { return !b.Running() })
	want := `143
tail: can't open '/tmp/log': No such file or directory
tail: /tmp/log has appeared; following end of new file
one
two
last
tail: /tmp/log has become inaccessible: No such file or directory
tail: /tmp/log has appeared; following end of new file
three
tail: /tmp/log has been replaced; following end of new file
newer
tail: /tmp/log has become inaccessible: No such file or directory
tail: /tmp/log has appeared; following end of new file
four
tail: /tmp/log: file truncated
five
`
	if got := b.output(); got != want {
		t.Errorf("prints\n%s\nwant\n%s", got, want)
	}
}

func TestTailFollowsFiles(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", `cd /tmp; printf 'a1\na2\n' > a; echo b1 > b; tail -n 1 -f a b none /dev/null > out 2>&1 &
		saw() { until grep -qs "$1" /tmp/out; do sleep 1; done; }
		saw null; echo a3 >> a; saw a3; printf 'b2\nb3\n' >> b; saw b3; echo b4 >> b; saw b4; rm a; kill $!; cat out`)
	b.step(t, func() bool { return !b.Running() })
	want := `==> a <==
a2

==> b <==
b1
tail: can't open 'none': No such file or directory

==> /dev/null <==

==> a <==
a3

==> b <==
b2
b3
b4
`
	if got := b.output(); got != want {
		t.Errorf("prints\n%s\nwant\n%s", got, want)
	}
	if got := run(t, "busybox", "sh", "-c", `tail -f none; echo $?; seq 5 > /tmp/s; tail -n +4 /tmp/s; tail -f </tmp/s | head -n 1`).output(); got != "tail: can't open 'none': No such file or directory\n1\n4\n5\n1\n" {
		t.Errorf("prints %q", got)
	}
}

func TestFree(t *testing.T) {
	want := `              total        used        free      shared  buff/cache   available
Mem:           7952        1171        5804           0         976        6542
Swap:             0           0           0
              total        used        free      shared  buff/cache   available
Mem:           7.8G        1.2G        5.7G       1000K        977M        6.4G
`
	if got := run(t, "busybox", "sh", "-c", "free -m; free -h | head -n 2").output(); got != want {
		t.Errorf("prints\n%s\nwant\n%s", got, want)
	}
}

// Options behind the command of a watch are the command's.
func TestWatch(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", "timeout 60 watch -n 1 -t echo -n x")
	b.step(t, func() bool { return len(b.ended) > 0 })
	if got := b.output(); len(got) < 3 || strings.Trim(got, "x") != "" {
		t.Errorf("prints %q", got)
	}
}

// Programs speak as those of the image do.
func TestProgramsSpeakAsThoseOfTheirImages(t *testing.T) {
	const script = "ls no; cat no; rm no; head no; mkdir no/x; sleep x; sort no; cp no x"
	busybox := "ls: no: No such file or directory\ncat: can't open 'no': No such file or directory\nrm: can't remove 'no': No such file or directory\n" +
		"head: no: No such file or directory\nmkdir: can't create directory 'no/x': No such file or directory\nsleep: invalid number 'x'\n" +
		"sort: no: No such file or directory\ncp: can't stat 'no': No such file or directory\n"
	gnu := "ls: cannot access 'no': No such file or directory\ncat: no: No such file or directory\nrm: cannot remove 'no': No such file or directory\n" +
		"head: cannot open 'no' for reading: No such file or directory\nmkdir: cannot create directory 'no/x': No such file or directory\n" +
		"sleep: invalid time interval 'x'\nTry 'sleep --help' for more information.\n" +
		"sort: cannot read: no: No such file or directory\ncp: cannot stat 'no': No such file or directory\n"
	for image, want := range map[string]string{"busybox": busybox, "nginx:alpine": busybox, "debian": gnu, "nginx": gnu} {
		if got := run(t, image, "sh", "-c", script).output(); got != want {
			t.Errorf("%s prints %q, want %q", image, got, want)
		}
	}
}
