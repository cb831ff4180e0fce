package lifecycle

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/events"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// probes are the three probes of a container's current run.
type probes struct {
	startup, readiness, liveness probeState
}

// probeState is one probe: what it has said and when it is asked again.
type probeState struct {
	due    time.Time // zero: not yet asked in this run
	asking bool
	good   int // in a row
	bad    int
	passed bool // the result that counts
}

// probeResult is the outcome of a probe that took a while.
type probeResult struct {
	of     *instance
	kind   string
	failed string // empty if it has passed
	errors bool   // it could not be asked
}

const maxOutput = 10 << 10 // bytes of a probe's output in its event

func (p *probes) reset() { *p = probes{} }

// started reports whether the startup probe, if there is one, has passed.
func (p *probes) started(r *record) bool {
	return r.running() && (r.spec.StartupProbe == nil || p.startup.passed)
}

func (p *probes) ready(r *record) bool { return r.spec.ReadinessProbe == nil || p.readiness.passed }

func (p *probes) of(kind string) *probeState {
	switch kind {
	case "Startup":
		return &p.startup
	case "Readiness":
		return &p.readiness
	}
	return &p.liveness
}

// probe asks what is due and acts on what has been answered. A probe that fails
// too often ends the run.
func (r *record) probe(obj *v1.Pod, now time.Time, in inboxed) {
	for _, result := range in.results {
		if result.of == r.now {
			r.probes.of(result.kind).asking = false
			r.answered(obj, now, result)
		}
	}
	if !r.hooked() { // what is not reported as running is not probed
		r.ask(obj, now, "Startup", r.spec.StartupProbe)
		if r.running() && r.probes.started(r) {
			r.ask(obj, now, "Readiness", r.spec.ReadinessProbe)
			r.ask(obj, now, "Liveness", r.spec.LivenessProbe)
		}
	}
	if r.running() && r.now.killed != "" {
		r.stop(obj, now, r.now.since, r.now.grace, r.now.killed)
	}
}

func (r *record) ask(obj *v1.Pod, now time.Time, kind string, probe *v1.Probe) {
	state := r.probes.of(kind)
	if probe == nil || state.asking || r.now.killed != "" || kind == "Startup" && state.passed {
		return
	}
	if state.due.IsZero() {
		state.due = r.now.startedAt.Add(time.Duration(probe.InitialDelaySeconds) * time.Second)
		if kind == "Liveness" {
			state.passed = true
		}
	}
	if now.Before(state.due) {
		r.pod.at(state.due)
		return
	}
	state.due = now.Add(time.Duration(max(probe.PeriodSeconds, 1)) * time.Second)
	r.pod.at(state.due)
	i := r.now
	switch forced := Annotation(obj, map[string]string{"Startup": AnnotationStartup, "Readiness": AnnotationReadiness, "Liveness": AnnotationLiveness}[kind], r.spec.Name); {
	case forced == "fail":
		r.answered(obj, now, probeResult{i, kind, "failed as asked for by an annotation", false})
		return
	case forced == "succeed":
		r.answered(obj, now, probeResult{i, kind, "", false})
		return
	}
	if probe.Exec == nil {
		failed, broken := r.pod.try(r.spec, i, probe)
		r.answered(obj, now, probeResult{i, kind, failed, broken})
		return
	}
	// A command may take its time, which is the clock's.
	state.asking = true
	p := r.pod
	p.cluster.Go(func() {
		failed, broken := p.execProbe(i, probe)
		p.inbox.Lock()
		p.results = append(p.results, probeResult{i, kind, failed, broken})
		p.inbox.Unlock()
		p.cluster.Queue.Add(p.UID)
	})
}

// answered counts an outcome, as upstream's probe worker does.
func (r *record) answered(obj *v1.Pod, now time.Time, result probeResult) {
	state := r.probes.of(result.kind)
	probe := map[string]*v1.Probe{"Startup": r.spec.StartupProbe, "Readiness": r.spec.ReadinessProbe, "Liveness": r.spec.LivenessProbe}[result.kind]
	if probe == nil || !r.running() || r.now.killed != "" {
		return
	}
	if result.failed == "" {
		state.good, state.bad = state.good+1, 0
		if state.good >= int(max(probe.SuccessThreshold, 1)) {
			state.passed = true
		}
		return
	}
	verb := "failed: "
	if result.errors {
		verb = "errored and resulted in unknown state: "
	}
	r.pod.event(obj, r.spec, v1.EventTypeWarning, events.ContainerUnhealthy, result.kind+" probe "+verb+result.failed)
	state.good, state.bad = 0, state.bad+1
	if state.bad < int(max(probe.FailureThreshold, 1)) {
		return
	}
	switch state.passed = false; result.kind {
	case "Liveness":
		r.stop(obj, now, now, r.killGrace(obj, probe), fmt.Sprintf("Container %s failed liveness probe, will be restarted", r.spec.Name))
	case "Startup":
		r.stop(obj, now, now, r.killGrace(obj, probe), fmt.Sprintf("Container %s failed startup probe, will be restarted", r.spec.Name))
	}
}

func (r *record) killGrace(obj *v1.Pod, probe *v1.Probe) time.Duration {
	switch {
	case probe.TerminationGracePeriodSeconds != nil:
		return time.Duration(*probe.TerminationGracePeriodSeconds) * time.Second
	case obj.Spec.TerminationGracePeriodSeconds != nil:
		return time.Duration(*obj.Spec.TerminationGracePeriodSeconds) * time.Second
	}
	return 30 * time.Second
}

// execProbe runs a probe's command in the container.
func (p *Pod) execProbe(i *instance, probe *v1.Probe) (failed string, broken bool) {
	ctx, cancel := context.WithCancel(p.cluster.Context)
	defer cancel()
	limit := time.Duration(max(probe.TimeoutSeconds, 1)) * time.Second
	late := make(chan struct{})
	timer := p.cluster.Clock.AfterFunc(limit, func() { close(late); cancel() })
	defer timer.Stop()
	var out bytes.Buffer
	code, err := i.c.Exec(ctx, probe.Exec.Command, nil, &out, &out, nil)
	select {
	case <-late:
		return fmt.Sprintf("command timed out: %q timed out after %v", strings.Join(probe.Exec.Command, " "), limit), false
	default:
	}
	switch {
	case err != nil:
		return "rpc error: code = Unknown desc = failed to exec in container: " + err.Error(), true
	case code != 0:
		text := out.String()
		return text[:min(len(text), maxOutput)] + emptyMark(text), false
	}
	return "", false
}

// emptyMark makes the failure of a silent command one that is not empty.
func emptyMark(text string) string {
	if text == "" {
		return " "
	}
	return ""
}

// try asks a probe that takes no time here.
func (p *Pod) try(c *v1.Container, i *instance, probe *v1.Probe) (failed string, broken bool) {
	ctx := p.cluster.Context
	switch {
	case probe.HTTPGet != nil:
		get := probe.HTTPGet
		port, err := portOf(get.Port, c)
		if err != nil {
			return err.Error(), true
		}
		host := get.Host
		if host == "" {
			host = p.ip
		}
		scheme := "http"
		if get.Scheme == v1.URISchemeHTTPS {
			scheme = "https"
		}
		address := scheme + "://" + net.JoinHostPort(host, strconv.Itoa(port)) + "/" + strings.TrimPrefix(get.Path, "/")
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err.Error(), true
		}
		r.Header.Set("User-Agent", "kube-probe/1.37")
		for _, h := range get.HTTPHeaders {
			if strings.EqualFold(h.Name, "Host") {
				r.Host = h.Value
			}
			r.Header.Set(h.Name, h.Value)
		}
		response, err := p.seen().OfKubelet().RoundTrip(r)
		if err != nil {
			return fmt.Sprintf("Get %q: %v", address, err), false
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		if response.StatusCode < 200 || response.StatusCode >= 400 {
			return fmt.Sprintf("HTTP probe failed with statuscode: %d", response.StatusCode), false
		}
	case probe.TCPSocket != nil:
		port, err := portOf(probe.TCPSocket.Port, c)
		if err != nil {
			return err.Error(), true
		}
		host := probe.TCPSocket.Host
		if host == "" {
			host = p.ip
		}
		if _, err := p.seen().OfKubelet().Connect(ctx, host, container.Port{Number: port}); err != nil {
			return err.Error(), false
		}
	case probe.GRPC != nil:
		address := net.JoinHostPort(p.ip, strconv.Itoa(int(probe.GRPC.Port)))
		listener, ok := i.c.Listening(container.Port{Number: int(probe.GRPC.Port)})
		if !ok || listener.GRPC == nil {
			return fmt.Sprintf("timeout: failed to connect service %q within 1s: context deadline exceeded", address), false
		}
		service := ""
		if probe.GRPC.Service != nil {
			service = *probe.GRPC.Service
		}
		switch serving, known := listener.GRPC(service); {
		case !known:
			return fmt.Sprintf("rpc error: code = NotFound desc = unknown service %s", service), false
		case !serving:
			return `service unhealthy (responded with "NOT_SERVING")`, false
		}
	}
	return "", false
}
