package coreutils

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// wgetUsage is that of busybox.
const wgetUsage = busyboxVersion + `
Usage: wget [-cqS] [--spider] [-O FILE] [-o LOGFILE] [--header STR]
	[--post-data STR | --post-file FILE] [-Y on/off]
	[--no-check-certificate] [-P DIR] [-U AGENT] [-T SEC] URL...

Retrieve files via HTTP or FTP

	--spider	Only check URL existence: $? is 0 if exists
	--header STR	Add STR (of form 'header: value') to headers
	--post-data STR	Send STR using POST method
	--post-file FILE	Send FILE using POST method
	--no-check-certificate	Don't validate the server's certificate
	-c		Continue retrieval of aborted transfer
	-q		Quiet
	-P DIR		Save to DIR (default .)
	-S    		Show server response
	-T SEC		Network read timeout is SEC seconds
	-O FILE		Save to FILE ('-' for stdout)
	-o LOGFILE	Log messages to FILE
	-U STR		Use STR for User-Agent header
	-Y on/off	Use proxy
`

// wgetLong are the long options, with the letters of those that have one. A colon is behind those with an argument.
var wgetLong = map[string]string{
	"continue": "c", "quiet": "q", "server-response": "S", "output-document": "O:", "output-file": "o:", "directory-prefix": "P:",
	"proxy": "Y:", "user-agent": "U:", "timeout": "T:", "tries": "t:", "header": ":", "post-data": ":", "post-file": ":",
	"spider": "", "no-check-certificate": "", "passive-ftp": "", "no-cache": "", "no-verbose": "", "no-clobber": "",
	"no-host-directories": "", "no-parent": "",
}

// wgetCommand is one run of wget. Messages go to log.
type wgetCommand struct {
	*Call
	log       io.Writer
	on        map[string]bool
	value     map[string]string // the last one of each option
	header    http.Header
	addresses []string
	limit     time.Duration
}

// wget gets what addresses have, as busybox does.
func wget(k *Call) int {
	w := &wgetCommand{Call: k, log: k.Stderr, on: map[string]bool{}, value: map[string]string{}, header: http.Header{}}
	if wrong := w.parse(); wrong != "" || len(w.addresses) == 0 {
		if wrong != "" {
			k.Fail("%s", wrong)
		}
		fmt.Fprint(k.Stderr, wgetUsage)
		return 1
	}
	if text, ok := w.value["T"]; ok {
		seconds, err := strconv.Atoi(text)
		if err != nil {
			return k.Fail("invalid number '%s'", text)
		}
		w.limit = time.Duration(seconds) * time.Second
	}
	if name, ok := w.value["o"]; ok {
		file, err := k.Files.Open(k.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return k.Fail("can't open '%s': %s", name, Reason(err))
		}
		defer file.Close()
		w.log = file
	}
	w.header.Set("User-Agent", "Wget")
	if agent, ok := w.value["U"]; ok {
		w.header.Set("User-Agent", agent)
	}
	for _, address := range w.addresses {
		if code := w.get(address); code != 0 {
			return code
		}
	}
	return 0
}

// parse reads the arguments. It returns what is wrong with them, "" for nothing.
func (w *wgetCommand) parse() (wrong string) {
	args := w.Args
	next := func() (value string, ok bool) {
		if len(args) == 0 {
			return "", false
		}
		value, args = args[0], args[1:]
		return value, true
	}
	for {
		arg, ok := next()
		switch {
		case !ok:
			return ""
		case arg == "--":
			w.addresses = append(w.addresses, args...)
			return ""
		case strings.HasPrefix(arg, "--"):
			name, value, given := strings.Cut(arg[2:], "=")
			letter, known := wgetLong[name]
			short, takes := strings.CutSuffix(letter, ":")
			switch {
			case !known:
				return fmt.Sprintf("unrecognized option '--%s'", name)
			case given && !takes:
				return fmt.Sprintf("option '--%s' doesn't allow an argument", name)
			case takes && !given:
				if value, ok = next(); !ok {
					return fmt.Sprintf("option '--%s' requires an argument", name)
				}
			}
			w.set(short, name, value)
		case len(arg) > 1 && arg[0] == '-':
			for letters := arg[1:]; letters != ""; letters = letters[min(1, len(letters)):] {
				letter := letters[:1]
				switch {
				case strings.Contains("cqSn", letter):
					w.set(letter, letter, "")
					continue
				case !strings.Contains("OoPYUTt", letter):
					return fmt.Sprintf("invalid option -- '%s'", letter)
				}
				value := letters[1:]
				if value == "" {
					if value, ok = next(); !ok {
						return fmt.Sprintf("option requires an argument -- '%s'", letter)
					}
				}
				w.set(letter, letter, value)
				letters = ""
			}
		default:
			w.addresses = append(w.addresses, arg)
		}
	}
}

func (w *wgetCommand) set(letter, name, value string) {
	if letter != "" {
		name = letter
	}
	w.on[name], w.value[name] = true, value
	if name == "header" {
		addHeader(w.header, value)
	}
}

// says prints a message unless it is to be quiet.
func (w *wgetCommand) says(format string, args ...any) {
	if !w.on["q"] {
		fmt.Fprintf(w.log, format+"\n", args...)
	}
}

// get gets what one address has.
func (w *wgetCommand) get(address string) int {
	method, body := http.MethodGet, io.Reader(nil) // also with --spider
	switch name, posts := w.value["post-file"]; {
	case w.on["post-data"]:
		method, body = http.MethodPost, strings.NewReader(w.value["post-data"])
	case posts:
		file, err := w.open(name)
		if err != nil {
			return w.Fail("can't open '%s': %s", name, Reason(err))
		}
		defer file.Close()
		method, body = http.MethodPost, file
	}
	remote, own := "", *w.Call
	own.Context = httptrace.WithClientTrace(w.Context, &httptrace.ClientTrace{ConnectStart: func(_, at string) {
		remote = at
		if name, port, err := net.SplitHostPort(hostOf(address)); err == nil {
			if strings.Contains(schemed(address), "://"+name+":"+port) {
				name += ":" + port
			}
			w.says("Connecting to %s (%s)", name, at)
		}
	}})
	response, err := own.Request(method, address, body, w.header, true, w.limit)
	if remote == "" { // who is asked is none of the cluster's
		remote = hostOf(address)
	}
	if err != nil {
		return w.lost(err, remote)
	}
	defer response.Body.Close()
	if w.on["S"] {
		w.responds(response)
	}
	if response.StatusCode >= 400 {
		return w.Fail("server returned error: %s %s", response.Proto, response.Status)
	}
	if w.on["spider"] {
		w.says("remote file exists")
		return 0
	}
	return w.save(response.Body, w.output(address))
}

// lost says why there is no answer.
func (w *wgetCommand) lost(err error, remote string) int {
	defer w.advise(err)
	dns, text := Lost(err)
	switch {
	case dns:
		return w.Fail("bad address '%s'", text)
	case errors.Is(err, context.Canceled):
		return w.Fail("download timed out")
	case isPlain(err):
		return w.Fail("error getting response: wrong version number")
	}
	why := "Connection refused"
	switch {
	case os.IsTimeout(err), errors.Is(err, os.ErrDeadlineExceeded):
		why = "Connection timed out"
	case errors.Is(err, syscall.EHOSTUNREACH):
		why = "No route to host"
	}
	if ip, _, err := net.SplitHostPort(remote); err == nil {
		remote = ip
	}
	return w.Fail("can't connect to remote host (%s): %s", remote, why)
}

// responds shows the head of an answer.
func (w *wgetCommand) responds(response *http.Response) {
	fmt.Fprintf(w.log, "  %s %s\n", response.Proto, response.Status)
	var head strings.Builder
	_ = response.Header.Write(&head) // a builder takes it all
	if response.ContentLength >= 0 && response.Header.Get("Content-Length") == "" {
		fmt.Fprintf(&head, "Content-Length: %d\r\n", response.ContentLength)
	}
	lines := strings.Split(strings.TrimSuffix(head.String(), "\r\n"), "\r\n")
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintf(w.log, "  %s\n", line)
	}
	fmt.Fprintln(w.log, "  ")
}

// output is the file that what an address has is saved to: the last part of its path, with the query.
func (w *wgetCommand) output(address string) string {
	if name, ok := w.value["O"]; ok {
		return name
	}
	_, rest, _ := strings.Cut(schemed(address), "://")
	rest, _, _ = strings.Cut(rest, "#")
	name := ""
	if at := strings.LastIndexByte(rest, '/'); at >= 0 {
		name = rest[at+1:]
	}
	if name == "" {
		name = "index.html"
	}
	return path.Join(w.value["P"], name)
}

// save writes what comes to a file, or to standard output.
func (w *wgetCommand) save(from io.Reader, name string) int {
	if name == "-" {
		w.says("writing to stdout")
		n, err := io.Copy(w.Stdout, from)
		if err != nil {
			return 1
		}
		w.progress(name, n)
		w.says("written to stdout")
		return 0
	}
	if _, err := w.Files.Stat(w.Path(name), false); err == nil && !w.on["O"] && !w.on["c"] {
		return w.Fail("can't open '%s': File exists", name)
	}
	file, err := w.Files.Open(w.Path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return w.Fail("can't open '%s': %s", name, Reason(err))
	}
	w.says("saving to '%s'", name)
	n, err := io.Copy(file, from)
	if err = errors.Join(err, file.Close()); err != nil {
		return w.Fail("write error: %s", Reason(err))
	}
	w.progress(name, n)
	w.says("'%s' saved", name)
	return 0
}

// progress is the line of what has come whole: what is under way is not shown.
func (w *wgetCommand) progress(name string, n int64) {
	if w.on["q"] || w.on["o"] || n == 0 {
		return
	}
	scale := 0
	for ; n >= 100_000; n >>= 10 {
		scale++
	}
	fmt.Fprintf(w.log, "%-20.20s 100%% |%s|%6d%c 0:00:00 ETA\n", path.Base(name), strings.Repeat("*", 32), n, " kMG"[scale])
}
