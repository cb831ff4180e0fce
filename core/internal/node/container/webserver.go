package container

import (
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// The small servers of files that tools have.

// folder is what such a server serves.
type folder struct {
	c       *Container
	root    string
	answer  func(w http.ResponseWriter, status int) // of what is not there
	listing func(w http.ResponseWriter, at string)  // of a folder without an index; nil: there is none
	log     func(r *http.Request, status int)
}

func (f folder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := f.serve(w, r)
	if f.log != nil {
		f.log(r, status)
	}
}

func (f folder) serve(w http.ResponseWriter, r *http.Request) int {
	t := f.c.tree()
	at := path.Join(f.root, path.Clean("/"+r.URL.Path))
	info, err := t.Stat(at, true)
	if err == nil && info.IsDir() {
		if !strings.HasSuffix(r.URL.Path, "/") {
			w.Header().Set("Location", (&url.URL{Path: r.URL.Path + "/"}).String())
			w.WriteHeader(http.StatusMovedPermanently)
			return http.StatusMovedPermanently
		}
		index, missing := t.Stat(path.Join(at, "index.html"), true)
		switch {
		case missing == nil:
			at, info = path.Join(at, "index.html"), index
		case f.listing != nil:
			f.listing(w, at)
			return http.StatusOK
		}
	}
	body, err := t.ReadFile(at)
	if err != nil {
		f.answer(w, http.StatusNotFound)
		return http.StatusNotFound
	}
	kind := mime.TypeByExtension(path.Ext(at))
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", strings.TrimSuffix(kind, "; charset=utf-8"))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client is gone: nobody to tell
	}
	return http.StatusOK
}

// fileServer returns the server that a tool's command line starts, if it does: httpd of
// busybox, or http.server of Python.
func (c *Container) fileServer(argv []string, dir string) (*Server, bool) {
	image := c.cfg.Image
	name := path.Base(argv[0])
	switch {
	case name == "httpd" && !image.Bash && !image.Bare && image.kind != "httpd":
		return c.busyboxHTTPD(argv[1:], dir), true
	case strings.HasPrefix(name, "python") && (image.unknown || image.holds(name)):
		if i := slices.Index(argv, "http.server"); i > 0 && argv[i-1] == "-m" {
			return c.pythonServer(argv[i+1:], dir), true
		}
	}
	return nil, false
}

// busyboxHTTPD is httpd of busybox.
func (c *Container) busyboxHTTPD(args []string, dir string) *Server {
	root, port, stays := dir, 80, false
	for i := 0; i < len(args); i++ {
		letters := strings.TrimPrefix(args[i], "-")
		for at := 0; at < len(letters); at++ {
			letter := letters[at]
			stays = stays || letter == 'f'
			if !strings.ContainsRune("pchrum", rune(letter)) {
				continue
			}
			value := letters[at+1:]
			if value == "" && i+1 < len(args) {
				i++
				value = args[i]
			}
			switch letter {
			case 'p':
				port, _ = strconv.Atoi(value[strings.LastIndexByte(value, ':')+1:])
			case 'h':
				root = coreutils.Absolute(dir, value)
			}
			break
		}
	}
	page := func(w http.ResponseWriter, status int) {
		text := strconv.Itoa(status) + " " + http.StatusText(status)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<HTML><HEAD><TITLE>%s</TITLE></HEAD>\n<BODY><H1>%s</H1>\nThe requested URL was not found\n</BODY></HTML>\n", text, text)
	}
	return &Server{Daemon: !stays, Ports: listen(folder{c: c.root(), root: root, answer: page}, port)}
}

// pythonServer is http.server of Python.
func (c *Container) pythonServer(args []string, dir string) *Server {
	root, port := dir, 8000
	if given := longValue(args, "-d", "--directory"); given != "" {
		root = coreutils.Absolute(dir, given)
	}
	for i, arg := range args {
		if n, err := strconv.Atoi(arg); err == nil && (i == 0 || !strings.HasPrefix(args[i-1], "-")) {
			port = n
		}
	}
	c = c.root()
	return &Server{
		Lines: []string{fmt.Sprintf("Serving HTTP on 0.0.0.0 port %d (http://0.0.0.0:%d/) ...", port, port)},
		Ports: listen(folder{
			c: c, root: root, listing: c.pythonListing(root),
			answer: func(w http.ResponseWriter, status int) {
				w.Header().Set("Content-Type", "text/html;charset=utf-8")
				w.WriteHeader(status)
				fmt.Fprintf(w, "<!DOCTYPE HTML>\n<html lang=\"en\">\n    <head>\n        <meta charset=\"utf-8\">\n        <style type=\"text/css\">\n            :root {\n                color-scheme: light dark;\n            }\n        </style>\n        <title>Error response</title>\n    </head>\n    <body>\n        <h1>Error response</h1>\n        <p>Error code: %d</p>\n        <p>Message: File not found.</p>\n        <p>Error code explanation: %d - Nothing matches the given URI.</p>\n    </body>\n</html>\n", status, status)
			},
			log: func(r *http.Request, status int) {
				from, _, _ := strings.Cut(r.RemoteAddr, ":")
				fmt.Fprintf(c.Log.Writer(Stderr), "%s - - [%s] \"%s %s HTTP/1.1\" %d -\n", from, c.stamp("02/Jan/2006 15:04:05"), r.Method, r.URL.RequestURI(), status)
			},
		}, port),
	}
}

// pythonListing shows what a folder has.
func (c *Container) pythonListing(root string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, at string) {
		entries, _ := c.tree().ReadDir(at) // it is there, and who may not read it sees nothing
		title := "Directory listing for " + html.EscapeString(path.Clean("/"+strings.TrimPrefix(at, root)))
		if !strings.HasSuffix(title, "/") {
			title += "/"
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE HTML>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"+title+"</title>\n</head>\n<body>\n<h1>"+title+"</h1>\n<hr>\n<ul>\n")
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				name += "/"
			}
			fmt.Fprintf(w, "<li><a href=\"%s\">%s</a></li>\n", html.EscapeString((&url.URL{Path: name}).EscapedPath()), html.EscapeString(name))
		}
		_, _ = io.WriteString(w, "</ul>\n<hr>\n</body>\n</html>\n")
	}
}
