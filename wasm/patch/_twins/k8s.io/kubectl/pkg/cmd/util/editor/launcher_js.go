package editor

import (
	"errors"
	"fmt"
	"path/filepath"
)

// LaunchHook opens path in an editor and returns when it is closed again. args
// are the words of KUBE_EDITOR or EDITOR. There is no editor while it is nil.
var LaunchHook func(args []string, path string) error

// Launch opens path in the editor behind LaunchHook. Errors: there is none, and those of the hook.
func (e Editor) Launch(path string) error {
	if LaunchHook == nil {
		return errors.New("there is no editor on js/wasm")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := LaunchHook(e.Args, abs); err != nil {
		return fmt.Errorf("there was a problem with the editor: %w", err)
	}
	return nil
}
