//go:build !late

package core

import (
	"io"
	"net/http"
)

// late is for tests with the build tag "late".
func late(_ *http.Request, events io.ReadCloser) io.ReadCloser { return events }
