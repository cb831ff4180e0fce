package bash

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// sourced begins the name of a file for the interpreter's `source`, which opens it by Config.Open and parses it. No file of
// a machine has such a name.
const sourced = "/dev/null/sourced/"

// source opens a script with the text mended. The errors are those of open, and an *fs.PathError.
func source(ctx context.Context, open func(context.Context, string, int, fs.FileMode) (io.ReadWriteCloser, error), name string, vars Variables) (io.ReadWriteCloser, error) {
	file, err := open(ctx, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := coreutils.ReadAll(file)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	mended, err := mendedText(string(text), name, vars)
	if err != nil {
		return nil, &fs.PathError{Op: "source", Path: name, Err: err}
	}
	return script{strings.NewReader(mended)}, nil
}

// script is a file that is only read.
type script struct{ io.Reader }

func (script) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (script) Close() error              { return nil }
