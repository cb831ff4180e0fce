package kubectl

import "k8s.io/kubectl/pkg/polymorphichelpers"

// The logs command tells which Pod or container it has chosen on the process's standard error, which wasm/patch has made a
// variable: several commands run at once.
func init() { polymorphichelpers.Notices = toOwnErrors{} }
