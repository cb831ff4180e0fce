package core

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/identity"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/resume"
)

// TestBundleHoldsNoKeys: nothing that only this cluster should know is anywhere in the
// bytes of a bundle, and no Secret in one without Secrets.
func TestBundleHoldsNoKeys(t *testing.T) {
	kept, err := resume.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	var parts struct{ Key, CAKey, CA []byte }
	if err := json.Unmarshal(kept, &parts); err != nil {
		t.Fatal(err)
	}
	e := living(t, Config{Nodes: 1, Resume: resume.Config{Identity: kept}})
	c := clientFor(t, e)
	token, err := c.CoreV1().Secrets("default").Get(t.Context(), "token", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.Unmarshal(kept)
	if err != nil {
		t.Fatal(err)
	}
	private := map[string][]byte{
		"the service account key": parts.Key, "the CA's key": parts.CAKey, "the CA": parts.CA, "the identity": kept,
		"a service account token": token.Data[corev1.ServiceAccountTokenKey], "the root certificate": id.RootCA,
	}
	holds := func(file []byte, secret []byte) bool {
		forms := [][]byte{secret, []byte(base64.StdEncoding.EncodeToString(secret)), []byte(fmt.Sprintf("%x", secret))}
		for _, line := range strings.Split(string(pem.EncodeToMemory(&pem.Block{Bytes: secret})), "\n") {
			if len(line) == 64 {
				forms = append(forms, []byte(line))
			}
		}
		for _, form := range forms {
			if bytes.Contains(file, form) {
				return true
			}
		}
		return false
	}
	everything := func(b *bundle.Bundle) []byte {
		_, file := sent(t, b)
		return append(file, inflated(t, file)...)
	}
	// The search finds what is there.
	state, err := etcd.ReadState(t.Context(), e.store.Client().Client, records.Prefix+"/", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if all := everything(&bundle.Bundle{State: state}); !holds(all, private["a service account token"]) || !holds(all, parts.CA) {
		t.Fatal("the store holds neither token nor CA, and the search means nothing")
	}
	with := everything(saved(t, e, cluster.SaveOptions{}))
	without := everything(saved(t, e, cluster.SaveOptions{NoSecrets: true}))
	for what, secret := range private {
		if holds(with, secret) || holds(without, secret) {
			t.Errorf("the bundle holds %s", what)
		}
	}
	if !bytes.Contains(with, []byte("of-a-person")) {
		t.Error("the bundle does not hold a person's Secret")
	}
	if bytes.Contains(without, []byte("of-a-person")) || bytes.Contains(without, []byte(records.Prefix+"/secrets/")) {
		t.Error("a bundle without Secrets holds one")
	}
}

// inflated is the body of a bundle, read without package bundle.
func inflated(t *testing.T, file []byte) []byte {
	t.Helper()
	var envelope struct {
		Body []byte `msgpack:"body"`
	}
	if err := msgpack.Unmarshal(file, &envelope); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(envelope.Body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
