package shell

import (
	"encoding/json"
	"net/http"
)

// Handler serves /kubetab/ to the page:
//
//	POST   /kubetab/terminals             {columns, rows, history, directory, offer} -> 201 {id, home}
//	GET    /kubetab/terminals/{id}/output the bytes for the screen, until the terminal ends; ?from=N for those after the
//	                                      first N, of which the last 64 KB can be had again. The header Kubetab-Position
//	                                      has the N with which the answer begins
//	POST   /kubetab/terminals/{id}/input  the bytes that were typed
//	PUT    /kubetab/terminals/{id}/size   {columns, rows}
//	DELETE /kubetab/terminals/{id}
//	POST   /kubetab/run                   {command, directory, context, session, stream} -> {stdout, stderr, exitCode}, or
//	                                      with stream, as they come, lines of {stdout}, {stderr} and at last {exitCode}
//	DELETE /kubetab/sessions/{name}       what session named, with what runs in it
//	GET, PUT, DELETE /kubetab/files/{path}  a file, or a folder as JSON; ?watch=1 for changes below it
//	POST   /kubetab/edits/{token}         {saved}
//	GET    /kubetab/scripts/{token}       {name, text}, for one; {token}/end ends with the command that waits
//	POST   /kubetab/scripts/{token}       {stdout, stderr, code}: what it has printed, and with a code its end
//	GET    /kubetab/downloads/{token}     {address, most}
//	POST   /kubetab/downloads/{token}     the file, with ?status=STATUS&type=CONTENT-TYPE, or ?why=REASON and nothing
//	GET, PUT /kubetab/kubeconfig          the terminal's kubeconfig, as it outlives the engine
//	GET, PUT /kubetab/identity            {context, user, groups}; ?watch=1 for a line at each change
//
// The output of a terminal holds messages to the page as OSC sequences with the
// number 7373, a kind, and fields in base64: history (a line that was entered),
// edit (a token and the path of a file to edit: answer with a POST to
// /kubetab/edits), over (a token that nobody waits for any more), script (a
// token: see /kubetab/scripts), download (a token: see /kubetab/downloads).
//
// A request with credentials is refused: the page has none and needs none, so
// the request is another client's.
func (s *Shell) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /kubetab/terminals", s.createTerminal)
	mux.HandleFunc("GET /kubetab/terminals/{id}/output", s.withTerminal(s.output))
	mux.HandleFunc("POST /kubetab/terminals/{id}/input", s.withTerminal(s.input))
	mux.HandleFunc("PUT /kubetab/terminals/{id}/size", s.withTerminal(s.resize))
	mux.HandleFunc("DELETE /kubetab/terminals/{id}", s.withTerminal(s.deleteTerminal))
	mux.HandleFunc("POST /kubetab/run", s.runCommand)
	mux.HandleFunc("DELETE /kubetab/sessions/{name}", s.endSession)
	mux.HandleFunc("GET /kubetab/files/{path...}", s.getFile)
	mux.HandleFunc("PUT /kubetab/files/{path...}", s.putFile)
	mux.HandleFunc("DELETE /kubetab/files/{path...}", s.deleteFile)
	mux.HandleFunc("POST /kubetab/edits/{token}", s.finishEdit)
	mux.HandleFunc("GET /kubetab/scripts/{token}", s.withScript(s.takeScript))
	mux.HandleFunc("GET /kubetab/scripts/{token}/end", s.withScript(s.followCommand))
	mux.HandleFunc("POST /kubetab/scripts/{token}", s.withScript(s.printScript))
	mux.HandleFunc("GET /kubetab/downloads/{token}", s.showDownload)
	mux.HandleFunc("POST /kubetab/downloads/{token}", s.finishDownload)
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
