package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/core"
)

// SaveOptions say which server is asked for a bundle, and what is to be in it.
type SaveOptions struct {
	Kubeconfig string // a file; its current context must be the administrator's
	Name       string // of the cluster, for people
	NoSecrets  bool
}

// mostBundle is how many bytes of a bundle are read.
const mostBundle = 64 << 20

// SaveBundle asks a running server for its cluster and writes the answer to path, with mode 0600, whole or not at all. It
// returns the size in bytes. Errors: the kubeconfig cannot be read, the server cannot be reached or refuses, or the file
// cannot be written.
func SaveBundle(ctx context.Context, path string, o SaveOptions) (int, error) {
	if _, err := os.Stat(o.Kubeconfig); err != nil {
		return 0, fmt.Errorf("kubeconfig %s: %w: start kubetab serve, or give its file with --kubeconfig FILE", o.Kubeconfig, cause(err))
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return 0, fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return 0, fmt.Errorf("kubeconfig %s: %w", o.Kubeconfig, err)
	}
	query := url.Values{"name": {o.Name}}
	if o.NoSecrets {
		query.Set("secrets", "false")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+core.BundlePath+"?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	file, err := io.ReadAll(io.LimitReader(answer.Body, mostBundle+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the bundle: %w", err)
	case answer.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("the server at %s refuses: %s", config.Host, refusal(answer, file))
	case len(file) > mostBundle:
		return 0, fmt.Errorf("the bundle is larger than %d bytes", mostBundle)
	}
	if err := writePrivate(path, file); err != nil {
		return 0, fmt.Errorf("%s: %w", path, cause(err))
	}
	return len(file), nil
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
