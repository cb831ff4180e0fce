//go:build !unix

package journal

// fileLock does nothing here; see lock_unix.go.
type fileLock struct{}

func acquire(string) (*fileLock, error) { return &fileLock{}, nil }

func (l *fileLock) release() {}

// syncDir does nothing: a directory cannot be synced here.
func syncDir(string) error { return nil }
