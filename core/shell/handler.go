package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// Handler serves /kubetab/ to the page:
//
//	POST   /kubetab/terminals             {columns, rows, history, directory, offer} -> 201 {id, home}
//	GET    /kubetab/terminals/{id}/output the bytes for the screen, until the terminal ends
//	POST   /kubetab/terminals/{id}/input  the bytes that were typed
//	PUT    /kubetab/terminals/{id}/size   {columns, rows}
//	DELETE /kubetab/terminals/{id}
//	POST   /kubetab/run                   {command, directory, context} -> {stdout, stderr, exitCode}
//	GET, PUT, DELETE /kubetab/files/{path}  a file, or a folder as JSON; ?watch=1 for changes below it
//	POST   /kubetab/edits/{token}         {saved}
//	GET    /kubetab/scripts/{token}       {name, text}, for one; {token}/end ends with the command that waits
//	POST   /kubetab/scripts/{token}       {stdout, stderr, code}: what it has printed, and with a code its end
//	GET, PUT /kubetab/kubeconfig          the terminal's kubeconfig, as it outlives the engine
//	GET, PUT /kubetab/identity            {context, user, groups}; ?watch=1 for a line at each change
//
// The output of a terminal holds messages to the page as OSC sequences with the
// number 7373, a kind, and fields in base64: history (a line that was entered),
// edit (a token and the path of a file to edit: answer with a POST to
// /kubetab/edits), edited (a token that nobody waits for any more), script (a
// token: see /kubetab/scripts).
//
// A request with credentials is refused: the page has none and needs none,
// while who brings some is somebody else.
func (s *Shell) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /kubetab/terminals", s.createTerminal)
	mux.HandleFunc("GET /kubetab/terminals/{id}/output", s.withTerminal(s.output))
	mux.HandleFunc("POST /kubetab/terminals/{id}/input", s.withTerminal(s.input))
	mux.HandleFunc("PUT /kubetab/terminals/{id}/size", s.withTerminal(s.resize))
	mux.HandleFunc("DELETE /kubetab/terminals/{id}", s.withTerminal(s.deleteTerminal))
	mux.HandleFunc("POST /kubetab/run", s.runCommand)
	mux.HandleFunc("GET /kubetab/files/{path...}", s.getFile)
	mux.HandleFunc("PUT /kubetab/files/{path...}", s.putFile)
	mux.HandleFunc("DELETE /kubetab/files/{path...}", s.deleteFile)
	mux.HandleFunc("POST /kubetab/edits/{token}", s.finishEdit)
	mux.HandleFunc("GET /kubetab/scripts/{token}", s.withScript(s.takeScript))
	mux.HandleFunc("GET /kubetab/scripts/{token}/end", s.withScript(s.followCommand))
	mux.HandleFunc("POST /kubetab/scripts/{token}", s.withScript(s.printScript))
	mux.HandleFunc("GET /kubetab/kubeconfig", s.getKubeconfig)
	mux.HandleFunc("PUT /kubetab/kubeconfig", s.putKubeconfig)
	mux.HandleFunc("GET /kubetab/identity", s.getIdentity)
	mux.HandleFunc("PUT /kubetab/identity", s.putIdentity)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.TLS != nil {
			http.Error(w, "/kubetab/ is for the page itself, without credentials", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (s *Shell) withTerminal(f func(http.ResponseWriter, *http.Request, *terminal)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		t := s.terminals[r.PathValue("id")]
		s.mu.Unlock()
		if t == nil {
			http.Error(w, "there is no such terminal: it may have ended", http.StatusNotFound)
			return
		}
		f(w, r, t)
	}
}

func respond(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // fails when the client has gone
}

// Result is what a command line did.
type Result struct {
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	ExitCode int    `json:"exitCode"`
}

// mostPrinted is how much of each stream a Result holds; what follows is dropped.
const mostPrinted = 16 << 20

// runCommand is POST /kubetab/run. The command ends with the request.
func (s *Shell) runCommand(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Command   string `json:"command"`
		Directory string `json:"directory"`
		Context   string `json:"context"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostInput)).Decode(&body); err != nil {
		http.Error(w, "the body is no JSON of {command, directory, context}: "+err.Error(), http.StatusBadRequest)
		return
	}
	result, err := s.Run(r.Context(), body.Command, body.Directory, body.Context)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	respond(w, http.StatusOK, result)
}

// Run runs a command line, or several, in a shell of its own. dir empty means
// the home folder, contextName empty that of the kubeconfig. Errors: dir is not
// there, or the first files cannot be made.
func (s *Shell) Run(ctx context.Context, command, dir, contextName string) (Result, error) {
	var stdout, stderr captured
	k, err := s.newSession(dir, nil, strings.NewReader(""), &stdout, &stderr, nil, nil)
	if err != nil {
		return Result{}, err
	}
	k.context, k.life = contextName, ctx
	defer k.endJobs()
	code, _ := k.run(ctx, command)
	return Result{stdout.String(), stderr.String(), code}, nil
}

// captured keeps what is written to it, which several commands may do at once.
type captured struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *captured) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(b[:min(len(b), max(mostPrinted-c.text.Len(), 0))])
	return len(b), nil
}

func (c *captured) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
