package container

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// What a user may do with files is what the kernel says: by the bits of the owner, of
// the group or of others, the first that apply, and root may do everything.
func TestPermissions(t *testing.T) {
	disk := NewDisk(clock.New(nil), 0)
	root := disk.NewTree()
	if err := root.MkdirAll("/data/drop", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name     string
		mode     fs.FileMode
		uid, gid int64
	}{
		{"/data/root", 0o600, 0, 0}, {"/data/all", 0o666, 0, 0}, {"/data/own", 0o400, 1000, 0}, {"/data/group", 0o060, 0, 2000},
		{"/data/owner-may-not", 0o077, 1000, 2000}, {"/tmp/theirs", 0o666, 5, 5},
	} {
		if err := root.WriteFile(f.name, []byte(f.name), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := root.Chown(f.name, f.uid, f.gid); err != nil {
			t.Fatal(err)
		}
		if err := root.Chmod(f.name, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.Chmod("/data/drop", 0o733); err != nil {
		t.Fatal(err)
	}
	user := *root
	user.user = User{UID: 1000, GID: 3000, Groups: []int64{2000}}
	read := func(name string) func() error { return func() error { _, err := user.ReadFile(name); return err } }
	write := func(name string) func() error {
		return func() error { return user.WriteFile(name, []byte("x"), 0o644) }
	}
	for _, test := range []struct {
		what string
		do   func() error
		want string // "" for no error
	}{
		{"read what is root's", read("/data/root"), "permission denied"},
		{"read what is everybody's", read("/data/all"), ""},
		{"write what is everybody's", write("/data/all"), ""},
		{"read one's own", read("/data/own"), ""},
		{"write one's own without the bit", write("/data/own"), "permission denied"},
		{"write the group's", write("/data/group"), ""},
		{"read as owner what others may", read("/data/owner-may-not"), "permission denied"},
		{"make a file in root's folder", write("/data/new"), "permission denied"},
		{"make a folder there", func() error { return user.Mkdir("/data/new", 0o755) }, "permission denied"},
		{"make one that is there", func() error { return user.Mkdir("/data/drop", 0o755) }, "file already exists"},
		{"link there", func() error { return user.Symlink("a", "/data/new") }, "permission denied"},
		{"remove from there", func() error { return user.Remove("/data/all", false) }, "permission denied"},
		{"look into root's home", func() error { _, err := user.Stat(rootsHome+"/x", true); return err }, "permission denied"},
		{"list a folder without the bit for reading", func() error { _, err := user.ReadDir("/data/drop"); return err }, "permission denied"},
		{"write into that folder", write("/data/drop/new"), ""},
		{"remove somebody's file from /tmp", func() error { return user.Remove("/tmp/theirs", false) }, "operation not permitted"},
		{"rename it", func() error { return user.Rename("/tmp/theirs", "/tmp/mine") }, "operation not permitted"},
		{"make a file in /tmp that only others may write to", func() error { return user.WriteFile("/tmp/new", []byte("x"), 0o444) }, ""},
		{"remove one's own from there", func() error { return user.Remove("/tmp/new", false) }, ""},
		{"change the mode of what is root's", func() error { return user.Chmod("/data/all", 0o777) }, "operation not permitted"},
		{"change the mode of one's own", func() error { return user.Chmod("/data/own", 0o600) }, ""},
		{"give one's own to somebody", func() error { return user.Chown("/data/own", 7, -1) }, "operation not permitted"},
		{"give one's own to one's group", func() error { return user.Chown("/data/own", -1, 2000) }, ""},
		{"give one's own to another group", func() error { return user.Chown("/data/own", -1, 4) }, "operation not permitted"},
		{"as root: read what nobody may", func() error { _, err := root.ReadFile("/data/group"); return err }, ""},
		{"as root: run what nobody may", func() error { return root.Access("/data/all", mayEnter) }, "permission denied"},
	} {
		err := test.do()
		got := ""
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			got = at.Err.Error()
		} else if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	info, err := root.Stat("/data/drop/new", true)
	if err != nil {
		t.Fatal(err)
	}
	if uid, gid := info.(interface{ Owner() (int64, int64) }).Owner(); uid != 1000 || gid != 3000 {
		t.Errorf("a new file is %d:%d's, want 1000:3000", uid, gid)
	}
}

// Whose a process is, id, whoami, ps and the prompt tell.
func TestUsers(t *testing.T) {
	for script, want := range map[string]string{
		`id; id -u; id -g; id -G; echo $HOME`:                                                                  "uid=1000 gid=3000 groups=2000,3000\n1000\n3000\n3000 2000\n/\n",
		`whoami || echo unknown`:                                                                               "whoami: unknown uid 1000\nunknown\n",
		`touch /etc/x || echo refused`:                                                                         "touch: /etc/x: Permission denied\nrefused\n",
		`echo x > /etc/x || echo refused`:                                                                      "sh: can't create /etc/x: Permission denied\nrefused\n",
		"cd " + rootsHome + " || echo refused":                                                                 "sh: cd: can't cd to " + rootsHome + ": Permission denied\nrefused\n",
		`[ -w /etc/passwd ] || echo no; [ -r /etc/passwd ] && echo yes`:                                        "no\nyes\n",
		`cd /tmp; touch a; chmod u=rwx,g+w,o= a; chgrp 2000 a; stat -c '%a %A %u:%g %U %F' a`:                  "760 -rwxrw---- 1000:2000 1000 regular empty file\n",
		`cd /tmp; mkdir d; chmod 2775 d; chgrp 2000 d; chmod g+s d; touch d/f; ls -ld d d/f | cut -c1-30`:      "drwxrwsr-x    1 1000     2000 \n-rw-r--r--    1 1000     2000 \n",
		`cd /tmp; touch a; chown 5 a; echo $?; chmod u+q a; echo $?`:                                           "chown: a: Operation not permitted\n1\nchmod: invalid mode 'u+q'\n1\n",
		`cd /tmp; mkdir -p d/e; touch d/e/f; chmod -R go-rwx d; stat -c %a d d/e d/e/f; chmod -x d; cat d/e/f`: "700\n700\n600\ncat: can't open 'd/e/f': Permission denied\n",
	} {
		t.Run(script, func(t *testing.T) {
			b := runAs(t, User{UID: 1000, GID: 3000, Groups: []int64{2000}}, "busybox", "sh", "-c", script)
			if got := b.output(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
	if got := run(t, "nginx", "sh", "-c", "id; whoami; ls -ld ~ /tmp | cut -c1-30").output(); got != "uid=0(root) gid=0(root) groups=0(root)\nroot\ndrwx------    1 root     root \ndrwxrwxrwt    1 root     root \n" {
		t.Errorf("as root: %q", got)
	}
}

// The accounts are those of the image, and programs say it in the words of its distribution.
func TestAccounts(t *testing.T) {
	guest := func(image string) User {
		i, err := Resolve(image)
		if err != nil {
			t.Fatal(err)
		}
		gid, groups := i.Groups(405)
		return User{UID: 405, GID: gid, Groups: groups}
	}
	for _, test := range []struct {
		image string
		as    User
		lines string
		want  string
	}{
		{"alpine", guest("alpine"), "id; whoami", "uid=405(guest) gid=100(users) groups=100(users)\nguest\n"},
		{"busybox", guest("busybox"), "id", "uid=405 gid=0(root) groups=0(root)\n"},
		{"alpine", User{}, "touch f; chown guest f; stat -c %U:%u f", "guest:405\n"},
		{"alpine", User{}, "id nobody; id -u nobody; id -gn guest; id games; id nosuch; echo $?", "uid=65534(nobody) gid=65534(nobody) groups=65534(nobody)\n65534\nusers\nuid=35(games) gid=35(games) groups=35(games),100(users)\nid: unknown user nosuch\n1\n"},
		{"debian", User{}, "id nosuch; echo $?", "id: 'nosuch': no such user\n1\n"},
		{"debian", User{UID: 1000, GID: 3000, Groups: []int64{4000, 2000}}, "id; id -G", "uid=1000 gid=3000 groups=3000,2000,4000\n3000 2000 4000\n"},
		{"alpine", User{}, "date -s '2020-01-02 03:04:05'; echo $?", "Thu Jan  2 03:04:05 UTC 2020\ndate: can't set date: Operation not permitted\n0\n"},
		{"debian", User{}, "date --set=2020-01-02 +%F; echo $?; date -s never; date -d @0 +%F", "2020-01-02\ndate: cannot set date: Operation not permitted\n1\ndate: invalid date 'never'\n1970-01-01\n"},
	} {
		if got := runAs(t, test.as, test.image, "sh", "-c", test.lines).output(); got != test.want {
			t.Errorf("%s: %s: %q, want %q", test.image, test.lines, got, test.want)
		}
	}
}

// Builtins of the shell are programs, too.
func TestBuiltinsByPath(t *testing.T) {
	if got := run(t, "busybox", "sh", "-c", "/bin/echo -n a; /usr/bin/printf '%s\\n' b; /bin/true && /bin/false || /usr/bin/[ -d / ] && /bin/test x = y; echo $?").output(); got != "ab\n1\n" {
		t.Errorf("%q", got)
	}
	if _, err := tryRun(t, "busybox", "exit", "1"); err == nil {
		t.Error("exit is a program")
	}
}

// The end-to-end tests' program says what files are like.
func TestAgnhost(t *testing.T) {
	const image = "registry.k8s.io/e2e-test-images/agnhost:2.66"
	for _, test := range []struct {
		argv []string
		want string
	}{
		{[]string{"/agnhost", "mounttest", "--new_file_0666=/tmp/f", "--file_perm=/tmp/f", "--file_mode=/tmp", "--file_owner=/tmp/f"},
			"content of file \"/tmp/f\": mount-tester new file\n\nmode of file \"/tmp\": dtrwxrwxrwx\nperms of file \"/tmp/f\": -rw-rw-rw-\nowner UID of \"/tmp/f\": 1000\nowner GID of \"/tmp/f\": 3000\n"},
		{[]string{"/agnhost", "mounttest", "--file_content=/none", "--fs_type=/etc"},
			"mount type of \"/etc\": overlay\nerror reading file content for \"/none\": open /none: file does not exist\n"},
		{[]string{"/agnhost", "mounttest", "--none"}, "Error: unknown flag: --none\n"},
		{[]string{"/agnhost-2", "entrypoint-tester", "--a", "b"}, "[/agnhost-2 entrypoint-tester --a b]\n"},
		{[]string{"/agnhost", "connect", "nowhere:80"}, "REFUSED\n"},
	} {
		b := runAs(t, User{UID: 1000, GID: 3000}, image, test.argv...)
		if got := b.output(); got != test.want {
			t.Errorf("%v: %q, want %q", test.argv, got, test.want)
		}
	}
	if _, err := tryRun(t, "busybox", "/agnhost", "mounttest"); err == nil {
		t.Error("agnhost is in busybox")
	}
}

// A shell in a chroot has the folder as its root, and what it does there is done in the folder.
func TestChroot(t *testing.T) {
	const script = `mkdir -p /host/etc; echo node > /host/etc/hostname; chroot /host sh -c 'cat /etc/hostname; pwd; echo made > /new; cat /../../etc/hostname'; cat /host/new; chroot /none sh; echo $?; chroot /host nosuch; echo $?; echo 'cat /etc/hostname' | chroot /host`
	const want = "node\n/\nnode\nmade\nchroot: can't change root directory to '/none': No such file or directory\n1\nchroot: can't execute 'nosuch': No such file or directory\n127\nnode\n"
	b, err := tryRunWith(t, func(c *Config) { c.Dir = "/tmp" }, "busybox", "sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.output(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := runAs(t, User{UID: 1000}, "busybox", "chroot", "/tmp", "ls").output(); got != "chroot: can't change root directory to '/tmp': Operation not permitted\n" {
		t.Errorf("as a user: %q", got)
	}
}

// Root without the capability gives no file away, and goes on doing what it needs none for.
func TestChownTakesACapability(t *testing.T) {
	for may, want := range map[uint64]string{defaultCapabilities: "1000\n", 0: "chown: /f: Operation not permitted\n0\n"} {
		b, err := tryRunWith(t, func(c *Config) { c.Capabilities = may }, "busybox", "sh", "-c", "touch /f; chown 1000 /f; chmod 600 /f; chown root /root; stat -c %u /f")
		if err != nil {
			t.Fatal(err)
		}
		if got := b.output(); got != want {
			t.Errorf("capabilities %x: %q", may, got)
		}
	}
}

// /var/run is a link to /run, for what is mounted there as well.
func TestRunIsOneFolder(t *testing.T) {
	tree := NewDisk(clock.New(nil), 0).NewTree()
	tree.Mount("/var/run", tree.disk.NewDir(0o777), false)
	tree.Mount("/var/run/secrets", tree.disk.NewDir(0o755), true)
	if err := tree.WriteFile("/run/a.pid", []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	if data, err := tree.ReadFile("/var/run/a.pid"); string(data) != "1" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if err := tree.WriteFile("/run/secrets/a", nil, 0o644); !errors.Is(err, syscall.EROFS) {
		t.Errorf("to what is mounted read-only: %v", err)
	}
}
