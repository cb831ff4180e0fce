// Package people has the users for whom Kubetab's kubeconfigs have contexts.
package people

import "k8s.io/apiserver/pkg/authentication/user"

// A Person is a user with a context in Kubetab's kubeconfigs. The context and
// its user have the person's name.
type Person struct {
	Name string
	// Groups besides system:authenticated.
	Groups []string
	// ClusterRole is one of upstream's user-facing roles, which a binding of the
	// person's name gives in every namespace. Empty means that only the groups
	// give rights.
	ClusterRole string
}

// All are in every kubeconfig that Kubetab writes. The first is the default. It
// has cluster-admin through system:masters, as the binding of that name says,
// so that nobody can lock themselves out.
var All = []Person{
	{Name: "kubetab-admin", Groups: []string{user.SystemPrivilegedGroup}},
	{Name: "kubetab-edit", ClusterRole: "edit"},
	{Name: "kubetab-view", ClusterRole: "view"},
}

// User returns the person as the server authenticates it.
func (p Person) User() user.Info {
	return &user.DefaultInfo{Name: p.Name, Groups: append(append([]string{}, p.Groups...), user.AllAuthenticated)}
}
