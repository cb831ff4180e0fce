package shell_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// TestLargeLists: a program may not take as much memory as the objects of a namespace have. They are shown and deleted all the same,
// and what cannot be done says what can.
func TestLargeLists(t *testing.T) {
	if os.Getenv("KUBETAB_TIMING") == "" {
		t.Skip("it fills two gigabytes: make test-timing")
	}
	const n, size = 700, 900_000 // more than the 512 MB that programs may take natively
	client, err := kubernetes.NewForConfig(shared.engine.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := shared.shell.Run(t.Context(), "kubectl create namespace much", "", ""); err != nil || got.ExitCode != 0 {
		t.Fatalf("%+v %v", got, err)
	}
	data := make([]byte, size/4*3)
	source := rand.NewChaCha8([32]byte{})
	fill := func(kind string) {
		t.Helper()
		for i := range n {
			source.Read(data)
			text := base64.StdEncoding.EncodeToString(data)
			meta := metav1.ObjectMeta{Name: fmt.Sprint("fill-", i), Namespace: "much"}
			if kind == "events" {
				// In no column, which would be in the table.
				event := &corev1.Event{ObjectMeta: meta, Related: &corev1.ObjectReference{FieldPath: text}, InvolvedObject: corev1.ObjectReference{Namespace: "much"}}
				_, err = client.CoreV1().Events("much").Create(t.Context(), event, metav1.CreateOptions{})
			} else {
				_, err = client.CoreV1().ConfigMaps("much").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"text": text}}, metav1.CreateOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(line string, lines int, says string) {
		t.Helper()
		got, err := shared.shell.Run(t.Context(), line, "", "")
		printed := strings.Count(got.Stdout, "\n")
		t.Logf("%s: exit code %d, %d lines, %.300s", line, got.ExitCode, printed, got.Stderr)
		if err != nil || (got.ExitCode != 0) != (says != "") || printed < lines || !strings.Contains(got.Stderr, says) {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, kind := range []string{"events", "configmaps"} { // without a watch cache, and with one
		fill(kind)
		run("kubectl get "+kind+" -n much --no-headers", n, "")
		run("kubectl delete "+kind+" -n much --all", n, "")
	}
	fill("configmaps")
	run("kubectl get configmaps -n much -o yaml", 0, "kubectl delete")
}
