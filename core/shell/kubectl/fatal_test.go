package kubectl

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// TestNoticesGoToTheirCommand: two commands run at once, and the one that began first still has its own notices.
func TestNoticesGoToTheirCommand(t *testing.T) {
	const commands = 2
	var errs [commands]bytes.Buffer
	var began, ended sync.WaitGroup
	began.Add(commands)
	for i := range commands {
		ended.Go(func() {
			f := follow(t.Context(), &errs[i], nil)
			defer f.end()
			began.Done()
			began.Wait()
			fmt.Fprintf(toOwnErrors{}, "notice of %d", i)
		})
	}
	ended.Wait()
	for i := range commands {
		if got, want := errs[i].String(), fmt.Sprintf("notice of %d", i); got != want {
			t.Errorf("command %d printed %q, want %q", i, got, want)
		}
	}
}
