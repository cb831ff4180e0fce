package container

import (
	"slices"
	"strconv"
	"strings"
)

// Users and groups of Alpine, as its package alpine-baselayout has them.
const (
	alpineAccounts = "root:x:0:0:root:/root:/bin/sh\nbin:x:1:1:bin:/bin:/sbin/nologin\ndaemon:x:2:2:daemon:/sbin:/sbin/nologin\nlp:x:4:7:lp:/var/spool/lpd:/sbin/nologin\n" +
		"sync:x:5:0:sync:/sbin:/bin/sync\nshutdown:x:6:0:shutdown:/sbin:/sbin/shutdown\nhalt:x:7:0:halt:/sbin:/sbin/halt\nmail:x:8:12:mail:/var/mail:/sbin/nologin\n" +
		"news:x:9:13:news:/usr/lib/news:/sbin/nologin\nuucp:x:10:14:uucp:/var/spool/uucppublic:/sbin/nologin\ncron:x:16:16:cron:/var/spool/cron:/sbin/nologin\n" +
		"ftp:x:21:21::/var/lib/ftp:/sbin/nologin\nsshd:x:22:22:sshd:/dev/null:/sbin/nologin\ngames:x:35:35:games:/usr/games:/sbin/nologin\nntp:x:123:123:NTP:/var/empty:/sbin/nologin\n" +
		"guest:x:405:100:guest:/dev/null:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n"
	alpineGroups = "root:x:0:root\nbin:x:1:root,bin,daemon\ndaemon:x:2:root,bin,daemon\nsys:x:3:root,bin\nadm:x:4:root,daemon\ntty:x:5:\ndisk:x:6:root\nlp:x:7:lp\nkmem:x:9:\nwheel:x:10:root\n" +
		"floppy:x:11:root\nmail:x:12:mail\nnews:x:13:news\nuucp:x:14:uucp\ncron:x:16:cron\naudio:x:18:\ncdrom:x:19:\ndialout:x:20:root\nftp:x:21:\nsshd:x:22:\ninput:x:23:\ntape:x:26:root\n" +
		"video:x:27:root\nnetdev:x:28:\nkvm:x:34:kvm\ngames:x:35:\nshadow:x:42:\nwww-data:x:82:\nusers:x:100:games\nntp:x:123:\nabuild:x:300:\nutmp:x:406:\nping:x:999:\nnogroup:x:65533:\nnobody:x:65534:\n"
)

// accounts returns what the image has as /etc/passwd and /etc/group.
func (i Image) accounts() (users, groups string) {
	users, groups = accounts, accountGroups
	if strings.Contains(i.Name, "alpine") {
		users, groups = alpineAccounts, alpineGroups
	}
	if user, ok := servers[i.kind]; ok {
		users += user.name + ":x:" + user.id + ":" + user.id + "::/nonexistent:/bin/false\n"
		groups += user.name + ":x:" + user.id + ":\n"
	}
	return users, groups
}

// account is a line of /etc/passwd.
type account struct {
	name     string
	uid, gid int64
}

// accountIn returns the first account of a file that is as wanted.
func accountIn(users string, is func(account) bool) (account, bool) {
	for line := range strings.Lines(users) {
		fields := strings.Split(line, ":")
		if len(fields) < 4 {
			continue
		}
		uid, errUID := strconv.ParseInt(fields[2], 10, 64)
		gid, errGID := strconv.ParseInt(fields[3], 10, 64)
		if a := (account{fields[0], uid, gid}); errUID == nil && errGID == nil && is(a) {
			return a, true
		}
	}
	return account{}, false
}

// groupsOf returns the groups of a file that a user is said to be in.
func groupsOf(groups, name string) []int64 {
	var all []int64
	for line := range strings.Lines(groups) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 4 || !slices.Contains(strings.Split(fields[3], ","), name) {
			continue
		}
		if gid, err := strconv.ParseInt(fields[2], 10, 64); err == nil {
			all = append(all, gid)
		}
	}
	return all
}

// Groups returns what a container runtime takes from the image for a user: his own group, which is root's for who has no
// account, and the groups that he is in.
func (i Image) Groups(uid int64) (gid int64, more []int64) {
	users, groups := i.accounts()
	a, ok := accountIn(users, func(a account) bool { return a.uid == uid })
	if !ok {
		return 0, nil
	}
	return a.gid, groupsOf(groups, a.name)
}
