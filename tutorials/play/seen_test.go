package play

import (
	"testing"
	"testing/fstest"

	"github.com/kubetab/kubetab/tutorials/load"
)

// everything is a lesson whose checks look at each thing that a request has, by what clients really send.
const everything = `id: part/everything
title: {en: a, zh: 一}
minutes: 5
covers: [0-1]
namespace: part-everything
objects:
  pods: pods
  secrets: {resource: secrets, namespace: part-everything-other}
  namespaces: namespaces
steps:
- id: bodies
  checks:
  - id: protobuf # as typed commands of kubectl send it
    title: {en: a, zh: 一}
    once: request.body.metadata.name == "p" && request.answer.body.metadata.uid != "" && request.headers["content-type"].contains("protobuf")
  - id: yaml
    title: {en: a, zh: 一}
    once: request.headers.accept == "application/yaml" && request.answer.body.kind == "ConfigMap" && request.answer.text.contains("kind:")
  - id: gzip
    title: {en: a, zh: 一}
    once: request.by == "curl" && request.answer.headers["content-encoding"] == "gzip" && request.answer.body.metadata.name == "large"
  - id: warned
    title: {en: a, zh: 一}
    once: request.answer.warnings.exists(w, w.contains("deprecated"))
  - id: query
    title: {en: a, zh: 一}
    once: request.query.dryRun == "All" && request.query.fieldManager == "me" && !("force" in request.query) && request.version == "v1"
  solution:
  - kubectl create configmap p
  - "curl -sk https://kubernetes/api/v1/namespaces/part-everything/configmaps/p -H 'Accept: application/yaml'"
  - head -c 150000 /dev/zero | tr '\0' a > text; kubectl create configmap large --from-file=text
  - "curl -sk https://kubernetes/api/v1/namespaces/part-everything/configmaps/large -H 'Accept-Encoding: gzip' -o large.gz"
  - kubectl get endpoints
  - kubectl create configmap q --dry-run=server --field-manager=me
- id: refusals
  checks:
  - id: forbidden
    title: {en: a, zh: 一}
    once: request.status == 403 && request.answer.reason == "Forbidden" && request.user == "nobody" && request.verb == "list"
  - id: unauthorized
    title: {en: a, zh: 一}
    once: request.status == 401 && request.verb == "list" && request.resource == "pods" && request.namespace == ns && request.user == ""
  - id: fair # refused before the authorizer was asked
    title: {en: a, zh: 一}
    once: request.status == 429 && request.user == "noisy" && request.verb == "list" && request.resource == "pods" && "retry-after" in request.answer.headers
  solution:
  - kubectl get configmaps --as=nobody
  - "curl -sk https://kubernetes/api/v1/namespaces/part-everything/pods -H 'Authorization: Bearer none'"
  - kubectl apply -f narrow.yaml
  - |
    ask() { curl -sk -o /dev/null -w '%{http_code}\n' -H 'Impersonate-User: noisy' "https://kubernetes/api/v1/namespaces/part-everything/pods$1"; }
    until { ask '?resourceVersion=9000000000000' & sleep 0.5; ask | grep -q 429; }; do wait; done; wait
- id: long
  checks:
  - id: upgraded
    title: {en: a, zh: 一}
    once: request.subresource == "exec" && request.status == 101 && request.headers.upgrade == "websocket"
  - id: pod
    title: {en: a, zh: 一}
    who: pods
    once: request.by == "pod" && request.user == "system:serviceaccount:part-everything:default" && request.status == 403
  - id: counted
    title: {en: a, zh: 一}
    now: podRequests.size() > 0 && requests.all(r, r.by != "pod") && earlier.upgraded.name == "box"
  - id: elsewhere
    title: {en: a, zh: 一}
    now: secrets.exists(s, s.metadata.name == "far") && namespaces.exists(n, n.metadata.name == ns)
  - id: lasting
    title: {en: a, zh: 一}
    now: pods.exists(p, p.metadata.name == "box" && p.status.phase == "Running")
    for: 1s
  solution:
  - kubectl run box --image=busybox -- sleep 3600
  - kubectl wait --for=condition=Ready pod/box
  - kubectl exec box -- date
  - >-
    kubectl exec box -- sh -c 'curl -sk https://kubernetes.default.svc/api/v1/namespaces/part-everything/pods
    -H "Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)"'
  - kubectl create namespace part-everything-other && kubectl create secret generic far -n part-everything-other
`

const narrow = `apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {name: narrow}
spec:
  type: Limited
  limited: {nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: {type: Reject}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: noisy}
spec:
  matchingPrecedence: 500
  priorityLevelConfiguration: {name: narrow}
  rules:
  - subjects: [{kind: User, user: {name: noisy}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: noisy}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: noisy}]
`

func TestChecksSeeWhatClientsSend(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const text = "# T\n\n## A {#bodies}\n\n## B {#refusals}\n\n## C {#long}\n"
	l, err := load.One(fstest.MapFS{
		"reference.yaml":                       file("- {number: 0-1, title: t}\n"),
		"part/everything/lesson.yaml":          file(everything),
		"part/everything/en.md":                file(text),
		"part/everything/zh.md":                file(text),
		"part/everything/solution/narrow.yaml": file(narrow),
	}, "part/everything")
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, l)
	defer stop(t, c)
	if err := (&Player{Patience: patience, Temp: t.TempDir}).Play(t.Context(), c, l, 0); err != nil {
		t.Error(err)
	}
}
