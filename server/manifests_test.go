package server_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/server/internal/process"
)

// made is what a person has in a cluster, of every sort that controllers add to.
const made = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.sea.example}
spec:
  group: sea.example
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat, listKind: BoatList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: one}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: clerk, namespace: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: token-of-clerk, namespace: shop, annotations: {kubernetes.io/service-account.name: clerk}}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Secret
metadata: {name: mine, namespace: shop}
stringData: {password: of-a-person}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: prices, namespace: shop, annotations: {note: "a person's"}}
data: {tea: "3"}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: disk, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop}
subjects: [{kind: ServiceAccount, name: clerk, namespace: shop}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: boats-for-editors, labels: {rbac.authorization.k8s.io/aggregate-to-edit: "true"}}
rules: [{apiGroups: [sea.example], resources: [boats], verbs: [get]}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: soon}
value: 10
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: NodePort, selector: {app: web}, ports: [{name: web, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: elsewhere, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: elsewhere-1, namespace: shop, labels: {kubernetes.io/service-name: elsewhere}}
addressType: IPv4
ports: [{port: 80}]
endpoints: [{addresses: [192.0.2.1]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: soon
      containers: [{name: web, image: nginx, volumeMounts: [{name: disk, mountPath: /disk}]}]
      volumes: [{name: disk, persistentVolumeClaim: {claimName: disk}}]
---
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: shop}
spec: {serviceAccountName: clerk, containers: [{name: main, image: nginx}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: shop}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: ["true"]}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: in-default, namespace: default}
`

const ada = `
apiVersion: sea.example/v1
kind: Boat
metadata: {name: ada, namespace: shop}
sails: 2
`

// apply runs the real kubectl, and returns what it prints.
func kubectlIn(t *testing.T, p *process.Process, stdin string, args ...string) string {
	t.Helper()
	binary, err := process.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), binary, append([]string{"--kubeconfig", p.Kubeconfig, "--cache-dir", t.TempDir()}, args...)...)
	c.Env = append(os.Environ(), shortLived)
	c.Stdin = strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// discovers waits until kubectl finds the types of a group and version, which it does a moment after its CRDs are Established.
func discovers(t *testing.T, p *process.Process, groupVersion string) {
	t.Helper()
	client := clientset(t, restConfig(t, p)).Discovery()
	for begun := time.Now(); ; {
		_, lists, err := client.ServerGroupsAndResources()
		if slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool { return list.GroupVersion == groupVersion }) {
			return
		}
		if time.Since(begun) > startLimit {
			t.Fatalf("%s is not discovered: %v", groupVersion, err)
		}
	}
}

// manifestsOf are the files that kubetab makes of a running server's cluster, in a new directory.
func manifestsOf(t *testing.T, p *process.Process) (dir string, files map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "manifests")
	code, stdout, stderr := kubetab(t, "bundle", "manifests", save(t, p), dir)
	if code != 0 || stderr != "" {
		t.Fatalf("code %d, stderr %q", code, stderr)
	}
	files = map[string]string{}
	for _, path := range strings.Fields(stdout) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(data)
	}
	return dir, files
}

// TestManifests: what people made in a cluster can be applied to a new one by kubectl, and makes the same there: manifests
// of that cluster are byte for byte those that were applied.
func TestManifests(t *testing.T) {
	t.Parallel()
	first := startKubetab(t, "--nodes", "1")
	readTypes(t, first.Kubeconfig)
	kubectlIn(t, first, made, "apply", "-f", "-")
	kubectlIn(t, first, "", "wait", "crd", "boats.sea.example", "--for", "condition=Established", "--timeout", "60s")
	discovers(t, first, "sea.example/v1")
	kubectlIn(t, first, ada, "apply", "-f", "-")
	settled := func(p *process.Process) {
		t.Helper()
		for _, args := range [][]string{
			{"rollout", "status", "deployment/web", "--timeout", "120s"},
			{"wait", "job/once", "--for", "condition=Complete", "--timeout", "120s"},
			{"wait", "pod/alone", "--for", "condition=Ready", "--timeout", "120s"},
			{"wait", "pvc/disk", "--for", "jsonpath={.status.phase}=Bound", "--timeout", "120s"},
			{"wait", "secret/token-of-clerk", "--for", "jsonpath={.data.token}", "--timeout", "120s"},
		} {
			kubectlIn(t, p, "", append([]string{"-n", "shop"}, args...)...)
		}
	}
	settled(first)
	dir, want := manifestsOf(t, first)
	if len(want) != 4 {
		t.Errorf("%d files", len(want))
	}
	for file, text := range want {
		for _, part := range []string{"\nstatus:", "uid:", "resourceVersion:", "managedFields:", "ownerReferences:", "creationTimestamp:", "clusterIP:", "nodePort:", "nodeName:", "volumeName:", "kind: ReplicaSet", "kind: Event\n", "kind: Lease", "kind: Node\n", "kube-root-ca.crt", "kind: Endpoints\n", "system:"} {
			if strings.Contains(text, part) {
				t.Errorf("%s has %q:\n%s", file, part, text)
			}
		}
	}
	shop := want["2-shop.yaml"]
	for _, part := range []string{"kind: Boat", "sails: 2", "name: token-of-clerk", "b2YtYS1wZXJzb24=", "name: disk", "kind: RoleBinding", "name: elsewhere-1", "name: alone", "kind: Job\n", "kind: CronJob"} {
		if !strings.Contains(shop, part) {
			t.Errorf("2-shop.yaml has no %q", part)
		}
	}
	if strings.Count(shop, "kind: Pod\n") != 1 || strings.Count(shop, "kind: EndpointSlice\n") != 1 {
		t.Errorf("2-shop.yaml has what controllers make:\n%s", shop)
	}

	second := startKubetab(t, "--nodes", "1")
	readTypes(t, second.Kubeconfig)
	kubectlIn(t, second, "", "apply", "-f", filepath.Join(dir, "0-definitions.yaml"))
	kubectlIn(t, second, "", "wait", "crd", "--all", "--for", "condition=Established", "--timeout", "60s")
	discovers(t, second, "sea.example/v1")
	kubectlIn(t, second, "", "apply", "-f", filepath.Join(dir, "1-cluster.yaml"))
	// Admission wants the account of a Pod, which a dry run does not make.
	kubectlIn(t, second, "", "create", "serviceaccount", "clerk", "-n", "shop")
	kubectlIn(t, second, "", "apply", "--dry-run=server", "-f", dir)
	kubectlIn(t, second, "", "apply", "-f", dir)
	settled(second)
	_, got := manifestsOf(t, second)
	for file, text := range want {
		if got[file] != text {
			t.Errorf("%s became\n%s\nand was\n%s", file, got[file], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files became %d", len(want), len(got))
	}

	code, _, stderr := kubetab(t, "bundle", "manifests", save(t, second), dir)
	if code != 1 || !strings.Contains(stderr, "is there already") {
		t.Errorf("into a directory that holds something: code %d, stderr %q", code, stderr)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "2-shop.yaml")); err != nil || !bytes.Equal(data, []byte(shop)) {
		t.Errorf("what was there has changed: %v", err)
	}
}
