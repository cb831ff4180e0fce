package core

import (
	"maps"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
)

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

// People are in the kubeconfigs that Kubetab writes, in the page and natively.
// The first is the default. It has cluster-admin through system:masters, as the
// binding of that name says, so that nobody can lock themselves out.
var People = []Person{
	{Name: "kubetab-admin", Groups: []string{user.SystemPrivilegedGroup}},
	{Name: "kubetab-edit", ClusterRole: "edit"},
	{Name: "kubetab-view", ClusterRole: "view"},
}

// User returns who the person is to the server.
func (p Person) User() user.Info {
	return &user.DefaultInfo{Name: p.Name, Groups: append(append([]string{}, p.Groups...), user.AllAuthenticated)}
}

// Admit adds People with their tokens, by name, to those the engine knows, and
// gives them their roles when it starts.
func (c *Config) Admit(tokens map[string]string) {
	c.Tokens = maps.Clone(c.Tokens)
	if c.Tokens == nil {
		c.Tokens = map[string]user.Info{}
	}
	for _, p := range People {
		c.Tokens[tokens[p.Name]] = p.User()
		if p.ClusterRole != "" {
			c.ClusterRoleBindings = append(c.ClusterRoleBindings, rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: p.Name},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: p.Name}},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.ClusterRole},
			})
		}
	}
}
