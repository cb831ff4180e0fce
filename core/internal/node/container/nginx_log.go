package container

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Log formats: what the image's configuration has by the name main, and what nginx has by itself.
const (
	nginxMain     = nginxCombined + ` "$http_x_forwarded_for"`
	nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
)

// nginxLevels are those of an error log, the gravest first.
var nginxLevels = []string{"emerg", "alert", "crit", "error", "warn", "notice", "info", "debug"}

// nginxLogs are the files that an nginx writes its logs to. It keeps them open, until it is told to reopen them.
type nginxLogs struct {
	c     *Container
	mu    sync.Mutex
	open  map[string]*Handle
	main  string // the error log of the master process
	level string // the last that it tells of
}

// current returns the error log of the master process. Before it has read its configuration that is the image's.
func (l *nginxLogs) current() (file, level string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.main == "" {
		return l.file("", "error.log", "/dev/stderr"), "notice"
	}
	return l.main, l.level
}

// follow has the master process log as a configuration says.
func (l *nginxLogs) follow(all []directive) {
	if all == nil {
		return
	}
	file, level := l.errors(all)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.main, l.level = file, level
}

// handle returns the open file of a name.
func (l *nginxLogs) handle(name string) (*Handle, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.open[name]; h != nil {
		return h, nil
	}
	h, err := l.c.tree().Open(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nginxFailed("open() "+strconv.Quote(name), err)
	}
	if l.open == nil {
		l.open = map[string]*Handle{}
	}
	l.open[name] = h
	return h, nil
}

// reopen closes the files: what is written next goes to those that have the names by then.
func (l *nginxLogs) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.open {
		h.Close()
	}
	l.open = nil
}

// write adds a line to a log. One that cannot be written has nobody to tell.
func (l *nginxLogs) write(name, line string) {
	h, err := l.handle(name)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = h.Write([]byte(line + "\n"))
}

// isStream reports whether a log is what the container's processes print.
func (l *nginxLogs) isStream(name string) bool {
	h, err := l.handle(name)
	return err != nil || h.file.device != noDevice
}

// file is where a log of a name in the configuration is, or by default: in the image's folder of logs, and in an image without
// one what the container prints.
func (l *nginxLogs) file(given, name, device string) string {
	switch {
	case given == "stderr":
		return "/dev/stderr"
	case given != "":
		return coreutils.Absolute("/etc/nginx", given)
	}
	if info, err := l.c.tree().Stat("/var/log/nginx", true); err == nil && info.IsDir() {
		return "/var/log/nginx/" + name
	}
	return device
}

// errors returns the error log of the innermost of some blocks that has one, and the last level that it tells of.
func (l *nginxLogs) errors(blocks ...[]directive) (file, level string) {
	level = "error"
	for _, b := range slices.Backward(blocks) {
		d := find(b, "error_log")
		if d.name == "" || strings.HasPrefix(d.arg(), "syslog:") {
			continue
		}
		if len(d.args) > 1 {
			level = d.args[1]
		}
		return l.file(d.arg(), "error.log", "/dev/stderr"), level
	}
	return l.file("", "error.log", "/dev/stderr"), level
}

// nginxTells reports whether a log up to a level has what is of another.
func nginxTells(log, of string) bool {
	return slices.Index(nginxLevels, of) <= slices.Index(nginxLevels, log)
}

// accessLog is a log of requests: a file and what a line of it says.
type accessLog struct{ file, format string }

// accesses returns the logs of requests of the innermost of some blocks that has some.
func (l *nginxLogs) accesses(blocks ...[]directive) []accessLog {
	for i, b := range slices.Backward(blocks) {
		var all []accessLog
		said := false
		for _, d := range b {
			if d.name != "access_log" {
				continue
			}
			said = true
			if strings.HasPrefix(d.arg(), "syslog:") || d.arg() == "off" {
				continue
			}
			format := nginxCombined
			if len(d.args) > 1 {
				format = nginxFormat(blocks[:i+1], d.args[1])
			}
			all = append(all, accessLog{l.file(d.arg(), "access.log", "/dev/stdout"), format})
		}
		if said {
			return all
		}
	}
	return []accessLog{{l.file("", "access.log", "/dev/stdout"), nginxCombined}}
}

// nginxFormat is the log_format of a name, or nginx's own.
func nginxFormat(blocks [][]directive, name string) string {
	for _, b := range blocks {
		for _, d := range b {
			if d.name != "log_format" || d.arg() != name {
				continue
			}
			text := d.args[1:]
			if len(text) > 0 && strings.HasPrefix(text[0], "escape=") {
				text = text[1:]
			}
			return strings.Join(text, "")
		}
	}
	return nginxCombined
}

// prepare opens the logs that a configuration names, and those that it has without naming any. It fails as nginx does.
func (l *nginxLogs) prepare(all []directive) error {
	file, _ := l.errors(all)
	files := []string{file}
	for _, log := range l.accesses(find(all, "http").block) {
		files = append(files, log.file)
	}
	for _, file := range append(files, l.named(all)...) {
		if strings.Contains(file, "$") { // named by a request
			continue
		}
		if _, err := l.handle(file); err != nil {
			return err
		}
	}
	return nil
}

// named returns the files of the logs that a block and those in it name.
func (l *nginxLogs) named(block []directive) (files []string) {
	for _, d := range block {
		files = append(files, l.named(d.block)...)
		if d.name == "error_log" || d.name == "access_log" && d.arg() != "off" {
			if to := d.arg(); to != "" && !strings.HasPrefix(to, "syslog:") {
				files = append(files, l.file(to, "", ""))
			}
		}
	}
	return files
}

// escaped has what a log says of a request on one line.
var escaped = strings.NewReplacer(`"`, `\x22`, `\`, `\x5C`, "\n", `\x0A`, "\r", `\x0D`)

// access writes what has become of a request to the logs of a block.
func (s *nginxBlock) access(r *http.Request, block []directive, status, n int) {
	if r.Method == http.MethodHead {
		n = 0
	}
	for _, log := range s.logs.accesses(s.http, s.block, block) {
		s.logs.write(log.file, os.Expand(log.format, func(name string) string {
			text := ""
			switch name {
			case "status":
				text = strconv.Itoa(status)
			case "body_bytes_sent", "bytes_sent":
				text = strconv.Itoa(n)
			default:
				text = escaped.Replace(s.variable(name, r))
			}
			if text == "" {
				return "-"
			}
			return text
		}))
	}
}

// fail writes to the error log why a request is refused.
func (s *nginxBlock) fail(r *http.Request, block []directive, why string) {
	file, level := s.logs.errors(s.main, s.http, s.block, block)
	if !nginxTells(level, "error") {
		return
	}
	worker := s.c.worker()
	s.logs.write(file, fmt.Sprintf("%s [error] %d#%d: *%d %s, client: %s, server: %s, request: \"%s\", host: \"%s\"", s.c.stamp(nginxTime), worker, worker, s.requests.Add(1), why,
		s.variable("remote_addr", r), find(s.block, "server_name").arg(), s.variable("request", r), r.Host))
}

// missing writes to the error log that there is no such file.
func (s *nginxBlock) missing(r *http.Request, block []directive, file string, err error) {
	switch index := path.Join(file, "index.html"); {
	case !strings.HasSuffix(r.URL.Path, "/"):
		s.fail(r, block, nginxFailed("open() "+strconv.Quote(file), err).Error())
	case os.IsPermission(err):
		s.fail(r, block, "directory index of "+strconv.Quote(file+"/")+" is forbidden")
	default:
		s.fail(r, block, fmt.Sprintf("%q is not found (2: No such file or directory)", index))
	}
}
