package manifests

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// objects reads documents of YAML.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for _, document := range strings.Split(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		json, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.UnmarshalJSON(json); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		all = append(all, o)
	}
	return all
}

// TestUnmade: what parts of a cluster make again is in no file.
func TestUnmade(t *testing.T) {
	for what, text := range map[string]string{
		"a Pod of a ReplicaSet":             `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: a, uid: u, controller: true}]}}`,
		"what is being deleted":             `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n, deletionTimestamp: "2026-01-01T00:00:00Z"}}`,
		"a namespace of every cluster":      `{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}`,
		"a role of every cluster":           `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: view, labels: {kubernetes.io/bootstrapping: rbac-defaults}}}`,
		"an event":                          `{apiVersion: v1, kind: Event, metadata: {name: a, namespace: n}}`,
		"an event of events.k8s.io":         `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: a, namespace: n}}`,
		"a lease":                           `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a, namespace: n}}`,
		"a node":                            `{apiVersion: v1, kind: Node, metadata: {name: node-1}}`,
		"a default account":                 `{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: n}}`,
		"the root certificate":              `{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: n}, data: {ca.crt: x}}`,
		"the Service of the API server":     `{apiVersion: v1, kind: Service, metadata: {name: kubernetes, namespace: default}}`,
		"the Endpoints of the API server":   `{apiVersion: v1, kind: Endpoints, metadata: {name: kubernetes, namespace: default}}`,
		"a provisioned volume":              `{apiVersion: v1, kind: PersistentVolume, metadata: {name: pvc-1, annotations: {pv.kubernetes.io/provisioned-by: simulated.kubetab.dev}}}`,
		"an APIService of a built-in group": `{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.apps, labels: {kube-aggregator.kubernetes.io/automanaged: onstart}}}`,
	} {
		if files, err := Files(objects(t, text)); err != nil || len(files) > 0 {
			t.Errorf("%s: %v, %v", what, files, err)
		}
	}
	found := `{apiVersion: v1, kind: Service, metadata: {name: web, namespace: n}, spec: {selector: {app: web}}}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: n}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, namespace: n, labels: {kubernetes.io/service-name: web}}}`
	if files, err := Files(objects(t, found)); err != nil || len(files) != 1 || strings.Contains(string(files[0].Data), "Endpoint") {
		t.Errorf("endpoints that a controller finds: %v, %v", files, err)
	}
}

// TestFiles: what people made is in the file of its namespace, in the order of kubectl apply, and without what a server
// or a controller has added.
func TestFiles(t *testing.T) {
	in := objects(t, `{apiVersion: sea.example/v1, kind: Boat, metadata: {name: ada, namespace: shop, uid: u, resourceVersion: "7", generation: 3, finalizers: [sea.example/anchor]}, spec: {sails: 2, ratio: 0.5, nothing: null}, status: {afloat: true}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: shop}, imagePullSecrets: [{name: mine}]}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {kubernetes.io/metadata.name: shop}}, spec: {finalizers: [kubernetes]}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boats.sea.example, finalizers: [customresourcecleanup.apiextensions.k8s.io]}, status: {conditions: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: alone, namespace: shop, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: u}]}, spec: {nodeName: node-1, priority: 0, preemptionPolicy: PreemptLowerPriority, tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}], containers: [{name: main, image: nginx, volumeMounts: [{name: kube-api-access-x, mountPath: /var/run}]}], volumes: [{name: kube-api-access-x, projected: {}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: chosen, namespace: shop, managedFields: [{manager: kubectl, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:ports": {"k:{\"port\":80}": {"f:nodePort": {}}}}}}]}, spec: {clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack, ports: [{port: 80, nodePort: 30080}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: headless, namespace: shop}, spec: {clusterIP: None, clusterIPs: [None], ports: [{port: 80}]}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: once, namespace: shop, labels: {mine: "1"}}, spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {creationTimestamp: null, labels: {batch.kubernetes.io/controller-uid: u, batch.kubernetes.io/job-name: once, controller-uid: u, job-name: once}}, spec: {restartPolicy: Never}}}}`)
	files, err := Files(in)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, f := range files {
		got.WriteString("== " + f.Name + "\n" + string(f.Data))
	}
	const want = `== 0-definitions.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: boats.sea.example
== 1-cluster.yaml
apiVersion: v1
kind: Namespace
metadata:
  name: shop
== 2-shop.yaml
apiVersion: v1
imagePullSecrets:
- name: mine
kind: ServiceAccount
metadata:
  name: default
  namespace: shop
---
apiVersion: v1
kind: Service
metadata:
  name: chosen
  namespace: shop
spec:
  ports:
  - nodePort: 30080
    port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: headless
  namespace: shop
spec:
  clusterIP: None
  clusterIPs:
  - None
  ports:
  - port: 80
---
apiVersion: sea.example/v1
kind: Boat
metadata:
  finalizers:
  - sea.example/anchor
  name: ada
  namespace: shop
spec:
  nothing: null
  ratio: 0.5
  sails: 2
---
apiVersion: batch/v1
kind: Job
metadata:
  labels:
    mine: "1"
  name: once
  namespace: shop
spec:
  template:
    metadata: {}
    spec:
      restartPolicy: Never
---
apiVersion: v1
kind: Pod
metadata:
  name: alone
  namespace: shop
spec:
  containers:
  - image: nginx
    name: main
`
	if got.String() != want {
		t.Errorf("%s\nis not\n%s", got.String(), want)
	}
	if in[0].GetUID() != "u" || in[0].Object["status"] == nil {
		t.Error("what was given has changed")
	}
}

// TestEveryCharacter: what an object can hold is in its YAML, also what YAML takes only when it is spelled out.
func TestEveryCharacter(t *testing.T) {
	value := "a\u007f\u0080\u0085\u009f\ufffe\uffff\ufeff\u2028\t\x01 b\U0001f6a2"
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": value}}}
	object.SetName("a")
	object.SetNamespace("n")
	files, err := Files([]*unstructured.Unstructured{object})
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	read := objects(t, string(files[0].Data))
	if got, _, err := unstructured.NestedString(read[0].Object, "data", "text"); err != nil || got != value {
		t.Errorf("%q, %v in\n%s", got, err, files[0].Data)
	}
}

func TestZip(t *testing.T) {
	var b bytes.Buffer
	if err := Zip(&b, "manifests", []File{{"1-cluster.yaml", []byte("kind: Namespace\n")}}, time.Unix(1_800_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f, err := archive.Open("manifests/1-cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(f); err != nil || string(data) != "kind: Namespace\n" {
		t.Errorf("%q, %v", data, err)
	}
}
