package play

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/kubetab/kubetab/internal/testlog"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/load"
)

// The tests play lessons in processes of their own, because a process has one environment for kubectl and one set of
// feature gates: see Package play. These variables tell a process what is its part.
const (
	partVariable = "KUBETAB_TEST_LESSONS" // what divide returned, separated by spaces
	// onlyVariable is for those who write: LESSON=part/lesson plays one only.
	onlyVariable = "LESSON"
)

// processes is how many play at the same time. A lesson waits more than it computes.
const processes = 8

const (
	// patience is how long a check may take on a machine that has much to do.
	patience = 2 * time.Minute
	// vain is how long what never comes is waited for. What comes before it has as long, too.
	vain = 20 * time.Second
)

// folder is that of all lessons: absolute, because a shell changes the working directory of the process.
var folder = func() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// executable is this program.
var executable = func() string {
	name, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return name
}()

// environment is that of the process before a shell has taken it.
var environment = os.Environ()

func TestMain(m *testing.M) {
	testlog.Quiet()
	os.Exit(m.Run())
}

// TestLessons plays every lesson: its solution, and the wrong turns that it names.
func TestLessons(t *testing.T) {
	t.Parallel() // it waits for other processes
	all, err := load.All(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	if part := os.Getenv(partVariable); part != "" {
		playPart(t, all, strings.Fields(part))
		return
	}
	ids := all.IDs()
	if only := os.Getenv(onlyVariable); only != "" {
		if all.Lessons[only] == nil {
			t.Fatalf("there is no lesson %s", only)
		}
		ids = []string{only}
	}
	parts := divide(all, ids)
	var wait sync.WaitGroup
	for range processes {
		wait.Go(func() {
			for part := range parts {
				c := exec.CommandContext(t.Context(), executable, "-test.run=^TestLessons$", "-test.v="+fmt.Sprint(testing.Verbose()), "-test.timeout=40m")
				c.Dir, c.Env = filepath.Join(folder, "play"), append(slices.Clone(environment), partVariable+"="+strings.Join(part, " "))
				out, err := c.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				} else if testing.Verbose() {
					t.Logf("%s", out)
				}
			}
		})
	}
	wait.Wait()
}

// cluster is what is played on one cluster: passes of different lessons, as part/lesson/pass.
type cluster struct {
	passes  []string
	taken   map[string]bool // what no other pass on this cluster may have, see claims
	minutes int
}

func (c *cluster) add(id string, pass int, l *load.Lesson) {
	c.passes = append(c.passes, fmt.Sprintf("%s/%d", id, pass))
	c.minutes += l.Minutes
	for _, name := range claims(id, l) {
		c.taken[name] = true
	}
}

// divide returns the parts of ids, each for a process, the longest first. A part is a list of clusters, each of which is what
// cluster.passes holds, separated by commas. A pass of a lesson that needs a cluster of its own, or of a capstone, which waits for
// what happens by itself, has a process of its own. The others share as few clusters as can be, because an engine's start takes
// longer than most passes.
func divide(all *load.Tutorials, ids []string) <-chan []string {
	type part struct {
		clusters []string
		minutes  int
	}
	var parts []part
	var shared []*cluster
	// First those of which the fewest fit together.
	claimants := map[string]int{}
	for _, id := range ids {
		for _, name := range claims(id, all.Lessons[id]) {
			claimants[name] += Passes(all.Lessons[id])
		}
	}
	rivals := func(id string) (most int) {
		for _, name := range claims(id, all.Lessons[id]) {
			most = max(most, claimants[name])
		}
		return most
	}
	for _, id := range slices.SortedStableFunc(slices.Values(ids), func(a, b string) int { return rivals(b) - rivals(a) }) {
		l := all.Lessons[id]
		for pass := range Passes(l) {
			if isAlone(l) || strings.HasPrefix(id, "capstone/") {
				parts = append(parts, part{[]string{fmt.Sprintf("%s/%d", id, pass)}, l.Minutes})
				continue
			}
			free := slices.DeleteFunc(slices.Clone(shared), func(c *cluster) bool {
				return slices.ContainsFunc(claims(id, l), func(name string) bool { return c.taken[name] })
			})
			if len(free) == 0 {
				free = []*cluster{{taken: map[string]bool{}}}
				shared = append(shared, free[0])
			}
			slices.MinFunc(free, func(a, b *cluster) int { return a.minutes - b.minutes }).add(id, pass, l)
		}
	}
	several := make([]part, min(processes, len(shared)))
	for i, c := range shared {
		p := &several[i%len(several)]
		p.clusters, p.minutes = append(p.clusters, strings.Join(c.passes, ",")), p.minutes+c.minutes
	}
	parts = append(parts, several...)
	slices.SortStableFunc(parts, func(a, b part) int { return b.minutes - a.minutes })
	queue := make(chan []string, len(parts))
	for _, p := range parts {
		queue <- p.clusters
	}
	close(queue)
	return queue
}

// playPart plays a part of what divide returns, one cluster after another.
func playPart(t *testing.T, all *load.Tutorials, clusters []string) {
	p := &Player{Patience: patience, Temp: t.TempDir}
	for _, passes := range clusters {
		var c *Cluster
		for passed := range strings.SplitSeq(passes, ",") {
			i := strings.LastIndex(passed, "/")
			pass, err := strconv.Atoi(passed[i+1:])
			if err != nil {
				t.Fatal(err)
			}
			l := all.Lessons[passed[:i]]
			if c == nil {
				c = start(t, l)
			}
			t.Run(passed, func(t *testing.T) {
				if err := p.Play(t.Context(), c, l, pass); err != nil {
					t.Error(err)
				}
			})
		}
		stop(t, c)
	}
}

// isAlone reports whether a lesson needs a cluster of its own.
func isAlone(l *load.Lesson) bool {
	return l.Alone || l.Clock != nil || l.Engine != nil || slices.ContainsFunc(l.All(), func(s tutorials.Step) bool { return s.Engine != nil })
}

var plural = regexp.MustCompile(`\bplural: *(\w+)`)

// claims returns what a cluster has once for a lesson: the lesson itself, because a cluster sees each lesson once, and the names of
// the kinds that it brings. A kind is for the whole cluster, and several lessons have boats.
func claims(id string, l *load.Lesson) []string {
	names := []string{id}
	for _, f := range slices.Concat(l.Start, l.Files, l.Solution) {
		for _, found := range plural.FindAllStringSubmatch(f.Text, -1) {
			names = append(names, found[1])
		}
	}
	return names
}

func start(t *testing.T, l *load.Lesson) *Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := Start(ctx, l.Engine)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func stop(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestEnginesOfLessonsStart: what a lesson wants of its engine is refused here if an engine would refuse it.
func TestEnginesOfLessonsStart(t *testing.T) {
	all, err := load.All(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	for id, l := range all.Lessons {
		if err := configOf(l.Engine).Check(); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		for _, step := range l.All() {
			if err := configOf(step.Engine).Check(); err != nil {
				t.Errorf("%s, step %s: %v", id, step.ID, err)
			}
		}
	}
	if err := configOf(&tutorials.Engine{FeatureGates: map[string]bool{"NoSuchGate": true}}).Check(); err == nil {
		t.Error("an unknown gate is accepted")
	}
}

// specimen is a small lesson without faults.
const specimen = `id: part/specimen
title: {en: a, zh: 一}
minutes: 5
covers: [0-1]
namespace: part-specimen
objects:
  cm: configmaps
  boats: boats.specimen.example.com
steps:
- id: one
  checks:
  - id: made
    title: {en: a, zh: 一}
    now: cm.exists(o, o.metadata.name == "a")
  - id: posted
    title: {en: a, zh: 一}
    once: request.verb == "create" && request.namespace == ns && request.name == "" && request.status == 201
    seen: request.method + " " + request.answer.body.metadata.name
  hints:
  - id: elsewhere
    when: request.verb == "create" && request.namespace == "default"
    text: {en: a, zh: 一}
  - id: crowded
    state: cm.exists(o, o.metadata.name == "b")
    text: {en: a, zh: 一}
  solution: ["name=a", "kubectl create configmap $name"]
  wrong:
  - {lines: [kubectl create configmap a -n default --dry-run=server], hint: elsewhere}
  - {lines: [kubectl create configmap b], hint: crowded}
- id: two
  checks:
  - id: gone
    title: {en: a, zh: 一}
    none: cm.exists(o, o.metadata.name == "held")
  - id: again
    title: {en: a, zh: 一}
    once: request.verb == "delete" && request.name == "held" && request.status == 404
    after: gone
  - id: calm
    title: {en: a, zh: 一}
    never: request.verb == "deletecollection"
  - id: answered
    title: {en: a, zh: 一}
    answer: {key: code, equals: "404"}
  solution:
  - kubectl delete cm held
  - kubectl delete cm held
  - kubectl create configmap answers --from-literal=code=404
- id: three
  checks:
  - id: sailing
    title: {en: a, zh: 一}
    now: boats.exists(o, o.spec.crew == 2)
    for: 1s
    after: seen
  - id: seen
    title: {en: a, zh: 一}
    once: request.watch && request.resource == "boats" && request.events.exists(e, e.type == "ADDED") && request.events.exists(e, e.type == "DELETED")
  - id: sizes
    title: {en: a, zh: 一}
    once: request.path == "/api/v1/namespaces/" + ns + "/configmaps" && request.query.limit == "1" && request.answer.body.items.size() == 1
    after: seen
  solution:
  - kubectl apply -f crd.yaml; until kubectl wait --for=condition=Established crd/boats.specimen.example.com; do sleep 0.1; done
  - kubectl get boats -w --output-watch-events > seen.txt &
  - |
    echo '{"apiVersion":"specimen.example.com/v1","kind":"Boat","metadata":{"name":"x"},"spec":{"crew":2}}' > boat.json
    until kubectl apply -f boat.json; do sleep 0.1; done
    until grep -q ADDED seen.txt; do sleep 0.1; done
    kubectl delete -f boat.json; kubectl apply -f boat.json
    until grep -q DELETED seen.txt; do sleep 0.1; done
  - curl -sk "https://kubernetes/api/v1/namespaces/part-specimen/configmaps?limit=1"
`

const specimenDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.specimen.example.com}
spec:
  group: specimen.example.com
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const specimenRights = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: crew}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: crew, namespace: part-specimen}]
`

const specimenText = "# T\n\n## One {#one}\n\n## Two {#two}\n\n## Three {#three}\n"

// readSpecimen returns the specimen, or one that differs from it.
func readSpecimen(t *testing.T, old, new string) *load.Lesson {
	t.Helper()
	if !strings.Contains(specimen, old) {
		t.Fatalf("the specimen has no %q", old)
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	l, err := load.One(fstest.MapFS{
		"reference.yaml":                   file("- {number: 0-1, title: t}\n"),
		"part/specimen/lesson.yaml":        file(strings.Replace(specimen, old, new, 1)),
		"part/specimen/en.md":              file(specimenText),
		"part/specimen/zh.md":              file(specimenText),
		"part/specimen/start/a.yaml":       file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held}\n"),
		"part/specimen/start/b.yaml":       file(specimenRights),
		"part/specimen/solution/crd.yaml":  file(specimenDefinition),
		"part/specimen/files/notes/a.text": file("a"),
	}, "part/specimen")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestFaultsOfLessonsAreFound is the test of the test: the specimen passes, and fails with each of its faults.
func TestFaultsOfLessonsAreFound(t *testing.T) {
	t.Parallel() // the only one of those that has a Desk
	sound := readSpecimen(t, "", "")
	for pass := range Passes(sound) {
		c := start(t, sound)
		if err := (&Player{Patience: patience, Temp: t.TempDir}).Play(t.Context(), c, sound, pass); err != nil {
			t.Errorf("pass %d: %v", pass, err)
		}
		stop(t, c)
	}
	if t.Failed() {
		return
	}
	faults := map[string]struct {
		old, new string
		pass     int
		want     string
	}{
		"a check that cannot become true":     {`name == "a")`, `name == "z")`, 0, "step one: its solution does not make it done"},
		"a check that is true from the start": {`name == "a")`, `name == "held")`, 0, "after the start: check made of step one is true"},
		"a hint that the start brings":        {`name == "b")`, `name == "held")`, 0, "after the start: hint crowded of step one is shown"},
		"a check that an earlier step makes": {`request.verb == "delete" && request.name == "held" && request.status == 404
    after: gone`, `request.verb == "create"`, 0, "after the solution of one: check again of step two is true"},
		"a hint that a wrong turn does not":    {`request.namespace == "default"`, `request.namespace == "other"`, 1, "the wrong turn does not bring the hint elsewhere"},
		"a check that cannot be looked at":     {`request.name == "" && request.status == 201`, `1 / (request.status - 201) > 0`, 0, "the evaluator says: lesson part/specimen: check posted: division by zero"},
		"a never that the solution makes true": {`"deletecollection"`, `"delete"`, 0, "step two: its solution does not make it done"},
	}
	c := start(t, sound)
	defer stop(t, c)
	for i, name := range slices.Sorted(maps.Keys(faults)) {
		f := faults[name]
		l := readSpecimen(t, f.old, f.new)
		l.Namespace = fmt.Sprintf("fault-%d", i) // one cluster for all: none comes as far as its definition
		p := &Player{Patience: patience, Temp: t.TempDir}
		if strings.Contains(f.want, "does not") || strings.Contains(f.want, "the evaluator says") { // it is waited for in vain
			p.Patience = vain
		}
		err := p.Play(t.Context(), c, l, f.pass)
		if err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: the error is\n%v\nand should have\n%s", name, err, f.want)
		}
	}
}
