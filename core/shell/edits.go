package shell

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// editorName is the editor that kubectl is told of. The hook that stands for
// the start of an editor knows by it that the page's is meant.
const editorName = "kubetab-edit"

// edit is a file that the page shows in its editor while a command waits.
type edit struct {
	path string
	done chan bool // whether it was saved; has room for one
}

var errNotSaved = errors.New("the edit was cancelled")

// messageOSC numbers the OSC sequences that are for the page: ESC ] 7373 ; kind
// ; fields BEL. Filter lets none of anybody else's through.
const messageOSC = 7373

// tell sends a message to the page. Fields are base64, since ";" and control
// characters would end them.
func (t *terminal) tell(kind string, fields ...string) {
	text := fmt.Sprintf("\x1b]%d;%s", messageOSC, kind)
	for _, field := range fields {
		text += ";" + base64.StdEncoding.EncodeToString([]byte(field))
	}
	_, _ = t.tty.Write([]byte(text + "\a")) // fails when nobody looks any more
}

// await has x, for which a command of the terminal id waits, among those of its kind by a token that the page is told, until forget
// is called. t is nil where there is no such terminal.
func await[T any](s *Shell, waiting map[string]T, id string, x T) (t *terminal, token string, forget func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.terminals[id]; t == nil {
		return nil, "", nil
	}
	s.last++
	token = fmt.Sprintf("w%d", s.last)
	waiting[token] = x
	return t, token, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(waiting, token)
	}
}

// Edit opens the file in the editor of the page that has the terminal id, and
// waits until it is saved or cancelled. Errors: no such terminal, the edit was
// cancelled, ctx has ended.
func (s *Shell) Edit(ctx context.Context, id, path string) error {
	e := &edit{path: path, done: make(chan bool, 1)}
	t, token, forget := await(s, s.edits, id, e)
	if t == nil {
		return errors.New("there is no editor without a terminal")
	}
	defer func() {
		forget()
		t.tell("over", token)
	}()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			return err
		}
	}
	t.tell("edit", token, path)
	select {
	case saved := <-e.done:
		if !saved {
			return errNotSaved
		}
		return nil
	case <-t.interrupted():
		return errNotSaved
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// pageEditors are the editors for which the page's stands.
var pageEditors = map[string]bool{"vi": true, "vim": true, "nvim": true, "nano": true, "emacs": true, "code": true, "edit": true, "pico": true, "micro": true}

// editor is what kubectl edits with, when the user's own is that: the page's editor, or a command such as sed -i.
func (k *session) editor(own string) string {
	if words := strings.Fields(own); len(words) > 0 && !pageEditors[path.Base(words[0])] {
		return own
	}
	return editorName + " " + k.id
}

// editFile is vi and its like: each opens the page's editor.
func (k *session) editFile(c *coreutils.Call) int {
	if len(c.Args) == 0 {
		return c.Fail("which file?")
	}
	if err := k.shell.Edit(c, k.id, c.Path(c.Args[len(c.Args)-1])); err != nil {
		return c.Fail("%v", err)
	}
	return 0
}

// LaunchEditor is for kubectl's package editor: args are the words of
// KUBE_EDITOR or EDITOR, and path the file. Errors: as Edit, and where a command that edits fails, what that says.
func (s *Shell) LaunchEditor(args []string, path string) error {
	own := kubectl.Variable("KUBE_EDITOR") // those of the process may be another terminal's
	if own == "" {
		own = strings.Join(args, " ")
	}
	words := strings.Fields(own)
	if len(words) == 0 || words[0] == editorName {
		return s.Edit(s.ctx, strings.Join(words[min(len(words), 1):], " "), path)
	}
	file, err := syntax.Quote(path, syntax.LangBash)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	editing, err := s.newSession("", nil, nil, strings.NewReader(""), &said, &said, nil, nil)
	if err != nil {
		return err
	}
	if code, _ := editing.run(kubectl.Context(), own+" "+file); code != 0 {
		return fmt.Errorf("%s: exit status %d\n%s", own, code, said.String())
	}
	return nil
}

// finishEdit is POST /kubetab/edits/{token} {"saved": bool}.
func (s *Shell) finishEdit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Saved bool `json:"saved"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&body); err != nil {
		http.Error(w, "the body is no {\"saved\": true or false}: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	e := s.edits[r.PathValue("token")]
	delete(s.edits, r.PathValue("token"))
	s.mu.Unlock()
	if e == nil {
		http.Error(w, "nobody waits for this edit any more", http.StatusNotFound)
		return
	}
	e.done <- body.Saved
	w.WriteHeader(http.StatusNoContent)
}
