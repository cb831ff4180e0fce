package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// target is an API server and who talks to it.
type target struct {
	name  string
	url   string
	token string
	tls   *tls.Config
}

// unverified accepts any certificate. The other server is given by URL and token alone, and what is measured is the same
// with and without the check.
func unverified() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// readKubeconfig returns the target of the current context. Only data in the file itself is understood: no other files,
// and no plugins.
func readKubeconfig(path string) (target, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return target{}, err
	}
	var c struct {
		CurrentContext string `json:"current-context"`
		Contexts       []struct {
			Name    string
			Context struct{ Cluster, User string }
		}
		Clusters []struct {
			Name    string
			Cluster struct {
				Server   string
				CA       string `json:"certificate-authority-data"`
				Insecure bool   `json:"insecure-skip-tls-verify"`
			}
		}
		Users []struct {
			Name string
			User struct {
				Token string
				Cert  string `json:"client-certificate-data"`
				Key   string `json:"client-key-data"`
			}
		}
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		return target{}, fmt.Errorf("%s: %w", path, err)
	}
	for _, context := range c.Contexts {
		if context.Name != c.CurrentContext {
			continue
		}
		t := target{tls: &tls.Config{}}
		for _, cluster := range c.Clusters {
			if cluster.Name != context.Context.Cluster {
				continue
			}
			t.name, t.url, t.tls.InsecureSkipVerify = cluster.Cluster.Server, cluster.Cluster.Server, cluster.Cluster.Insecure
			if pem, err := base64.StdEncoding.DecodeString(cluster.Cluster.CA); err == nil && len(pem) > 0 {
				t.tls.RootCAs = x509.NewCertPool()
				t.tls.RootCAs.AppendCertsFromPEM(pem)
			}
		}
		for _, user := range c.Users {
			if user.Name != context.Context.User {
				continue
			}
			t.token = user.User.Token
			cert, certErr := base64.StdEncoding.DecodeString(user.User.Cert)
			key, keyErr := base64.StdEncoding.DecodeString(user.User.Key)
			if certErr == nil && keyErr == nil && len(cert) > 0 {
				pair, err := tls.X509KeyPair(cert, key)
				if err != nil {
					return target{}, fmt.Errorf("%s: %w", path, err)
				}
				t.tls.Certificates = []tls.Certificate{pair}
			}
		}
		if t.url == "" {
			return target{}, fmt.Errorf("%s: no server in the cluster of context %q", path, c.CurrentContext)
		}
		return t, nil
	}
	return target{}, fmt.Errorf("%s: no current context", path)
}

// client is one client of a target, with a connection of its own.
type client struct {
	target
	http *http.Client
	body bytes.Buffer // of the last page
}

func (t target) dial() *client {
	transport := &http.Transport{TLSClientConfig: t.tls.Clone(), ForceAttemptHTTP2: true, DisableCompression: true}
	return &client{target: t, http: &http.Client{Transport: transport}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// open sends a request and returns the response when its head has come. A status of 300 or more is an error.
func (c *client) open(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, 500))
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, res.Status, strings.TrimSpace(string(text)))
	}
	return res, nil
}

// do sends a request and reads the whole response, of which it returns the size.
func (c *client) do(ctx context.Context, method, path, body string) (int64, error) {
	res, err := c.open(ctx, method, path, body)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return io.Copy(io.Discard, res.Body)
}

// version asks for the gitVersion.
func (c *client) version(ctx context.Context) (string, error) {
	res, err := c.open(ctx, http.MethodGet, "/version", "")
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return "", err
	}
	var v struct{ GitVersion string }
	if err := yaml.Unmarshal(data, &v); err != nil || v.GitVersion == "" {
		return "", errors.New("/version is not that of Kubernetes")
	}
	return v.GitVersion, nil
}
