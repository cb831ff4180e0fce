package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/manifests"
)

// SaveOptions say which server is asked for a bundle, and what is to be in it.
type SaveOptions struct {
	Kubeconfig string // a file; its current context must be the administrator's
	Name       string // of the cluster, for people
	NoSecrets  bool
}

// SaveBundle writes the cluster of a running server to path as it comes, with mode 0600, whole or not at all. It returns the size
// in bytes. Errors: those of FetchBundle but for the size, which may be any, or the file cannot be written.
func SaveBundle(ctx context.Context, path string, o SaveOptions) (int64, error) {
	answer, err := askBundle(ctx, o)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	size := int64(0)
	err = writePrivately(path, func(w io.Writer) error {
		file := &tracked{from: answer.Body}
		n, err := io.Copy(w, file)
		size = n
		return cmp.Or(file.err, err)
	})
	switch {
	case errors.Is(err, errCutOff):
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%s: %w", path, cause(err))
	}
	return size, nil
}

// errCutOff is in the error of an answer that ended early.
var errCutOff = errors.New("read the bundle")

// tracked keeps why reading failed, to tell it from a failure to write.
type tracked struct {
	from io.Reader
	err  error
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if err != nil && err != io.EOF {
		t.err = fmt.Errorf("%w: %w", errCutOff, err)
	}
	return n, err
}

// FetchBundle asks a running server for its cluster. Errors: the kubeconfig cannot be read, or the server cannot be reached,
// refuses, breaks off, or has a bundle of more than most bytes.
func FetchBundle(ctx context.Context, most int64, o SaveOptions) ([]byte, error) {
	answer, err := askBundle(ctx, o)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.ContentLength > most {
		return nil, fmt.Errorf("the bundle has %d bytes, and %d are possible", answer.ContentLength, most)
	}
	file, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errCutOff, err)
	case int64(len(file)) > most:
		return nil, fmt.Errorf("the bundle has more than %d bytes", most)
	}
	return file, nil
}

// mostRefusal is how many bytes of a refusal are read.
const mostRefusal = 1 << 20

// askBundle returns the answer of a running server, with the bundle as its body, which the caller closes.
func askBundle(ctx context.Context, o SaveOptions) (*http.Response, error) {
	if _, err := os.Stat(o.Kubeconfig); err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w: start kubetab serve, or give its file with --kubeconfig FILE", o.Kubeconfig, cause(err))
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	query := url.Values{"name": {o.Name}}
	if o.NoSecrets {
		query.Set("secrets", "false")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+bundle.Path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		body, err := io.ReadAll(io.LimitReader(answer.Body, mostRefusal))
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		return nil, fmt.Errorf("the server at %s refuses: %s", config.Host, refusal(answer, body))
	}
	return answer, nil
}

// refusal is the message of a Status, or what there is of one.
func refusal(answer *http.Response, body []byte) error {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &status) == nil && status.Message != "" {
		return errors.New(status.Message)
	}
	return errors.New(answer.Status)
}

// WriteManifests writes files into a directory, which it makes, with mode 0600: Secrets may be among them. It returns the
// paths that it has written. Errors: there is something in the directory, or a file cannot be written.
func WriteManifests(dir string, files []manifests.File) ([]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	there, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, cause(err))
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("%s: %s is there already: give a directory that is new or empty", dir, there[0].Name())
	}
	var paths []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if filepath.Dir(path) != filepath.Clean(dir) {
			return paths, fmt.Errorf("%s: %q is no name of a file in it", dir, f.Name)
		}
		if err := writePrivate(path, f.Data); err != nil {
			return paths, fmt.Errorf("%s: %w", path, cause(err))
		}
		paths = append(paths, path)
	}
	return paths, nil
}
