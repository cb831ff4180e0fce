// Package people has those whom a reader of Kubetab's kubeconfigs can choose to be.
package people

import "k8s.io/apiserver/pkg/authentication/user"

// A Person is who the reader of a kubeconfig can choose to be. Their contexts
// and users have the same names.
type Person struct {
	Name string
	// Groups besides system:authenticated.
	Groups []string
	// ClusterRole is one of upstream's user-facing roles, which a binding of the
	// person's name gives in every namespace. Empty means that the groups give
	// what there is.
	ClusterRole string
}

// All are in the kubeconfigs that Kubetab writes, in the page and natively.
// The first is the default. It has cluster-admin through system:masters, as the
// binding of that name says, so that nobody can lock themselves out.
var All = []Person{
	{Name: "kubetab-admin", Groups: []string{user.SystemPrivilegedGroup}},
	{Name: "kubetab-edit", ClusterRole: "edit"},
	{Name: "kubetab-view", ClusterRole: "view"},
}

// User returns who the person is to the server.
func (p Person) User() user.Info {
	return &user.DefaultInfo{Name: p.Name, Groups: append(append([]string{}, p.Groups...), user.AllAuthenticated)}
}
