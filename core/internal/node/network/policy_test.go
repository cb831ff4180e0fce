package network

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// indexed returns what a lister of the objects needs.
func indexed(t *testing.T, objects ...runtime.Object) cache.Indexer {
	t.Helper()
	all := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, obj := range objects {
		if err := all.Add(obj); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestPolicies(t *testing.T) {
	pod := func(namespace, name, address string, hostNetwork bool) peer {
		return peer{address, &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": name}},
			Spec: v1.PodSpec{HostNetwork: hostNetwork, Containers: []v1.Container{{Ports: []v1.ContainerPort{
				{Name: "web", ContainerPort: 80, Protocol: v1.ProtocolTCP}}}}},
			Status: v1.PodStatus{HostIP: "172.18.0.2"},
		}}
	}
	db, web, other := pod("shop", "db", "10.244.0.2", false), pod("shop", "web", "10.244.0.3", false), pod("else", "web", "10.244.1.2", false)
	host := pod("shop", "host", "172.18.0.3", true)
	for _, p := range []peer{db, web, other, host} {
		p.pod.UID = types.UID(p.pod.Namespace + p.pod.Name)
	}
	outside, node := peer{address: "172.18.0.1"}, peer{address: "172.18.0.2"}
	const all = "podSelector: {}"
	for name, test := range map[string]struct {
		policies []string // of shop
		from, to peer
		port     int
		udp      bool
		want     bool
	}{
		"without policies":                     {nil, other, db, 80, false, true},
		"default deny":                         {[]string{all + ", policyTypes: [Ingress]"}, web, db, 80, false, false},
		"default deny, elsewhere":              {[]string{all + ", policyTypes: [Ingress]"}, web, other, 80, false, true},
		"default deny, own node":               {[]string{all + ", policyTypes: [Ingress]"}, node, db, 80, false, true},
		"default deny, itself":                 {[]string{all + ", policyTypes: [Ingress, Egress]"}, db, db, 80, false, true},
		"default deny, from outside":           {[]string{all + ", policyTypes: [Ingress]"}, outside, db, 80, false, false},
		"default deny, for the host's network": {[]string{all + ", policyTypes: [Ingress, Egress]"}, web, host, 80, false, false},
		"default deny, by the host's network":  {[]string{all + ", policyTypes: [Egress]"}, host, other, 80, false, true},
		"default deny of egress":               {[]string{all + ", policyTypes: [Egress]"}, web, other, 80, false, false},
		"default deny of egress lets in":       {[]string{all + ", policyTypes: [Egress]"}, other, web, 80, false, true},
		"another is selected":                  {[]string{"podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]"}, other, web, 80, false, true},
		"allow all":                            {[]string{all + ", policyTypes: [Ingress], ingress: [{}]"}, other, db, 80, false, true},
		"of two policies one allows":           {[]string{all + ", policyTypes: [Ingress]", all + ", policyTypes: [Ingress], ingress: [{}]"}, other, db, 80, false, true},
		"from Pods of the namespace":           {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]"}, web, db, 80, false, true},
		"and of no other":                      {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]"}, other, db, 80, false, false},
		"from a namespace":                     {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {team: a}}}]}]"}, other, db, 80, false, true},
		"from a namespace, not this one":       {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {team: a}}}]}]"}, web, db, 80, false, false},
		"from both":                            {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {team: a}}, podSelector: {matchLabels: {app: db}}}]}]"}, other, db, 80, false, false},
		"from either":                          {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{namespaceSelector: {matchLabels: {team: a}}}, {podSelector: {matchLabels: {app: db}}}]}]"}, other, db, 80, false, true},
		"from addresses":                       {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 172.18.0.0/16}}]}]"}, outside, db, 80, false, true},
		"from addresses but some":              {[]string{all + ", policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 172.18.0.0/16, except: [172.18.0.0/24]}}]}]"}, outside, db, 80, false, false},
		"to a port":                            {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]"}, web, db, 80, false, true},
		"to another port":                      {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]"}, web, db, 81, false, false},
		"to a port of UDP":                     {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: 80}]}]"}, web, db, 80, true, false},
		"to the named port":                    {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: web}]}]"}, web, db, 80, false, true},
		"to what has another name":             {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: sql}]}]"}, web, db, 80, false, false},
		"to ports":                             {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: 80, endPort: 90}]}]"}, web, db, 85, false, true},
		"beyond ports":                         {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{port: 80, endPort: 90}]}]"}, web, db, 91, false, false},
		"to all of a protocol":                 {[]string{all + ", policyTypes: [Ingress], ingress: [{ports: [{protocol: UDP}]}]"}, web, db, 53, true, true},
		"egress to a namespace":                {[]string{all + ", policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}], ports: [{port: 80}]}]"}, web, other, 80, false, true},
		"egress to an address":                 {[]string{all + ", policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: 10.244.1.0/24}}]}]"}, web, other, 80, false, true},
		"both ends have policies":              {[]string{"podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{}]", "podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress]"}, web, db, 80, false, false},
		"DNS alone":                            {[]string{all + ", policyTypes: [Egress], egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, podSelector: {matchLabels: {k8s-app: kube-dns}}}], ports: [{port: 53, protocol: UDP}]}]"}, web, dnsServer, 53, true, true},
		"no DNS":                               {[]string{all + ", policyTypes: [Egress]"}, web, dnsServer, 53, true, false},
	} {
		var policies []runtime.Object
		for i, text := range test.policies {
			p := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: string(rune('a' + i))}}
			if err := yaml.UnmarshalStrict([]byte("{"+text+"}"), &p.Spec); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			policies = append(policies, p)
		}
		n := &Network{
			Policies: networkinglisters.NewNetworkPolicyLister(indexed(t, policies...)),
			Namespaces: corelisters.NewNamespaceLister(indexed(t, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
				&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "else", Labels: map[string]string{"team": "a"}}})),
		}
		if got := n.allowed(test.from, test.to, container.Port{Number: test.port, UDP: test.udp}); got != test.want {
			t.Errorf("%s: allowed %t, want %t", name, got, test.want)
		}
	}
}
