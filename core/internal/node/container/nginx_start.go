package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

const (
	nginxPages = "/etc/nginx/conf.d/default.conf"
	nginxPID   = "/run/nginx.pid"
	nginxCache = "/var/cache/nginx/"
)

// nginxTemporary are the folders that nginx makes in nginxCache, in its order, and the directives that say where else.
var nginxTemporary = [][2]string{{"client_body_temp_path", "client_temp"}, {"proxy_temp_path", "proxy_temp"}, {"fastcgi_temp_path", "fastcgi_temp"}, {"uwsgi_temp_path", "uwsgi_temp"}, {"scgi_temp_path", "scgi_temp"}}

// nginxFailed is why a call of the system failed, in nginx's words.
func nginxFailed(call string, err error) error {
	number := syscall.EIO
	switch {
	case errors.As(err, &number):
	case errors.Is(err, fs.ErrNotExist):
		number = syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		number = syscall.EEXIST
	}
	return fmt.Errorf("%s failed (%d: %s)", call, int(number), coreutils.Reason(err))
}

// startNginx is nginx as the image's entrypoint starts it, or by itself.
func (c *Container) startNginx(args []string, ports []int, byEntrypoint bool) *Server {
	if len(ports) == 0 {
		ports = []int{80}
	}
	n := c.newNginx(ports)
	context.AfterFunc(c.ctx, n.logs.reopen)
	s := &Server{nginx: n, Errors: true, Daemon: !c.staysInForeground(args)}
	if byEntrypoint {
		s.Lines = n.entrypoint()
	}
	log := func(line string) { // what is printed is the server's to print
		if file, _ := n.logs.current(); n.logs.isStream(file) {
			s.Lines = append(s.Lines, line)
		} else {
			n.logs.write(file, line)
		}
	}
	tell := func(level, text string) {
		if _, most := n.logs.current(); nginxTells(most, level) {
			log(n.line(level, text))
		}
		if nginxTells("warn", level) {
			s.Lines = append(s.Lines, "nginx: ["+level+"] "+text)
		}
	}
	file, _ := n.logs.current()
	if _, err := n.logs.handle(file); err != nil {
		s.Lines = append(s.Lines, "nginx: [alert] could not open error log file: "+err.Error())
	}
	all, err := n.read()
	for _, text := range n.warnings(all) {
		tell("warn", text)
	}
	if err == nil {
		s.Ports, err = n.prepare(all)
	}
	if err == nil {
		err = n.writePID(all)
	}
	if err != nil {
		tell("emerg", err.Error())
		s.ExitsAtOnce, s.ExitCode, s.Ports = true, 1, nil
		return s
	}
	n.logs.follow(all)
	tell("notice", c.nginxSoftware())
	tell("notice", "start worker processes")
	if call := n.refused(all); call != "" {
		worker := c.worker()
		log(fmt.Sprintf("%s [emerg] %d#%d: %s failed (1: Operation not permitted)", c.stamp(nginxTime), worker, worker, call))
		log(n.line("alert", fmt.Sprintf("worker process %d exited with fatal code 2 and cannot be respawned", worker)))
		s.Ports = nil // who connects to a real one waits, as nobody accepts
	}
	return s
}

// refused is the call by which worker processes fail to become their user, "" if they do not fail.
func (n *nginx) refused(all []directive) string {
	if find(all, "events").name == "" || !n.c.cfg.User.isRoot() {
		return ""
	}
	uid, err := n.worker(all)
	switch lacks := ^n.c.cfg.Capabilities; {
	case err != nil || uid == 0:
		return ""
	case lacks&capSetgid != 0:
		return fmt.Sprintf("setgid(%d)", uid)
	case lacks&capSetuid != 0:
		return fmt.Sprintf("setuid(%d)", uid)
	}
	return ""
}

// line is one of the error log.
func (n *nginx) line(level, text string) string {
	return fmt.Sprintf("%s [%s] 1#1: %s", n.c.stamp(nginxTime), level, text)
}

// note writes a line to the error log.
func (n *nginx) note(level, text string) {
	if file, most := n.logs.current(); nginxTells(most, level) {
		n.logs.write(file, n.line(level, text))
	}
}

// prepare does what nginx does with a configuration before it takes it: it returns what answers then.
func (n *nginx) prepare(all []directive) (map[int]Listener, error) {
	listeners, err := n.listeners(all)
	if err == nil {
		err = n.makeFolders(all)
	}
	if err == nil {
		err = n.logs.prepare(all)
	}
	return listeners, err
}

// test reports what is wrong with the configuration.
func (n *nginx) test() error {
	defer n.logs.reopen()
	all, err := n.read()
	if err == nil {
		_, err = n.prepare(all)
	}
	return err
}

// configure reads the configuration anew, and returns what answers from then on.
func (n *nginx) configure() (map[int]Listener, error) {
	all, err := n.read()
	if err != nil {
		return nil, err
	}
	listeners, err := n.prepare(all)
	if err == nil {
		n.logs.reopen()
		n.logs.follow(all)
	}
	return listeners, err
}

// warnings are what nginx says of directives that it knows better than to follow.
func (n *nginx) warnings(all []directive) (texts []string) {
	if user := find(all, "user"); user.name != "" && !n.c.cfg.User.isRoot() {
		texts = append(texts, `the "user" directive makes sense only if the master process runs with super-user privileges, ignored in `+user.at())
	}
	for _, server := range find(all, "http").block {
		if ssl := find(server.block, "ssl"); ssl.name != "" && !isAfter(n.c.cfg.Image.version(), "1.24") {
			texts = append(texts, `the "ssl" directive is deprecated, use the "listen ... ssl" directive instead in `+ssl.at())
		}
	}
	return texts
}

// makeFolders makes those for requests and answers that are too long for memory, which root gives to the user of the worker
// processes. An image whose configuration is not here has other ones.
func (n *nginx) makeFolders(all []directive) error {
	if find(all, "events").name == "" {
		return nil
	}
	t, root := n.c.tree(), n.c.cfg.User.isRoot()
	uid, err := int64(-1), error(nil)
	if root {
		if uid, err = n.worker(all); err != nil {
			return err
		}
	}
	for _, folder := range nginxTemporary {
		at := nginxCache + folder[1]
		if d := find(find(all, "http").block, folder[0]); d.name != "" {
			at = coreutils.Absolute("/etc/nginx", d.arg())
		}
		if err := t.Mkdir(at, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nginxFailed("mkdir() "+strconv.Quote(at), err)
		}
		if !root {
			continue
		}
		if err := t.Chown(at, uid, -1); err != nil {
			return nginxFailed(fmt.Sprintf("chown(%q, %d)", at, uid), err)
		}
	}
	return nil
}

// worker is as whom the worker processes of a root's nginx run.
func (n *nginx) worker(all []directive) (uid int64, err error) {
	user := find(all, "user")
	name := user.arg()
	if name == "" {
		name = "nginx"
	}
	users, err := n.c.tree().ReadFile("/etc/passwd")
	if err != nil {
		return 0, nginxFailed(fmt.Sprintf("getpwnam(%q)", name), err)
	}
	a, ok := accountIn(string(users), func(a account) bool { return a.name == name })
	if !ok {
		return 0, fmt.Errorf("getpwnam(%q) failed in %s", name, user.at())
	}
	return a.uid, nil
}

// writePID writes the number of the master process to its file.
func (n *nginx) writePID(all []directive) error {
	if find(all, "events").name == "" {
		return nil
	}
	at := nginxPID
	if d := find(all, "pid"); d.name != "" {
		at = coreutils.Absolute("/etc/nginx", d.arg())
	}
	if err := n.c.tree().WriteFile(at, []byte("1\n"), 0o644); err != nil {
		return nginxFailed("open() "+strconv.Quote(at), err)
	}
	return nil
}

// entrypoint is what the scripts of the image's entrypoint do before nginx, and what they say of it.
func (n *nginx) entrypoint() []string {
	const script, ipv4, ipv6 = "10-listen-on-ipv6-by-default.sh: info: ", "listen       80;", "listen  [::]:80;"
	port := n.ports[0]
	four, six := strings.ReplaceAll(ipv4, "80", strconv.Itoa(port)), strings.ReplaceAll(ipv6, "80", strconv.Itoa(port))
	lines := []string{
		"/docker-entrypoint.sh: /docker-entrypoint.d/ is not empty, will attempt to perform configuration",
		"/docker-entrypoint.sh: Looking for shell scripts in /docker-entrypoint.d/",
		"/docker-entrypoint.sh: Launching /docker-entrypoint.d/10-listen-on-ipv6-by-default.sh",
	}
	t := n.c.tree()
	text, err := t.ReadFile(nginxPages)
	switch {
	case err != nil:
		lines = append(lines, script+strings.TrimPrefix(nginxPages, "/")+" is not a file or does not exist")
	case t.Access(nginxPages, mayWrite) != nil:
		lines = append(lines, script+"can not modify "+nginxPages+" (read-only file system?)")
	case strings.Contains(string(text), six):
		lines = append(lines, script+"IPv6 listen already enabled")
	default:
		lines = append(lines, script+"Getting the checksum of "+nginxPages)
		if string(text) != n.c.cfg.Image.files[nginxPages] {
			lines = append(lines, script+nginxPages+" differs from the packaged version")
			break
		}
		enabled := strings.Replace(string(text), four, four+"\n    "+six, 1)
		if err := t.WriteFile(nginxPages, []byte(enabled), os.ModePerm); err == nil { // full disks are nginx's to tell of
			lines = append(lines, script+"Enabled listen on IPv6 in "+nginxPages)
		}
	}
	return append(lines,
		"/docker-entrypoint.sh: Sourcing /docker-entrypoint.d/15-local-resolvers.envsh",
		"/docker-entrypoint.sh: Launching /docker-entrypoint.d/20-envsubst-on-templates.sh",
		"/docker-entrypoint.sh: Launching /docker-entrypoint.d/30-tune-worker-processes.sh",
		"/docker-entrypoint.sh: Configuration complete; ready for start up")
}
