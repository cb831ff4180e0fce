package transcripts

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"sigs.k8s.io/yaml"
)

// userAgent is what the server takes the field manager from where a request names none.
const userAgent = "transcripts/1.0"

// build makes the HTTP request of a step. Errors: a variable without a value, a body that cannot be encoded.
func (r *run) build(ctx context.Context, s *Step) (*http.Request, error) {
	target, err := r.vars.expand(s.Target)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, s.Method, r.target.base.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	if r.target.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.target.token)
	}
	named := map[string]bool{}
	for _, h := range s.Header {
		value, err := r.vars.expand(h[1])
		if err != nil {
			return nil, err
		}
		// The first of a name stands for what the runner would send, the next ones are more of it.
		if !named[h[0]] {
			req.Header.Del(h[0])
		}
		named[h[0]] = true
		if value != "none" {
			req.Header.Add(h[0], value)
		}
	}
	u := *r.target.base
	path, query, _ := strings.Cut(target, "?")
	u.RawQuery = query
	unescaped, err := url.PathUnescape(path)
	if err != nil {
		return nil, err
	}
	u.RawPath, u.Path = u.Path+path, u.Path+unescaped
	req.URL = &u
	return req, r.setBody(req, s)
}

func (r *run) setBody(req *http.Request, s *Step) error {
	if digits, ok := s.Directive("bytes"); ok {
		body, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		send(req, body)
		return err
	}
	if s.Body == "" {
		return nil
	}
	text, err := r.vars.expand(s.Body)
	if err != nil {
		return err
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	body := []byte(text)
	if _, raw := s.Directive("raw"); !raw {
		if body, err = encode(req.Header.Get("Content-Type"), body); err != nil {
			return err
		}
	}
	send(req, body)
	return nil
}

func send(req *http.Request, body []byte) {
	req.ContentLength = int64(len(body))
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
}

// encode turns the YAML of a transcript into what the content type names: JSON, protobuf, or the same YAML.
func encode(contentType string, body []byte) ([]byte, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return body, nil // a content type that is wrong on purpose
	}
	switch {
	case media == "application/json" || strings.HasSuffix(media, "+json"):
		data, err := yaml.YAMLToJSON(body)
		if err != nil {
			return nil, fmt.Errorf("body is not YAML (use @raw to send it as it is): %w", err)
		}
		return data, nil
	case media == protobufType:
		return encodeProtobuf(body)
	}
	return body, nil
}

// readAll reads a response body, through gzip where the server says so.
func readAll(resp *http.Response) ([]byte, error) {
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.Header.Get("Content-Encoding") != "gzip" || len(data) == 0 {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
