package container

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// guestbook is agnhost's: a front end that asks agnhost-primary and agnhost-replica, or one of these two.
type guestbook struct {
	agnhost
	backend string // port of the servers behind

	mu       sync.Mutex
	store    map[string]string
	replicas []string
}

func (a agnhost) guestbook(args []string) (*Server, error) {
	port, backend := a.flags.Int("http-port", 80, ""), a.flags.String("backend-port", "6379", "")
	primary := a.flags.String("replicaof", "", "")
	if err := a.flags.Parse(args); err != nil {
		return nil, err
	}
	g := &guestbook{agnhost: a, backend: *backend, store: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/register", g.register)
	mux.HandleFunc("/get", g.get)
	mux.HandleFunc("/set", g.set)
	mux.HandleFunc("/guestbook", g.ask)
	if *primary != "" {
		a.c.cfg.Go(func() { g.join(net.JoinHostPort(*primary, *backend)) })
	}
	return &Server{Ports: listen(mux, *port)}, nil
}

// join has a primary send what it is told, and takes over what it has. It tries for 15 seconds, and then ends the container.
func (g *guestbook) join(primary string) {
	request := "register?host=" + g.c.cfg.IP
	clock := g.c.cfg.Clock
	for started := clock.Now(); clock.Since(started) < 15*time.Second; {
		g.log("Registering to primary: %s/%s", primary, request)
		text, err := g.agnhost.get(g.c.ctx, primary, request)
		if err == nil {
			var answer struct{ Data map[string]string }
			if err = json.Unmarshal([]byte(text), &answer); err == nil {
				g.mu.Lock()
				maps.Copy(g.store, answer.Data)
				g.mu.Unlock()
				host, _, _ := net.SplitHostPort(primary)
				g.log("Registered to node: %s", host)
				return
			}
		}
		g.log("encountered error while registering to primary: %v. Retrying in 1s.", err)
		timer := clock.NewTimer(time.Second)
		select {
		case <-timer.C():
		case <-g.c.ctx.Done():
			timer.Stop()
			return
		}
	}
	g.log("Timed out while registering to primary.")
	g.c.exit(1)
}

// data answers with {"data": value}.
func data(w io.Writer, value any) {
	text, err := json.Marshal(map[string]any{"data": value})
	if err == nil {
		_, _ = w.Write(text) // fails when the client is gone
	}
}

func (g *guestbook) register(w http.ResponseWriter, r *http.Request) {
	ip := r.URL.Query().Get("host")
	g.log("GET /register?host=%s", ip)
	g.mu.Lock()
	data(w, g.store)
	if !slices.Contains(g.replicas, ip) {
		g.replicas = append(g.replicas, ip)
	}
	g.mu.Unlock()
	g.log("Node '%s' registered.", ip)
}

func (g *guestbook) get(w http.ResponseWriter, r *http.Request) {
	key := r.URL.Query().Get("key")
	g.log("GET /get?key=%s", key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if key == "" {
		data(w, g.store)
		return
	}
	data(w, g.store[key])
}

func (g *guestbook) set(w http.ResponseWriter, r *http.Request) {
	key, value := r.URL.Query().Get("key"), r.URL.Query().Get("value")
	g.log("GET /set?key=%s&value=%s", key, value)
	if key == "" {
		http.Error(w, "cannot set with empty key.", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	g.store[key] = value
	replicas := slices.Clone(g.replicas)
	g.mu.Unlock()
	for _, replica := range replicas {
		if _, err := g.call(r.Context(), net.JoinHostPort(replica, g.backend), "set", key, value); err != nil {
			http.Error(w, fmt.Sprintf("encountered error while propagating to replica '%s': %v", replica, err), http.StatusExpectationFailed)
			return
		}
	}
	_, _ = io.WriteString(w, `{"message":"Updated"}`)
}

// call sends a command to another of its kind.
func (g *guestbook) call(ctx context.Context, at, command, key, value string) (string, error) {
	return g.agnhost.get(ctx, at, command+"?"+url.Values{"key": {key}, "value": {value}}.Encode())
}

// ask is the front end.
func (g *guestbook) ask(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	command, key, value := strings.ToLower(query.Get("cmd")), query.Get("key"), query.Get("value")
	g.log("GET /guestbook?cmd=%s&key=%s&value=%s", command, key, value)
	host := map[string]string{"get": "agnhost-replica", "set": "agnhost-primary"}[command]
	switch {
	case host == "":
		http.Error(w, fmt.Sprintf("unsupported cmd: '%s'", command), http.StatusBadRequest)
		return
	case command == "set" && key == "":
		http.Error(w, "cannot set with empty key.", http.StatusBadRequest)
		return
	}
	text, err := g.call(r.Context(), net.JoinHostPort(host, g.backend), command, key, value)
	if err != nil {
		http.Error(w, fmt.Sprintf("encountered error: %v", err), http.StatusExpectationFailed)
		return
	}
	_, _ = io.WriteString(w, text)
}
