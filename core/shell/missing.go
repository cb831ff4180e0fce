package shell

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// missing says that there is no program of that name, and in a terminal also what leads on, as the shells of Debian and its
// relatives do. Scripts and what reads standard error are told the one sentence of bash.
func missing(c *coreutils.Call, name string) int {
	fmt.Fprintf(c.Stderr, "bash: %s: command not found\n", name)
	if errs, ok := c.Stderr.(interface{ Fd() uintptr }); ok && tty.Device(errs.Fd()) != nil {
		if hint := instead(name); hint != "" {
			fmt.Fprintln(c.Stderr, hint)
		}
	}
	return 127
}

// tools are programs that people look for beside a cluster, and what to do without them.
var tools = []struct{ names, hint string }{
	{"minikube kind k3d k3s microk8s kubeadm colima", "There is no cluster to make: this one runs already.\nTry: kubectl get nodes"},
	{"docker podman nerdctl crictl ctr", "There is no container engine: Pods are simulated.\nTry: kubectl run web --image=nginx"},
	{"helm", "On your machine, helm template prints manifests. kubectl apply -f takes them here."},
	{"kustomize", "kubectl has it: kubectl kustomize DIR, kubectl apply -k DIR"},
	{"kubens", "Without it: kubectl config set-context --current --namespace=NAME"},
	{"kubectx", "Without it: kubectl config use-context NAME"},
	{"stern kubetail", "Without it: kubectl logs --follow --prefix --selector=app=NAME"},
	{"k9s", "Without it: kubectl get pods --watch"},
	{"yq", "jq reads what kubectl prints as JSON.\nTry: kubectl get pods -o json | jq '.items[].metadata.name'"},
	{"sudo doas", "Everything is allowed here without it."},
	{"apt apt-get dpkg yum dnf apk brew snap pip pip3 npm", "Nothing can be installed in this terminal.\nThe programs there are: help"},
	{"python python3 ruby perl php go", "Scripts here are bash, or JavaScript: node FILE\nIts fetch('/api/v1/namespaces') asks the API server."},
	{"git", "kubectl apply -f URL takes a manifest out of a repository, and curl -O URL a file."},
	{"ssh scp", "Nodes are simulated, nobody can log in to them.\nA shell in a Pod: kubectl exec -it NAME -- sh"},
	{"ping dig nslookup host telnet nc traceroute", "This terminal is outside of the cluster's network, and a Pod is inside.\nTry: kubectl run -it --rm inside --image=busybox -- sh"},
	{"ps top htop free", "What Pods and nodes take: kubectl top pods, kubectl top nodes"},
	{"systemctl service journalctl", "Nodes are simulated: no system runs on them."},
	{"etcdctl etcd", "The store is a part of the API server, which alone reads it.\nTry: kubectl get --raw /api/v1/namespaces"},
}

// instead is what leads on where there is no program of that name, and empty where nothing is known.
func instead(name string) string {
	for _, tool := range tools {
		if slices.Contains(strings.Fields(tool.names), name) {
			return tool.hint
		}
	}
	if near := similar(name); len(near) > 0 {
		return "Did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}

// similar returns at most three programs that a slip of the fingers turns into name, which seldom is one of the first
// letter. kubectl's library counts the letters that differ, as for its commands.
func similar(name string) []string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	switch {
	case len(name) < 3:
		return nil
	case len(name) < 5:
		all.SuggestionsMinimumDistance = 1
	}
	for program := range programs {
		all.AddCommand(&cobra.Command{Use: program, Run: func(*cobra.Command, []string) {}})
	}
	for program := range coreutils.Names() {
		all.AddCommand(&cobra.Command{Use: program, Run: func(*cobra.Command, []string) {}})
	}
	near := slices.DeleteFunc(all.SuggestionsFor(name), func(program string) bool { return program[0] != name[0] })
	slices.Sort(near)
	return near[:min(len(near), 3)]
}
