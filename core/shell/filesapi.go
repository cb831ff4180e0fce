package shell

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// mostFile is how large a file may be that the page writes.
const mostFile = 64 << 20

// target is the path that a request is about: absolute, without its first
// slash. Only what is below the home folder and that of temporary files can be
// reached. ok is false when the request has been answered.
func (s *Shell) target(w http.ResponseWriter, r *http.Request) (path string, ok bool) {
	if err := s.prepare(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return "", false
	}
	path = filepath.Clean("/" + r.PathValue("path"))
	real := path
	for { // the folder may not be there yet
		resolved, err := filepath.EvalSymlinks(real)
		if err == nil {
			real = resolved
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || real == "/" {
			fileError(w, err)
			return "", false
		}
		real = filepath.Dir(real)
	}
	for _, root := range []string{s.config.Home, s.config.Temp} {
		root, err := filepath.EvalSymlinks(root)
		if err == nil && (real == root || strings.HasPrefix(real, root+"/") || strings.HasPrefix(root, real+"/") && real != path) {
			return path, true
		}
	}
	http.Error(w, path+" is neither in "+s.config.Home+" nor in "+s.config.Temp, http.StatusForbidden)
	return "", false
}

func fileError(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		code = http.StatusForbidden
	}
	http.Error(w, coreutils.Reason(err), code)
}

// readAtOnce is the size in bytes of a file that is read in one piece: what is sent is
// then the file of one moment. In a tab a hundred times as much would take the thread
// for a third of a second.
const readAtOnce = 1 << 20

// tagOf returns the entity tag (RFC 9110, 8.8.3) of a file's bytes.
func tagOf(data []byte) string {
	return fmt.Sprintf(`"%x"`, sha256.Sum256(data))
}

// matches reports whether the file at path has the tag that an If-Match header names.
// One that cannot be read, or is not sent with a tag, has none.
func matches(path, tag string) bool {
	if info, err := os.Stat(path); err != nil || info.Size() > readAtOnce {
		return false
	}
	data, err := os.ReadFile(path)
	return err == nil && tagOf(data) == tag
}

// sendFile answers with the bytes of a file of the given size. The length is in the
// header, so that a client that wants no large file can leave. What is sent in one
// piece has an ETag.
func sendFile(w http.ResponseWriter, path string, size int64) {
	file, err := os.Open(path)
	if err != nil {
		fileError(w, err)
		return
	}
	defer file.Close()
	var data []byte
	atOnce := size <= readAtOnce
	if atOnce {
		if data, err = io.ReadAll(file); err != nil {
			fileError(w, err)
			return
		}
		size = int64(len(data))
		w.Header().Set("ETag", tagOf(data))
	}
	// Never a type that a browser would show as a page.
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	// An error is that the client has gone, or that the file has become shorter: the
	// server ends a response that is not as long as its header says.
	if atOnce {
		_, _ = w.Write(data)
		return
	}
	_, _ = io.CopyN(w, file, size)
}

// getFile is GET /kubetab/files/{path}: the bytes of a file, a Folder as JSON,
// or with ?watch=1 the changes below it.
func (s *Shell) getFile(w http.ResponseWriter, r *http.Request) {
	path, ok := s.target(w, r)
	if !ok {
		return
	}
	if r.URL.Query().Has("watch") {
		s.files.watch(w, r, path)
		return
	}
	info, err := os.Stat(path)
	if err != nil {
		fileError(w, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if !info.IsDir() {
		sendFile(w, path, info.Size())
		return
	}
	listed, err := os.ReadDir(path)
	if err != nil {
		fileError(w, err)
		return
	}
	entries := []FileEntry{}
	for _, e := range listed {
		if info, err := e.Info(); err == nil { // not removed meanwhile
			entries = append(entries, FileEntry{e.Name(), e.IsDir(), info.Size(), info.ModTime().UTC()})
		}
	}
	respond(w, http.StatusOK, Folder{Entries: entries, Path: path})
}

// putFile is PUT /kubetab/files/{path}: it writes the file whole, and makes the
// folders that it is in. With If-Match it writes only what is to take the place of
// the text of that ETag, and answers 412 where there is another one by now, or none:
// the editor and a command, or the editors of two pages, must not undo each other's
// changes. The answer has the new ETag. A path that ends with a slash is a folder.
func (s *Shell) putFile(w http.ResponseWriter, r *http.Request) {
	path, ok := s.target(w, r)
	if !ok {
		return
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostFile))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	switch tag := r.Header.Get("If-Match"); {
	case strings.HasSuffix(r.PathValue("path"), "/"):
		err = os.MkdirAll(path, 0o755)
	case tag != "" && !matches(path, tag):
		http.Error(w, path+" was changed by something else", http.StatusPreconditionFailed)
		return
	default:
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
	}
	if err != nil {
		fileError(w, err)
		return
	}
	if len(data) <= readAtOnce {
		w.Header().Set("ETag", tagOf(data))
	}
	s.files.changed()
	w.WriteHeader(http.StatusNoContent)
}

// deleteFile is DELETE /kubetab/files/{path}, of a folder with all in it.
func (s *Shell) deleteFile(w http.ResponseWriter, r *http.Request) {
	path, ok := s.target(w, r)
	if !ok {
		return
	}
	if path == s.config.Home || path == s.config.Temp {
		http.Error(w, path+" has to stay", http.StatusForbidden)
		return
	}
	if err := s.disk().Remove(path, true); err != nil {
		fileError(w, err)
		return
	}
	s.files.changed()
	w.WriteHeader(http.StatusNoContent)
}

// watchedFiles tells watchers what has changed. Whoever may have changed a file
// says so, and the watchers look: there is no other way to learn of it in a tab.
type watchedFiles struct {
	mu   sync.Mutex
	wake map[chan struct{}]bool
}

// changed says that files may have changed.
func (f *watchedFiles) changed() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for wake := range f.wake {
		select {
		case wake <- struct{}{}:
		default: // it is going to look anyway
		}
	}
}

// follow returns a channel that receives when files may have changed, until
// stop is called.
func (f *watchedFiles) follow() (<-chan struct{}, func()) {
	wake := make(chan struct{}, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wake == nil {
		f.wake = map[chan struct{}]bool{}
	}
	f.wake[wake] = true
	return wake, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.wake, wake)
	}
}

// watch answers with a FileChange, in a line of JSON, for each file below dir that has changed
// since the request came.
func (f *watchedFiles) watch(w http.ResponseWriter, r *http.Request, dir string) {
	wake, stop := f.follow()
	defer stop()
	before := picture(dir)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	for {
		select {
		case <-wake:
		case <-r.Context().Done():
			return
		}
		now := picture(dir)
		var changes []FileChange
		for path, version := range now {
			if before[path] != version {
				changes = append(changes, FileChange{"changed", path})
			}
		}
		for path := range before {
			if _, ok := now[path]; !ok {
				changes = append(changes, FileChange{"deleted", path})
			}
		}
		before = maps.Clone(now)
		encoder := json.NewEncoder(w)
		for _, c := range changes {
			if err := encoder.Encode(c); err != nil {
				return
			}
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
}

// version tells whether a file has changed.
type version struct {
	modified time.Time
	size     int64
}

func picture(dir string) map[string]version {
	all := map[string]version{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed meanwhile
		}
		if d.IsDir() && path != dir && d.Name() == "cache" && filepath.Base(filepath.Dir(path)) == ".kube" {
			return filepath.SkipDir // kubectl's own
		}
		if info, err := d.Info(); err == nil && path != dir {
			all[path] = version{info.ModTime(), info.Size()}
			if d.IsDir() {
				all[path] = version{}
			}
		}
		return nil
	})
	return all
}
