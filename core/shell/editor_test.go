package shell_test

import (
	"strings"
	"testing"
)

// kubectl edit runs what KUBE_EDITOR and EDITOR say, as pages of documentation do with sed.
func TestEditors(t *testing.T) {
	url := httpServer(t)
	if made := post(t, url, "kubectl create deployment edited --image=nginx"); made.ExitCode != 0 {
		t.Fatalf("%+v", made)
	}
	t.Cleanup(func() { post(t, url, "kubectl delete deployment edited") })
	for _, c := range []struct{ line, image, errs string }{
		{line: `KUBE_EDITOR="sed -i 's/image: nginx/image: httpd/'" kubectl edit deployment edited`, image: "httpd"},
		{line: `EDITOR="sed -i s/httpd/redis/" kubectl edit deployment edited`, image: "redis"},
		{line: `export EDITOR=vi KUBE_EDITOR="sed -i s/redis/nginx/"; kubectl edit deployment edited`, image: "nginx"},
		{line: `KUBE_EDITOR="nowhere --wait" kubectl edit deployment edited`, image: "nginx", errs: `unable to launch the editor "nowhere --wait"`},
		{line: `KUBE_EDITOR=/usr/bin/nano kubectl edit deployment edited`, image: "nginx", errs: "unable to launch the editor"},
	} {
		got := post(t, url, c.line)
		if c.errs == "" && got.ExitCode != 0 || !strings.Contains(got.Stderr, c.errs) {
			t.Errorf("$ %s\n%s%s(%d)", c.line, got.Stdout, got.Stderr, got.ExitCode)
		}
		if is := post(t, url, "kubectl get deployment edited -o jsonpath='{.spec.template.spec.containers[0].image}'").Stdout; is != c.image {
			t.Errorf("$ %s\nthe image is %q, not %q", c.line, is, c.image)
		}
	}
}
