package container

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// What the kernel tells of a container is in /proc, as Kubernetes' documentation reads it.
func TestProc(t *testing.T) {
	b, _ := given(t, Resources{}, "busybox", "sh", "-c", "sleep 1h")
	b.step(t, func() bool { return b.firstArgv()[0] == "sleep" })
	for script, want := range map[string]string{
		"grep -c ^processor /proc/cpuinfo; nproc":            "4\n4\n",
		"grep MemTotal /proc/meminfo":                        "MemTotal:        8143860 kB\n",
		"tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm":   "sleep 1h sleep\n",
		"grep Cap[PE] /proc/1/status":                        "CapPrm:\t00000000a80425fb\nCapEff:\t00000000a80425fb\n",
		"head -n 1 /proc/self/status; cat /proc/self/comm":   "Name:\thead\ncat\n",
		"grep -E '^(Uid|Gid|Groups)' /proc/1/status":         "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nGroups:\t0 \n",
		"cat /proc/self/uid_map":                             "         0          0 4294967295\n",
		"cat /proc/loadavg | cut -d ' ' -f 1-3":              "0.00 0.00 0.00\n",
		"echo x > /proc/1/comm; echo $?":                     "sh: can't create /proc/1/comm: Read-only file system\n1\n",
		"ls /proc/77; ls -d /proc/[0-9]* | head -n 1":        "ls: /proc/77: No such file or directory\n/proc/1\n",
		"cat /proc/1/root/etc/hostname /proc/1/environ 2>&1": "cat: can't open '/proc/1/root/etc/hostname': No such file or directory\n",
		"mount | head -n 2 | cut -d ' ' -f 1-5":              "overlay on / type overlay\nproc on /proc type proc\n",
		"find / -name os-release -type f":                    "/etc/os-release\n",
	} {
		if got, _ := b.exec(t, "sh", "-c", script); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %q\nwant %q", script, got, want)
		}
	}
	if got := runAs(t, User{UID: 1000, GID: 3000, Groups: []int64{2000}}, "busybox", "grep", "-E", "^(Uid|Groups|CapEff)", "/proc/1/status").output(); got != "Uid:\t1000\t1000\t1000\t1000\nGroups:\t2000 3000 \nCapEff:\t0000000000000000\n" {
		t.Errorf("of a user: %q", got)
	}
}

// The limits of a container are in its cgroup, and change with it.
func TestCgroup(t *testing.T) {
	for _, test := range []struct {
		given Resources
		want  string
	}{
		{Resources{}, "max 100000\n1\nmax\n"},
		{Resources{CPURequest: 100, CPULimit: 200, Memory: 100 << 20}, "20000 100000\n17\n104857600\n"},
		{Resources{CPURequest: 1000, CPULimit: 5}, "1000 100000\n100\nmax\n"},
	} {
		b, _ := given(t, test.given, "busybox", "sleep", "1h")
		if got, _ := b.exec(t, "sh", "-c", "cd /sys/fs/cgroup; cat cpu.max cpu.weight memory.max"); got != test.want {
			t.Errorf("%+v: %q, want %q", test.given, got, test.want)
		}
	}
}

// An image's programs are files, which containers of a disk share until one of them
// changes something there.
func TestProgramsAreFiles(t *testing.T) {
	for _, test := range []struct{ image, script, want string }{
		{"busybox", "test -x /bin/sh && test -e /bin/ls && ! test -e /bin/bash && which ls sh; ls /bin | grep -x cat", "/bin/ls\n/bin/sh\ncat\n"},
		{"debian", "test -x /bin/bash && test -x /usr/bin/env && which bash; ls -l /bin | cut -c 1-10; readlink /bin", "/usr/bin/bash\nlrwxrwxrwx\nusr/bin\n"},
		{"nginx", "ls /usr/sbin; test -x $(which nginx) && echo yes", "nginx\nyes\n"},
		{"busybox", "rm /bin/cat && ls /bin | grep -cx cat; echo 'echo mine' > /bin/own; chmod +x /bin/own; /bin/own; rm -r /bin && ls /bin", "0\nmine\nls: /bin: No such file or directory\n"},
		{"busybox", "echo x > /bin/ls; cat /bin/ls; chmod 700 /bin/sh; stat -c %a /bin/sh /bin/cp; cp /bin/cp /tmp/c && test -x /bin/cp && ls /tmp", "x\n700\n755\nc\n"},
		{"registry.k8s.io/kubernetes-zookeeper:1.0-3.4.10", "zookeeper-ready; echo $?; rm /opt/zookeeper/bin/zookeeper-ready; zookeeper-ready; echo $?", "1\nsh: zookeeper-ready: not found\n127\n"},
	} {
		if got := run(t, test.image, "sh", "-c", test.script).output(); got != test.want {
			t.Errorf("%s: %s\n got %q\nwant %q", test.image, test.script, got, test.want)
		}
	}
	image, _ := Resolve("busybox")
	disk := NewDisk(clock.New(nil), 0)
	one, other := image.Tree(disk), image.Tree(disk)
	if err := one.Remove("/bin/cat", false); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Stat("/bin/cat", true); err != nil {
		t.Errorf("another container lost it: %v", err)
	}
}

// df and mount show the volumes, and the sizes of those in memory.
func TestMountsAndRoom(t *testing.T) {
	image, _ := Resolve("busybox")
	disk := NewDisk(clock.New(nil), 0)
	tree := image.Tree(disk)
	data, memory := disk.NewDir(0o777), disk.NewDir(0o777)
	disk.Own(memory, disk.NewTmpfs(64<<20))
	tree.Mount("/data", data, true)
	tree.Mount("/cache", memory, false)
	if err := tree.WriteFile("/cache/f", make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	b := boxOf(t, tree, "busybox", "sh", "-c", "df -h /cache/f; df | grep /data | cut -c 1-30; mount | grep -E ' /(data|cache) '; df /none")
	want := "Filesystem                Size      Used Available Use% Mounted on\ntmpfs                    64.0M      1.0M     63.0M   2% /cache\n/dev/vda1            104857600\n" +
		"/dev/vda1 on /data type ext4 (ro,relatime)\ntmpfs on /cache type tmpfs (rw,relatime,size=65536k)\ndf: /none: No such file or directory\n"
	if got := b.output(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// df tells of the room that there really is as soon as the disk is nearly full.
func TestRoomOnANearlyFullDisk(t *testing.T) {
	image, _ := Resolve("busybox")
	disk := NewDisk(clock.New(nil), 1<<20)
	tree := image.Tree(disk)
	ask := func(least, most int64, percent string) {
		t.Helper()
		_, line, _ := strings.Cut(boxOf(t, tree, "busybox", "df", "/").output(), "\n")
		got := strings.Fields(line)
		if free, err := strconv.ParseInt(got[3], 10, 64); err != nil || free < least || free > most || got[1] != "104857600" || got[4] != percent {
			t.Errorf("got %q, want between %d and %d kB available and %s", line, least, most, percent)
		}
	}
	ask(91750300, 91750400, "13%")
	if err := tree.WriteFile("/tmp/f", make([]byte, 1000<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	ask(10, 24, "100%")
}
