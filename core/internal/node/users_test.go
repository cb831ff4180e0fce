package node_test

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A security context decides as whom processes run, and whose the files of volumes are:
// what a kubelet and a container runtime make of it.
func TestSecurityContext(t *testing.T) {
	c := start(t)
	if _, err := c.client.CoreV1().ConfigMaps("default").Create(context.Background(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"color": "red"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	const volumes = `volumes: [{name: data, emptyDir: {}}, {name: memory, emptyDir: {medium: Memory}}, {name: settings, configMap: {name: settings, defaultMode: 0400}}, {name: host, hostPath: {path: /srv/data, type: DirectoryOrCreate}}]`
	const mounts = `volumeMounts: [{name: data, mountPath: /data}, {name: memory, mountPath: /memory}, {name: settings, mountPath: /settings}, {name: host, mountPath: /host}, {name: data, mountPath: /part, subPath: a/b}]`
	for name, test := range map[string]struct{ pod, container, script, want string }{
		"group": {
			`securityContext: {runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [4000]}`, ``,
			`id; touch /data/f; stat -c '%A %u:%g' /data /data/f /memory /part /settings/..data/color; cat /settings/color; echo; touch /host/f || echo refused; stat -c '%a %u:%g' /var/run/secrets/kubernetes.io/serviceaccount/..data/token`,
			"uid=1000 gid=3000 groups=2000,3000,4000\ndrwxrwsrwx 0:2000\n-rw-r--r-- 1000:2000\ndrwxrwsrwt 0:2000\ndrwxrwsrwx 0:2000\n-r--r----- 0:2000\nred\ntouch: /host/f: Permission denied\nrefused\n640 1000:2000\n",
		},
		"container": {
			`securityContext: {runAsUser: 1000, runAsGroup: 3000}`, `securityContext: {runAsUser: 2000, runAsGroup: 5},`,
			`id; touch /data/f; stat -c '%A %u:%g' /data /data/f; cat /settings/color || echo refused; stat -c '%a %u:%g' /var/run/secrets/kubernetes.io/serviceaccount/..data/token`,
			"uid=2000 gid=5 groups=5\ndrwxrwxrwx 0:0\n-rw-r--r-- 2000:5\ncat: can't open '/settings/color': Permission denied\nrefused\n600 2000:0\n",
		},
		"root": {
			``, ``,
			`id; stat -c '%A %u:%g' /data /settings/..data/color; cat /settings/color; echo; touch /host/f && echo written; stat -c '%a %u:%g' /var/run/secrets/kubernetes.io/serviceaccount/..data/token`,
			"uid=0(root) gid=0(root) groups=0(root)\ndrwxrwxrwx 0:0\n-r-------- 0:0\nred\nwritten\n644 0:0\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			context := ""
			if test.pod != "" {
				context = test.pod + ","
			}
			c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, ` + context + volumes + `, containers: [{name: main, image: busybox, ` + test.container + mounts + `, command: [sh, -c, "` + test.script + `"]}]}}`)
			c.pass("ended", time.Minute, c.phase(name, v1.PodSucceeded))
			if got := c.logs(name, ""); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// Who is given no group has that of the image's account, and the groups that the account is in unless that is turned off.
func TestGroupsOfTheImage(t *testing.T) {
	c := start(t)
	for name, test := range map[string]struct{ context, want string }{
		"guest":  {`runAsUser: 405`, "uid=405(guest) gid=100(users) groups=100(users)\n"},
		"games":  {`runAsUser: 35, supplementalGroups: [7]`, "uid=35(games) gid=35(games) groups=7(lp),35(games),100(users)\n"},
		"strict": {`runAsUser: 35, supplementalGroups: [7], supplementalGroupsPolicy: Strict`, "uid=35(games) gid=35(games) groups=7(lp),35(games)\n"},
		"given":  {`runAsUser: 405, runAsGroup: 3000`, "uid=405(guest) gid=3000 groups=3000\n"},
	} {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, securityContext: {` + test.context + `}, containers: [{name: main, image: alpine, command: [id]}]}}`)
		c.pass("ended", time.Minute, c.phase(name, v1.PodSucceeded))
		if got := c.logs(name, ""); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A mount's subPathExpr is filled in with variables. Where one is missing, and where it leads out of the volume, the
// container waits, and begins when that is mended.
func TestSubPathExpr(t *testing.T) {
	c := start(t)
	pod := func(name, path string) string {
		return `{metadata: {name: ` + name + `, annotations: {part: ` + path + `}}, spec: {restartPolicy: Never, volumes: [{name: data, emptyDir: {}}], containers: [{name: main, image: busybox, env: [{name: PART, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['part']"}}}], command: [sh, -c, "echo found > /all/of/x/f; cat /part/f"], volumeMounts: [{name: data, mountPath: /all}, {name: data, mountPath: /part, subPathExpr: $(PART)/x}]}]}}`
	}
	c.create(pod("good", "of"))
	c.pass("ended", time.Minute, c.phase("good", v1.PodSucceeded))
	if got := c.logs("good", ""); got != "found\n" {
		t.Errorf("%q", got)
	}
	for name, test := range map[string]struct{ path, message string }{
		"absolute": {"/of", "error SubPath `/of/x` must not be an absolute path"},
		"outside":  {"of/..", "unable to provision SubPath `of/../x`: must not contain '..'"},
	} {
		c.create(pod(name, test.path))
		c.pass("refused", time.Minute, c.waiting(name, "CreateContainerConfigError"))
		if got := c.get(name).Status.ContainerStatuses[0].State.Waiting.Message; got != test.message {
			t.Errorf("%s: %q, want %q", name, got, test.message)
		}
		c.annotate(name, "part", "of")
		c.pass("ended", 2*time.Minute, c.phase(name, v1.PodSucceeded))
	}
}

// annotate changes an annotation of a Pod.
func (c *cluster) annotate(name, key, value string) {
	c.Helper()
	patch := []byte(`{"metadata":{"annotations":{"` + key + `":"` + value + `"}}}`)
	if _, err := c.client.CoreV1().Pods("default").Patch(context.Background(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		c.Fatal(err)
	}
}

// What a volume tells of the Pod changes with the Pod.
func TestDownwardVolumeChanges(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p, annotations: {build: one}}, spec: {volumes: [{name: info, downwardAPI: {items: [{path: annotations, fieldRef: {fieldPath: metadata.annotations}}]}}], containers: [{name: main, image: busybox, volumeMounts: [{name: info, mountPath: /info}], command: [sh, -c, "while true; do grep build /info/annotations; sleep 1; done"]}]}}`)
	says := func(text string) func() bool {
		return func() bool { return strings.Contains(c.logs("p", ""), text) }
	}
	c.pass("told", time.Minute, says(`build="one"`))
	c.annotate("p", "build", "two")
	c.pass("told of the change", time.Minute, says(`build="two"`))
}
