package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// A kubelet's own figures are those of metrics.k8s.io, in upstream's shapes.
func TestKubeletStatistics(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: p, annotations: {kubetab.dev/usage: "cpu=500m,memory=64Mi"}}, spec: {containers: [{name: main, image: nginx}]}}`)
	c.pass("ready", 10*time.Second, c.ready("p"))
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
	exposed := ask("/metrics/resource")
	for _, want := range []string{
		"# TYPE node_cpu_usage_seconds_total counter\n", "\nnode_memory_working_set_bytes ", "\nresource_scrape_error 0\n",
		"\ncontainer_cpu_usage_seconds_total{container=\"main\",namespace=\"default\",pod=\"p\"} ",
		"\ncontainer_memory_working_set_bytes{container=\"main\",namespace=\"default\",pod=\"p\"} 6.7108864e+07 ",
		"\npod_memory_working_set_bytes{namespace=\"default\",pod=\"p\"} 6.7108864e+07 ",
		"\ncontainer_start_time_seconds{container=\"main\",namespace=\"default\",pod=\"p\"} ",
	} {
		if !strings.Contains(exposed, want) {
			t.Errorf("/metrics/resource lacks %q:\n%s", want, exposed)
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
