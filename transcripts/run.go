package transcripts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// run is one run of one transcript.
type run struct {
	target  *Target
	file    *File
	vars    *vars
	streams map[string]*stream
	// made are the paths of cluster-scoped objects that the story created, in order.
	made []string
}

// Run plays a transcript against the target and returns the answers, one for each step, in the form that the
// transcript records. It creates the namespaces that the story asks for and removes them and every cluster-scoped
// object that the story created, whatever happened. Namespaces are not waited for: see Target.Gone.
//
// Errors: a step could not be carried out - no connection, a condition not met in time, a variable without a value.
// An answer that differs from the recorded one is not an error: the caller compares.
func Run(ctx context.Context, t *Target, f *File) (answers []string, err error) {
	r := &run{target: t, file: f, vars: newVars(f.Name, f.Settings.Namespaces), streams: map[string]*stream{}}
	defer func() { err = errors.Join(err, r.clean(context.WithoutCancel(ctx))) }()
	for i := range f.Settings.Namespaces {
		if err := r.namespace(ctx, i); err != nil {
			return nil, err
		}
	}
	for _, s := range f.Steps {
		stepCtx, cancel := context.WithTimeout(ctx, t.deadline)
		answer, err := r.step(stepCtx, s)
		cancel()
		if err != nil {
			return answers, fmt.Errorf("line %d, %q: %w", s.Line, s.Title, err)
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// label marks the namespaces of transcripts, so that Gone can wait for them.
const label = "transcripts"

func (r *run) namespace(ctx context.Context, i int) error {
	name := "ns"
	if i > 0 {
		name += strconv.Itoa(i + 1)
	}
	status, body, err := r.target.do(ctx, http.MethodPost, "/api/v1/namespaces", map[string]any{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": r.vars.values[name], "labels": map[string]string{label: r.vars.values["id"]}},
	}, true)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("creating namespace: %d: %s", status, body)
	}
	return err
}

func (r *run) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.target.deadline)
	defer cancel()
	for _, s := range r.streams {
		s.close()
	}
	var errs []error
	for i := len(r.made) - 1; i >= 0; i-- {
		status, body, err := r.target.do(ctx, http.MethodDelete, r.made[i], nil, true)
		if err == nil && status/100 != 2 && status != http.StatusNotFound && status != http.StatusConflict {
			err = fmt.Errorf("cleaning %s: %d: %s", r.made[i], status, body)
		}
		errs = append(errs, err)
	}
	for i := range r.file.Settings.Namespaces {
		name := "ns"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		_, _, err := r.target.do(ctx, http.MethodDelete, "/api/v1/namespaces/"+r.vars.values[name], nil, true)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Gone waits until the namespaces of every transcript have terminated. Errors: some are left when the deadline has
// passed, by name and with their conditions.
func (t *Target) Gone(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.deadline)
	defer cancel()
	var left string
	err := t.poll(ctx, func() (bool, error) {
		_, body, err := t.do(ctx, http.MethodGet, "/api/v1/namespaces?labelSelector="+label, nil, true)
		if err != nil {
			return false, err
		}
		list, err := decodeJSON(body)
		if err != nil {
			return false, err
		}
		items, _ := lookup(list, "items")
		some, _ := items.([]any)
		left, err = show(only(some, []string{"metadata.name", "status.conditions.message"}))
		return len(some) == 0, err
	})
	if err != nil {
		return fmt.Errorf("namespaces left over: %w\n%s", err, left)
	}
	return nil
}

func (r *run) step(ctx context.Context, s *Step) (string, error) {
	s, err := r.resolve(s)
	if err != nil {
		return "", err
	}
	switch s.Method {
	case "EVENTS", "END", "CLOSE":
		return r.events(ctx, s)
	case "COMPACT":
		return "compacted", r.target.compact(ctx)
	}
	var answer string
	var final error
	err = r.target.poll(ctx, func() (bool, error) {
		now, done, err := r.request(ctx, s)
		if ctx.Err() != nil && answer != "" {
			return false, final // the answer before the deadline says more than that there is one
		}
		answer, final = now, err
		return done, err
	})
	switch {
	case err != nil: // the deadline has passed
		return "", fmt.Errorf("%w; last answer:\n%.2000s", err, answer)
	case final != nil:
		return "", final
	}
	return answer, nil
}

// resolve expands the variables in the directives of a step.
func (r *run) resolve(s *Step) (*Step, error) {
	resolved := *s
	resolved.Directives = slices.Clone(s.Directives)
	for i, d := range s.Directives {
		if slices.Contains([]string{"only", "ignore", "sort", "grep", "redact"}, d.Name) {
			continue // they look at what is shown, where variables stand by name
		}
		var err error
		if resolved.Directives[i].Args, err = r.vars.expand(d.Args); err != nil {
			return nil, err
		}
	}
	return &resolved, nil
}

// request sends the request of a step once. done is false when the step asks for something that does not hold yet.
func (r *run) request(ctx context.Context, s *Step) (answer string, done bool, err error) {
	name, streaming := s.Directive("stream")
	// A stream outlives its step, but its headers must come before the deadline of the step.
	reqCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	inStep := context.AfterFunc(ctx, cancel)
	if !streaming {
		defer cancel()
	}
	req, err := r.build(reqCtx, s)
	if err != nil {
		return err.Error(), true, err
	}
	resp, err := r.target.client.Do(req)
	if err != nil {
		return "", true, err // a server that is gone does not come back
	}
	if streaming && resp.StatusCode == http.StatusOK {
		inStep()
		r.streams[name] = newStream(resp, cancel)
		answer, err := r.render(s, resp, nil)
		return answer, true, err
	}
	defer resp.Body.Close()
	data, err := readAll(resp)
	if err != nil {
		return "", false, err
	}
	body := decodeBody(resp.Header.Get("Content-Type"), data)
	if _, text := s.Directive("text"); text {
		body = string(data)
	}
	r.remember(s, req, resp, body)
	for _, d := range s.Directives {
		if d.Name == "until" && !holds(d.Args, resp, body) {
			shown, _ := show(body)
			return resp.Status + "\n" + shown, false, fmt.Errorf("@until %s does not hold", d.Args)
		}
	}
	if err := r.capture(s, resp, body); err != nil {
		return "", true, err
	}
	answer, err = r.render(s, resp, body)
	return answer, true, err
}

// decodeBody gives JSON and protobuf as values and everything else as text.
func decodeBody(contentType string, data []byte) any {
	media, _, _ := mime.ParseMediaType(contentType)
	switch {
	case len(data) == 0:
		return nil
	case strings.HasPrefix(string(data), "k8s\x00"):
		if v, err := decodeProtobuf(data); err == nil {
			return v
		}
	case media == "application/json" || strings.HasSuffix(media, "+json") || data[0] == '{':
		if v, err := decodeJSON(data); err == nil {
			return v
		}
	}
	return string(data)
}

// holds evaluates "@until": a status code, "header:NAME", "PATH=VALUE" or "PATH" (present). resp is nil for an event.
func holds(cond string, resp *http.Response, body any) bool {
	if code, err := strconv.Atoi(cond); err == nil {
		return resp != nil && resp.StatusCode == code
	}
	if header, ok := strings.CutPrefix(cond, "header:"); ok {
		return resp != nil && resp.Header.Get(header) != ""
	}
	path, want, valued := strings.Cut(cond, "=")
	v, found := lookup(body, path)
	return found && (!valued || scalar(v) == want)
}

func (r *run) capture(s *Step, resp *http.Response, body any) error {
	for _, d := range s.Directives {
		if d.Name != "capture" {
			continue
		}
		name, path, _ := strings.Cut(d.Args, " ")
		if header, ok := strings.CutPrefix(path, "header:"); ok {
			r.vars.values[name] = resp.Header.Get(header)
			continue
		}
		v, ok := lookup(body, path)
		if !ok {
			shown, _ := show(body)
			return fmt.Errorf("@capture %s: no %s in\n%s", name, path, shown)
		}
		r.vars.values[name] = scalar(v)
	}
	return nil
}

// remember notes a cluster-scoped object that the request created, or one in a namespace that is not the story's.
func (r *run) remember(s *Step, req *http.Request, resp *http.Response, body any) {
	if resp.StatusCode != http.StatusCreated || strings.Contains(req.URL.RawQuery, "dryRun") {
		return
	}
	for i := range r.file.Settings.Namespaces {
		name := "ns"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		if strings.Contains(req.URL.Path, "/namespaces/"+r.vars.values[name]+"/") {
			return
		}
	}
	path := req.URL.Path
	name, _ := lookup(body, "metadata.name")
	if scalar(name) == "" || name == nil {
		return // a review, not an object
	}
	if _, stored := lookup(body, "metadata.uid"); !stored {
		return
	}
	if req.Method == http.MethodPost {
		path += "/" + scalar(name)
	}
	r.made = append(r.made, strings.TrimPrefix(path, r.target.base.Path))
}

// events carries out EVENTS, END and CLOSE.
func (r *run) events(ctx context.Context, s *Step) (string, error) {
	st := r.streams[s.Target]
	if st == nil {
		return "", fmt.Errorf("no stream %q", s.Target)
	}
	if s.Method == "CLOSE" {
		st.close()
		delete(r.streams, s.Target)
		return "closed", nil
	}
	count := 0
	if args, ok := s.Directive("count"); ok {
		var err error
		if count, err = strconv.Atoi(args); err != nil {
			return "", err
		}
	}
	until, conditional := s.Directive("until")
	skipped, _ := s.Directive("skip")
	events, err := st.take(ctx, skipped, func(events []any) int {
		for i, e := range events {
			if conditional && holds(until, nil, e) {
				return i + 1
			}
		}
		if s.Method == "END" || conditional || len(events) < count {
			return 0
		}
		return count
	})
	ended := ""
	switch {
	case s.Method == "END" && errors.Is(err, io.EOF):
		ended = "<end of stream>"
	case s.Method == "END" && err == nil:
		return "", errors.New("the stream has not ended")
	case err != nil:
		shown, _ := show(events)
		return "", fmt.Errorf("%w; received:\n%s", err, shown)
	}
	list := append([]any{}, events...)
	if err := r.capture(s, st.resp, list); err != nil {
		return "", err
	}
	if len(list) == 0 {
		return ended, nil
	}
	text, err := r.body(s, r.normal(s), list)
	if ended != "" {
		text += "\n" + ended
	}
	return text, err
}
