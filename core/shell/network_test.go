package shell_test

import (
	"strings"
	"testing"
)

// The terminal is outside of the cluster: it reaches node ports, and of addresses inside it says how to.
func TestCurlReachesNodes(t *testing.T) {
	url := httpServer(t)
	post(t, url, `kubectl create deployment outside --image=nginx && kubectl expose deployment outside --port=80 --type=NodePort && kubectl rollout status deployment outside`)
	t.Cleanup(func() { post(t, url, "kubectl delete deployment,service outside") })
	const at = `P=$(kubectl get service outside -o jsonpath='{.spec.ports[0].nodePort}'); IP=$(kubectl get node node-2 -o jsonpath='{.status.addresses[0].address}'); C=$(kubectl get service outside -o jsonpath='{.spec.clusterIP}'); `
	for _, test := range []struct{ line, want string }{
		{"until curl -sf $IP:$P; do sleep 0.1; done", "Welcome to nginx!"},
		{"wget -qO- http://node-1:$P", "Welcome to nginx!"},
		{"curl $IP:1", "curl: (7) Failed to connect to 172.18.0.3 port 1 after 0 ms: Couldn't connect to server"},
		{"curl $C", "kubectl port-forward -n default svc/outside 8080:80"},
		{"curl outside", "curl: (6) Could not resolve host: outside"},
	} {
		result := post(t, url, at+test.line)
		if got := result.Stdout + result.Stderr; !strings.Contains(got, test.want) {
			t.Errorf("%s: %s\nand not %q", test.line, got, test.want)
		}
	}
}

// Load balancers are outside of the cluster, too.
func TestCurlReachesLoadBalancers(t *testing.T) {
	url := httpServer(t)
	post(t, url, `kubectl create deployment balanced --image=nginx && kubectl expose deployment balanced --port=80 --type=LoadBalancer`)
	t.Cleanup(func() { post(t, url, "kubectl delete deployment,service balanced") })
	result := post(t, url, `kubectl wait service/balanced --for=jsonpath='{.status.loadBalancer.ingress[0].ip}' --timeout=60s
IP=$(kubectl get service balanced -o jsonpath='{.status.loadBalancer.ingress[0].ip}'); echo $IP; until curl -sf $IP; do sleep 0.1; done`)
	if !strings.Contains(result.Stdout, "\n172.18.255.") || !strings.Contains(result.Stdout, "Welcome to nginx!") {
		t.Errorf("%+v", result)
	}
}
