package shell_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBodiesAreShown looks at what -v=8 adds to the requests of -v=6, as kubectl's client logs it: each body that is sent
// or received as a whole, an empty one too, but nothing of what streams.
func TestBodiesAreShown(t *testing.T) {
	url := httpServer(t)
	post(t, url, "kubectl get configmaps -n default") // kubectl knows what the server offers now
	title := regexp.MustCompile(`(?m)^I\d{4} .*\] "(Request|Request Body|Response|Response Body)"`)
	for _, c := range []struct {
		line  string
		wants []string // what is logged, in this order
		holds []string
	}{
		{
			line:  "kubectl create configmap shown --from-literal=key=value -n default -v=8",
			wants: []string{"Request Body", "Request", "Response", "Response Body"},
			holds: []string{`"Request Body" body=<`, "00000000  6b 38 73 00"}, // protobuf
		},
		{
			line:  "kubectl get configmap shown -n default -o name -v=8",
			wants: []string{"Request Body", "Request", "Response", "Response Body"},
			holds: []string{`"Request Body" body=""`, `"Response Body" body=<`, `"name":"shown"`},
		},
		{
			line:  `kubectl patch configmap shown -n default --patch '{"data":{"other":"text"}}' -v=8`,
			wants: []string{"Request Body", "Request", "Response", "Response Body", "Request Body", "Request", "Response", "Response Body"},
			holds: []string{`"Request Body" body="{\"data\":{\"other\":\"text\"}}"`},
		},
		{
			line:  "kubectl get configmap nothing -n default -v=8",
			wants: []string{"Request Body", "Request", "Response", "Response Body"},
			holds: []string{`configmaps \"nothing\" not found`, "Error from server (NotFound)"},
		},
		{
			line:  "kubectl get configmap shown -n default -v=7",
			wants: []string{"Request", "Response"},
		},
		{
			line:  "kubectl get --raw '/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=1' -v=8",
			wants: []string{"Request Body", "Request", "Response"},
		},
		{
			line:  "kubectl get --raw /openapi/v2 -v=8 | wc -c",
			wants: []string{"Request Body", "Request", "Response", "Response Body"},
			holds: []string{"[truncated "},
		},
	} {
		t.Run(c.line, func(t *testing.T) {
			shown := post(t, url, c.line).Stderr
			var logged []string
			for _, found := range title.FindAllStringSubmatch(shown, -1) {
				logged = append(logged, found[1])
			}
			if !slices.Equal(logged, c.wants) {
				t.Errorf("it logs %q, and should log %q: %s", logged, c.wants, shown)
			}
			if strings.Contains(shown, "Kubectl-Command") {
				t.Errorf("it shows headers that kubectl does not show: %s", shown)
			}
			for _, text := range c.holds {
				if !strings.Contains(shown, text) {
					t.Errorf("no %q in %s", text, shown)
				}
			}
		})
	}
}
