package kubectl

import (
	"io"

	"k8s.io/kubectl/pkg/polymorphichelpers"
)

// sendNotices makes the logs command that is about to run write its notices to
// w: upstream writes them to the process's standard error, which wasm/patch has
// made a variable.
func sendNotices(w io.Writer) { polymorphichelpers.Notices = w }
