package server_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// endLimit is how long a server may take to end, beside other tests.
const endLimit = 2 * time.Minute

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "b"}}
}

func TestRestartKeepsEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--data-dir", dir}
	first := startKubetab(t, flags...)
	config := restConfig(t, first)
	client := clientset(t, config)
	made, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("kept"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Data["a"] = "c"
	if made, err = client.CoreV1().ConfigMaps("default").Update(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("gone"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "gone", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	namespaces, err := client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first.Signal(syscall.SIGTERM)
	if code, stderr := first.Wait(endLimit); code != 0 || stderr != "" {
		t.Fatalf("ended with code %d, stderr %q", code, stderr)
	}

	second := startKubetab(t, flags...)
	// The credentials of before, on the new port: the authority and the administrator's token are the same.
	old := rest.CopyConfig(config)
	old.Host = second.API
	client = clientset(t, old)
	got, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.UID != made.UID || got.ResourceVersion != made.ResourceVersion || got.Data["a"] != "c" || !got.CreationTimestamp.Equal(&made.CreationTimestamp) {
		t.Errorf("after the restart %+v, before %+v", got, made)
	}
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "gone", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted object came back: %v", err)
	}
	for _, want := range namespaces.Items {
		if ns, err := client.CoreV1().Namespaces().Get(t.Context(), want.Name, metav1.GetOptions{}); err != nil || ns.UID != want.UID {
			t.Errorf("namespace %s is not the one it was: %v", want.Name, err)
		}
	}
	// What was written before is older than what is written now.
	next, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("next"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if version(t, next) <= version(t, made) {
		t.Errorf("resourceVersion %s after %s", next.ResourceVersion, made.ResourceVersion)
	}
	// A service account's token outlives the server that issued it.
	review, err := client.AuthenticationV1().TokenReviews().Create(t.Context(),
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated {
		t.Errorf("the token of the service account is not accepted: %v %+v", err, review.Status)
	}
}

// Every object whose creation was acknowledged before a kill -9 is there afterwards, as it was. Some that were not
// acknowledged may be there, too.
func TestKillKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acknowledged := map[string]*corev1.ConfigMap{}
	for round := range 3 {
		p := startKubetab(t, "--data-dir", dir)
		client := clientset(t, restConfig(t, p))
		for name, want := range acknowledged {
			got, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || got.UID != want.UID || got.ResourceVersion != want.ResourceVersion {
				t.Fatalf("round %d: %s was acknowledged with uid %s and resourceVersion %s, and is now %v (%v)", round, name, want.UID, want.ResourceVersion, got, err)
			}
		}
		var mu sync.Mutex
		var writers sync.WaitGroup
		enough := make(chan struct{})
		count := 0
		for w := range 4 {
			writers.Go(func() {
				for i := 0; ; i++ {
					name := fmt.Sprintf("r%d-w%d-%d", round, w, i)
					made, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name), metav1.CreateOptions{})
					if err != nil {
						return // the kill
					}
					mu.Lock()
					acknowledged[name] = made
					if count++; count == 60 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		select {
		case <-enough:
		case <-time.After(startLimit):
			t.Fatalf("60 objects have not been written in %v", startLimit)
		}
		p.Kill() // in the middle of writes
		writers.Wait()
	}
	p := startKubetab(t, "--data-dir", dir)
	list, err := clientset(t, restConfig(t, p)).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]corev1.ConfigMap{}
	for _, c := range list.Items {
		found[c.Name] = c
	}
	for name, want := range acknowledged {
		if found[name].UID != want.UID {
			t.Errorf("%s was acknowledged and is lost", name)
		}
	}
	if matches, _ := filepath.Glob(filepath.Join(dir, "keys", "*")); len(matches) != 6 {
		t.Errorf("key files %v: want 6", matches)
	}
}
