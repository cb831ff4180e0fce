package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

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
	client, address := c.kubelet()
	ask := func(path string) string {
		t.Helper()
		response, err := client.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v: %s", path, response.Status, err, body)
		}
		return string(body)
	}
	var all statsapi.Summary
	if err := json.Unmarshal([]byte(ask("/stats/summary")), &all); err != nil {
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
			"\nkubelet_running_containers{container_state=\"running\"} 1\n", "\nkubernetes_build_info{",
			"\nkubelet_container_log_filesystem_used_bytes{container=\"main\",namespace=\"default\",pod=\"p\",uid=\"" + string(pod.UID) + "\"} 6\n",
		},
		"/metrics/cadvisor": {
			"\nmachine_cpu_cores{", "\nmachine_memory_bytes{", "\nmachine_scrape_error 0\n", "\ncontainer_scrape_error 0\n", "\ncadvisor_version_info{",
			"\ncontainer_memory_working_set_bytes" + labels + "6.7108864e+07 ", "\ncontainer_spec_memory_limit_bytes" + labels + "1.34217728e+08\n",
			"\ncontainer_spec_cpu_quota" + labels + "200000\n", "\ncontainer_spec_cpu_shares" + labels + "102\n",
			"\ncontainer_memory_working_set_bytes{container=\"\",id=\"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uid + ".slice\",image=\"\",name=\"\",namespace=\"default\",pod=\"p\"} 6.7108864e+07 ",
			"\ncontainer_memory_working_set_bytes{container=\"\",id=\"/\",",
		},
	} {
		exposed := ask(path)
		for _, want := range wanted {
			if !strings.Contains(exposed, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, exposed)
			}
		}
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
