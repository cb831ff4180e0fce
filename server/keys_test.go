package server

import (
	"bytes"
	"crypto/x509"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var testHosts = Hosts("127.0.0.1:6443", "10.0.0.1", nil)

func mustOpenKeys(t *testing.T, dir string, now time.Time, hosts ...string) *Keys {
	t.Helper()
	k, err := OpenKeys(dir, append(testHosts, hosts...), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// leaf returns the serving certificate after verifying it for host as a client that trusts k's authority would.
func leaf(t *testing.T, k *Keys, host string, now time.Time) *x509.Certificate {
	t.Helper()
	serving, err := k.ServingCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(k.CA()) {
		t.Fatal("the authority is no PEM certificate")
	}
	if _, err := serving.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
		t.Fatalf("not valid for %s: %v", host, err)
	}
	return serving.Leaf
}

func TestServingCertificateIsForEveryName(t *testing.T) {
	now := time.Now()
	k := mustOpenKeys(t, "", now, "kube.example.org")
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
		"kubernetes.default.svc.cluster.local", "10.0.0.1", "kube.example.org"} {
		leaf(t, k, host, now)
	}
	if serving, _ := k.ServingCertificate(nil); serving.Leaf.VerifyHostname("other.example.org") == nil {
		t.Error("valid for a name that nobody asked for")
	}
}

func TestHosts(t *testing.T) {
	if got := strings.Join(Hosts("192.0.2.1:6443", "10.0.0.1", []string{"a", "localhost", ""}), " "); got !=
		"localhost 127.0.0.1 ::1 kubernetes kubernetes.default kubernetes.default.svc kubernetes.default.svc.cluster.local 10.0.0.1 192.0.2.1 a" {
		t.Error(got)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range []string{"0.0.0.0:6443", "[::]:6443", ":6443"} {
		if got := Hosts(all, "", nil); !strings.Contains(strings.Join(got, " "), strings.ToLower(name)) {
			t.Errorf("%s: %v lacks the host name", all, got)
		}
	}
}

func TestKeysAreKept(t *testing.T) {
	dir, now := filepath.Join(t.TempDir(), "keys"), time.Now()
	first := mustOpenKeys(t, dir, now)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 6 {
		t.Fatalf("%d files, want 6 (%v)", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the folder has mode %v, want 0700", info.Mode())
	}
	second := mustOpenKeys(t, dir, now)
	if !bytes.Equal(first.CA(), second.CA()) || first.Token() != second.Token() ||
		!leaf(t, first, "localhost", now).Equal(leaf(t, second, "localhost", now)) ||
		!samePublicKey(first, second) {
		t.Error("a second start made other keys")
	}
	if fresh := mustOpenKeys(t, "", now); bytes.Equal(fresh.CA(), first.CA()) || fresh.Token() == first.Token() || samePublicKey(fresh, first) {
		t.Error("two servers share a secret")
	}
}

func samePublicKey(a, b *Keys) bool {
	x, errX := x509.MarshalPKIXPublicKey(a.ServiceAccountKey().Public())
	y, errY := x509.MarshalPKIXPublicKey(b.ServiceAccountKey().Public())
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func TestCertificatesAreRenewed(t *testing.T) {
	dir, made := t.TempDir(), time.Now()
	first := mustOpenKeys(t, dir, made)
	old := leaf(t, first, "localhost", made)

	t.Run("not before it is time", func(t *testing.T) {
		now := made.Add(servingLife - renewBefore - time.Hour)
		if !leaf(t, mustOpenKeys(t, dir, now), "localhost", now).Equal(old) {
			t.Error("renewed early")
		}
	})
	t.Run("for another host", func(t *testing.T) {
		k := mustOpenKeys(t, t.TempDir(), made)
		again, err := OpenKeys(k.dir, append(testHosts, "late.example.org"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.CA(), k.CA()) {
			t.Error("a new authority: kubeconfigs in use would no longer work")
		}
		leaf(t, again, "late.example.org", made)
	})
	t.Run("at a start", func(t *testing.T) {
		now := made.Add(servingLife - renewBefore + time.Hour)
		k := mustOpenKeys(t, dir, now)
		if leaf(t, k, "localhost", now).Equal(old) || !bytes.Equal(k.CA(), first.CA()) {
			t.Error("want a new certificate of the same authority")
		}
	})
	t.Run("while running", func(t *testing.T) {
		now := made
		k, err := OpenKeys(t.TempDir(), testHosts, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		before := leaf(t, k, "localhost", now)
		now = now.Add(servingLife - renewBefore + time.Hour)
		after := leaf(t, k, "localhost", now)
		if after.Equal(before) {
			t.Error("a server that runs for a year ends with an expired certificate")
		}
		if !leaf(t, mustOpenKeys(t, k.dir, now), "localhost", now).Equal(after) {
			t.Error("the new certificate was not kept")
		}
	})
	t.Run("the authority", func(t *testing.T) {
		now := made.Add(authorityLife - time.Hour)
		k := mustOpenKeys(t, dir, now)
		if bytes.Equal(k.CA(), first.CA()) {
			t.Error("an authority that ends within the hour goes on")
		}
		leaf(t, k, "localhost", now)
	})
}

func TestUnreadableKeysAreNotReplaced(t *testing.T) {
	for _, name := range []string{caCertFile, caKeyFile, serveCrtFile, serveKeyFile, accountFile, tokenFile} {
		dir := t.TempDir()
		mustOpenKeys(t, dir, time.Now())
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenKeys(dir, testHosts, nil); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete") {
			t.Errorf("%s: error %v, want its path and what to do", name, err)
		}
		if data, _ := os.ReadFile(path); string(data) != "\n" {
			t.Errorf("%s was replaced", name)
		}
	}
	dir := t.TempDir()
	mustOpenKeys(t, dir, time.Now())
	if err := os.Rename(filepath.Join(dir, accountFile), filepath.Join(dir, caKeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeys(dir, testHosts, nil); err == nil || !strings.Contains(err.Error(), "not the key of ca.crt") {
		t.Errorf("a key of another certificate: %v", err)
	}
}
