//go:build !resumable

package bash

// libraryRecovers is false because the interpreter is upstream's.
const libraryRecovers = false
