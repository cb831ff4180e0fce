package server_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/internal/testaddress"
	"github.com/kubetab/kubetab/server/internal/process"
)

// A watch that is open when the server is told to end gets the regular end of its response, over both protocols, and
// the server ends with code 0 and says nothing.
func TestSignalEndsWatchesCleanly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal os.Signal
		alpn   []string
		proto  string
	}{
		"SIGTERM, HTTP/2":  {syscall.SIGTERM, []string{"h2"}, "HTTP/2.0"},
		"SIGINT, HTTP/1.1": {os.Interrupt, []string{"http/1.1"}, "HTTP/1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startKubetab(t, "--drain", "10m") // longer than endLimit: who waited for the watch would not end
			config := restConfig(t, p)
			config.NextProtos = c.alpn
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Get(p.API + "/api/v1/namespaces?watch=true")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusOK || res.Proto != c.proto {
				t.Fatalf("%s %s, want 200 over %s", res.Status, res.Proto, c.proto)
			}
			events := bufio.NewReader(res.Body)
			if line, err := events.ReadString('\n'); err != nil || !strings.Contains(line, `"type":"ADDED"`) {
				t.Fatalf("first event %q, %v", line, err)
			}
			p.Signal(c.signal)
			for {
				line, err := events.ReadString('\n')
				if err == io.EOF && line == "" {
					break
				}
				if err != nil { // io.ErrUnexpectedEOF, a reset, or half an event
					t.Fatalf("the stream ended with %q, %v: want its regular end", line, err)
				}
			}
			if code, stderr := p.Wait(endLimit); code != 0 || stderr != "" {
				t.Errorf("code %d, stderr %q", code, stderr)
			}
		})
	}
}

// The first signal waits for requests under way, the second does not.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	p := startKubetab(t, "--drain", "10m")
	config := restConfig(t, p)
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, ExpectContinueTimeout: time.Minute}}
	body, stuck := io.Pipe() // a body that never comes
	defer stuck.Close()
	reading := make(chan struct{})
	trace := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	request, err := http.NewRequestWithContext(trace, http.MethodPost, p.API+"/api/v1/namespaces", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+config.BearerToken)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Expect", "100-continue") // the server asks for the body when its handler reads it
	go func() {
		res, err := client.Do(request)
		if err == nil {
			res.Body.Close()
		}
	}()
	select {
	case <-reading:
	case <-time.After(startLimit):
		t.Fatal("nobody reads the body")
	}
	p.Signal(syscall.SIGTERM)
	waitUntil(t, "the listener is closed", func() bool { return !listening(p.API) })
	waitUntil(t, "the server has ended", func() bool { // one that follows too soon counts as the first
		p.Signal(syscall.SIGTERM)
		return p.Ended()
	})
	code, stderr := p.Wait(endLimit)
	if code != 1 || stderr != "kubetab: second signal: stopped without waiting for requests under way\n" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// A signal while the server starts ends it, too, and is no error, whatever has been reached by then: upstream exits the
// process when it finds the API gone at the wrong moment.
func TestSignalDuringStart(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	status := func(url string) int {
		res, err := client.Get(url)
		if err != nil {
			return 0
		}
		res.Body.Close()
		return res.StatusCode
	}
	for name, reached := range map[string]func(api string) bool{
		"it listens":       listening,
		"it answers":       func(api string) bool { return status(api+"/livez") != 0 },
		"it has discovery": func(api string) bool { return status(api+"/version") == http.StatusOK },
		"it is ready":      func(api string) bool { return status(api+"/readyz") == http.StatusOK },
	} {
		t.Run(name, func(t *testing.T) {
			binary, err := process.Binary("kubetab")
			if err != nil {
				t.Fatal(err)
			}
			address := testaddress.New()
			var stderr bytes.Buffer
			c := exec.Command(binary, "serve", "--listen", address, "--http", "")
			c.Dir, c.Stderr = t.TempDir(), &stderr
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Process.Kill() }) // nothing to kill where all is well
			waitUntil(t, name, func() bool { return reached("https://" + address) })
			if err := c.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v, stderr %q", err, stderr.String())
			}
		})
	}
}

func listening(url string) bool {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "https://"))
	if err == nil {
		c.Close()
	}
	return err == nil
}

// waitUntil polls condition until it is true.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(startLimit); !condition(); {
		if time.Now().After(limit) {
			t.Fatalf("after %v it is not so that %s", startLimit, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
