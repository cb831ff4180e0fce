package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/kubetab/kubetab/core/internal/node"
)

// ask returns what node-1's kubelet answers at a path.
func (c *cluster) ask(path string) string {
	c.Helper()
	client, address := c.kubelet()
	response, err := client.Get(address + path)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.Fatalf("%s: %s, %v: %s", path, response.Status, err, body)
	}
	return string(body)
}

// A kubelet's own figures are those of metrics.k8s.io, in upstream's shapes.
func TestKubeletStatistics(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p, annotations: {kubetab.dev/usage: "cpu=500m,memory=64Mi"}}, spec: {containers: [{name: main, image: busybox, command: [sh, -c, "echo hello; sleep infinity"], resources: {requests: {cpu: 100m}, limits: {cpu: "2", memory: 128Mi}}}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	c.until("the line is in the log", func() bool { return c.logs("p", "") == "hello\n" })
	pod := c.get("p")
	status := pod.Status.ContainerStatuses[0]
	_, id, _ := strings.Cut(status.ContainerID, "://")
	uid := strings.ReplaceAll(string(pod.UID), "-", "_")
	var all statsapi.Summary
	if err := json.Unmarshal([]byte(c.ask("/stats/summary")), &all); err != nil {
		t.Fatal(err)
	}
	if all.Node.NodeName != "node-1" || len(all.Pods) != 1 || all.Pods[0].PodRef.Name != "p" || *all.Pods[0].CPU.UsageNanoCores != 5e8 || *all.Pods[0].Containers[0].Memory.WorkingSetBytes != 64<<20 {
		t.Errorf("the summary is %+v", all)
	}
	main := `{container="main",namespace="default",pod="p"} `
	labels := `{container="main",id="/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod` + uid + `.slice/cri-containerd-` + id + `.scope",image="` + status.ImageID + `",name="` + id + `",namespace="default",pod="p"} `
	for path, wanted := range map[string][]string{
		"/metrics/resource": {
			"# TYPE node_cpu_usage_seconds_total counter\n", "\nnode_memory_working_set_bytes ", "\nresource_scrape_error 0\n",
			"\ncontainer_cpu_usage_seconds_total" + main,
			"\ncontainer_memory_working_set_bytes" + main + "6.7108864e+07 ",
			"\npod_memory_working_set_bytes{namespace=\"default\",pod=\"p\"} 6.7108864e+07 ",
			"\ncontainer_start_time_seconds" + main,
		},
		"/metrics": {
			"\nkubelet_node_name{node=\"node-1\"} 1\n", "\nkubelet_running_pods 1\n", "\nkubelet_desired_pods{static=\"\"} 1\n", "\nkubelet_active_pods{static=\"true\"} 0\n",
			"\ngo_goroutines ", "\nprocess_start_time_seconds ",
			"\nkubelet_running_containers{container_state=\"running\"} 1\n", "\nkubernetes_build_info{",
			"\nkubelet_container_log_filesystem_used_bytes{container=\"main\",namespace=\"default\",pod=\"p\",uid=\"" + string(pod.UID) + "\"} 46\n", // with what the runtime writes before "hello"
		},
		"/metrics/cadvisor": {
			"\nmachine_cpu_cores{", "\nmachine_memory_bytes{", "\nmachine_scrape_error 0\n", "\ncontainer_scrape_error 0\n", "\ncadvisor_version_info{",
			"\ncontainer_memory_working_set_bytes" + labels + "6.7108864e+07 ", "\ncontainer_spec_memory_limit_bytes" + labels + "1.34217728e+08\n",
			"\ncontainer_spec_cpu_quota" + labels + "200000\n", "\ncontainer_spec_cpu_shares" + labels + "102\n",
			"\ncontainer_memory_working_set_bytes{container=\"\",id=\"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid + ".slice\",image=\"\",name=\"\",namespace=\"default\",pod=\"p\"} 6.7108864e+07 ",
			"\ncontainer_memory_working_set_bytes{container=\"\",id=\"/\",",
		},
	} {
		exposed := c.ask(path)
		for _, want := range wanted {
			if !strings.Contains(exposed, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, exposed)
			}
		}
	}
}

// What files and logs take is in the statistics, on a disk of the size that the Node and df tell.
func TestStorageStatistics(t *testing.T) {
	c := start(t, func(config *node.Config) {
		config.Capacity = v1.ResourceList{v1.ResourceEphemeralStorage: resource.MustParse("64Gi")}
	})
	c.claim("data", "/mnt/data")
	c.create(`{metadata: {name: p}, spec: {volumes: [{name: cache, emptyDir: {}}, {name: fast, emptyDir: {medium: Memory, sizeLimit: 2Mi}}, {name: data, persistentVolumeClaim: {claimName: data}}], containers: [{name: main, image: busybox, volumeMounts: [{name: cache, mountPath: /cache}, {name: fast, mountPath: /fast}, {name: data, mountPath: /data}], command: [sh, -c, "head -c 10000 /dev/zero > /tmp/f; head -c 20000 /dev/zero > /cache/f; head -c 30000 /dev/zero > /fast/f; head -c 40000 /dev/zero > /data/f; df / | tail -n 1; echo done; sleep infinity"]}]}}`)
	c.pass("written", time.Minute, func() bool { return strings.HasSuffix(c.logs("p", ""), "done\n") })
	const size, file = 64 << 30, 512
	n, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil || n.Status.Capacity.StorageEphemeral().Value() != size || n.Status.Allocatable.StorageEphemeral().Value() != size {
		t.Errorf("the Node's capacity is %v, %v", n.Status.Capacity, err)
	}
	var all statsapi.Summary
	if err := json.Unmarshal([]byte(c.ask("/stats/summary")), &all); err != nil {
		t.Fatal(err)
	}
	type usage struct{ Used, Capacity, Available uint64 }
	of := func(fs *statsapi.FsStats) usage {
		if fs == nil {
			return usage{}
		}
		return usage{*fs.UsedBytes, *fs.CapacityBytes, *fs.AvailableBytes}
	}
	if len(all.Pods) != 1 || len(all.Pods[0].VolumeStats) != 3 {
		t.Fatalf("the summary is %+v", all)
	}
	p := all.Pods[0]
	disk := of(all.Node.Fs)
	df := strings.Fields(c.logs("p", ""))
	if want := []string{strconv.Itoa(size >> 10), strconv.FormatUint((disk.Used+1023)>>10, 10)}; disk.Capacity != size || disk.Used+disk.Available != size || !slices.Equal(df[1:3], want) {
		t.Errorf("the node's disk is %+v, and df says %v", disk, df)
	}
	if least := uint64(10000 + 20000 + 30000 + 40000 + 4*file); disk.Used < least+size/8 {
		t.Errorf("%d bytes of the disk are used, of which files are %d", disk.Used, least)
	}
	logs := *p.Containers[0].Logs.UsedBytes
	if want := uint64(len(c.logs("p", "")) + 2*len("2006-01-02T15:04:05.000000000Z stdout F ")); logs != want {
		t.Errorf("%d bytes of logs, want %d", logs, want)
	}
	got := map[string]usage{"image": of(all.Node.Runtime.ImageFs), "rootfs": of(p.Containers[0].Rootfs), "logs": of(p.Containers[0].Logs), "Pod": of(p.EphemeralStorage)}
	for _, v := range p.VolumeStats {
		name := v.Name
		if v.PVCRef != nil {
			name += " of " + v.PVCRef.Namespace + "/" + v.PVCRef.Name
		}
		got[name] = of(&v.FsStats)
	}
	want := map[string]usage{
		"image": {2 << 20, size, disk.Available}, "logs": {logs, size, disk.Available},
		"rootfs": {10000 + file, size, disk.Available}, "cache": {20000 + file, size, disk.Available},
		"Pod":  {10000 + file + 20000 + file + logs, size, disk.Available},
		"fast": {30000 + file, 2 << 20, 2<<20 - 30000 - file}, "data of default/data": {40000 + file, 1 << 30, 1<<30 - 40000 - file},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := c.ask("/stats/summary?only_cpu_and_memory=true"); strings.Contains(text, "Bytes\":40") || strings.Contains(text, `"fs"`) {
		t.Errorf("CPU and memory alone: %s", text)
	}
	for path, want := range map[string]string{
		"/metrics":          "\nkubelet_volume_stats_used_bytes{namespace=\"default\",persistentvolumeclaim=\"data\"} 40512\n",
		"/metrics/cadvisor": "image=\"docker.io/library/busybox@",
	} {
		if text := c.ask(path); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, text)
		}
	}
	if text := c.ask("/metrics/cadvisor"); !regexp.MustCompile(`\ncontainer_fs_usage_bytes\{container="main",device="/dev/vda1",.*,namespace="default",pod="p"\} 10512 `).MatchString(text) ||
		!regexp.MustCompile(`\ncontainer_fs_limit_bytes\{container="",device="/dev/vda1",id="/",.*\} 6.8719476736e\+10 `).MatchString(text) {
		t.Errorf("the files in /metrics/cadvisor:\n%s", text)
	}
}

// A kubelet lists its Pods, whether its address or its name is dialled.
func TestKubeletListsItsPods(t *testing.T) {
	c := start(t)
	for _, name := range []string{"b", "a"} {
		c.create(`{metadata: {name: ` + name + `}, spec: {containers: [{name: main, image: nginx}]}}`)
		c.pass("ready", 10*time.Second, c.ready(name))
	}
	client, address := c.kubelet()
	for _, address := range []string{address, "https://node-1:10250"} {
		response, err := client.Get(address + "/pods")
		if err != nil {
			t.Fatal(err)
		}
		var list v1.PodList
		err = json.NewDecoder(response.Body).Decode(&list)
		response.Body.Close()
		if err != nil || len(list.Items) != 2 || list.Items[0].Name != "a" || list.Items[1].Name != "b" {
			t.Errorf("%s lists %d Pods: %v %v", address, len(list.Items), list.Items, err)
		}
	}
}

// Upstream's gauges are variables of the process, and each of its kubelets shows its own.
func TestKubeletsCountApart(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p}, spec: {nodeName: node-2, containers: [{name: main, image: nginx}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
	client, address := c.kubelet()
	other := strings.Replace(address, "172.18.0.2", "172.18.0.3", 1)
	var asking sync.WaitGroup
	for range 20 {
		for at, want := range map[string]string{address: "kubelet_node_name{node=\"node-1\"} 1\nkubelet_running_pods 0\n", other: "kubelet_node_name{node=\"node-2\"} 1\nkubelet_running_pods 1\n"} {
			asking.Go(func() {
				response, err := client.Get(at + "/metrics")
				if err != nil {
					t.Error(err)
					return
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Error(err)
				}
				var lines strings.Builder
				for line := range strings.Lines(string(body)) {
					if strings.HasPrefix(line, "kubelet_node_name{") || strings.HasPrefix(line, "kubelet_running_pods ") {
						lines.WriteString(line)
					}
				}
				if lines.String() != want {
					t.Errorf("%s: %q, want %q", at, lines.String(), want)
				}
			})
		}
	}
	asking.Wait()
}
