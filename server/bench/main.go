// Bench measures a native Kubetab, and on request another Kubernetes API server in the same run:
//
//	go run ./server/bench [-json] [-runs 5] [-ops 1000]
//	go run ./server/bench -url https://127.0.0.1:16443 -token TOKEN
//	go run ./server/bench -kubeconfig ~/.kube/config
//
// It starts bin/kubetab itself, in memory, as often as -runs says. Of the other server it measures only what clients can
// see. Each client is a connection of its own over TLS and HTTP/2, without compression. Figures are p50 and p99 in
// milliseconds, and operations per second of all clients together.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// server is what one column of the table is about.
type server struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Start   *startup `json:"start,omitempty"` // nil for a server that was running
	HTTP    []sample `json:"http"`
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	asJSON := flag.Bool("json", false, "print JSON")
	runs := flag.Int("runs", 5, "how often to start bin/kubetab; the median counts")
	ops := flag.Int("ops", 1000, "requests of each kind and client count")
	url := flag.String("url", "", "`URL` of another API server to measure as well; its certificate is not verified")
	token := flag.String("token", "", "bearer `token` for it, which may create and delete namespaces")
	kubeconfig := flag.String("kubeconfig", "", "or its kubeconfig `file`, with a token or a client certificate in it")
	only := flag.Bool("only", false, "measure only the other server")
	flag.Parse()
	if flag.NArg() > 0 || *runs < 1 || *ops < 100 {
		return errors.New("give flags only, with at least 1 run and 100 operations: see -h")
	}
	var others []target
	if *url != "" {
		others = append(others, target{name: *url, url: *url, token: *token, tls: unverified()})
	}
	if *kubeconfig != "" {
		t, err := readKubeconfig(*kubeconfig)
		if err != nil {
			return err
		}
		others = append(others, t)
	}
	if *only && len(others) == 0 {
		return errors.New("-only needs -url or -kubeconfig")
	}

	var servers []server
	if !*only {
		s, err := measureKubetab(ctx, *runs, *ops)
		if err != nil {
			return fmt.Errorf("kubetab: %w", err)
		}
		servers = append(servers, s)
	}
	for _, t := range others {
		s := server{Name: t.name}
		var err error
		if s.Version, s.HTTP, err = measureHTTP(ctx, t, *ops); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		servers = append(servers, s)
	}
	if *asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(servers)
	}
	return printTable(os.Stdout, servers)
}
