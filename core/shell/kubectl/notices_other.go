//go:build !js

package kubectl

import "io"

// sendNotices does nothing: upstream's code is unmodified here.
func sendNotices(io.Writer) {}
