package play

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/kubetab/kubetab/core/shell"
)

//go:embed node.mjs
var prelude string

// node returns what runs node in the terminal: Node itself, in which fetch reaches the API at an address of plain HTTP, as
// it reaches the tab's in a worker of the page.
func node(api string) func(context.Context, shell.NodeCommand) int {
	return func(ctx context.Context, c shell.NodeCommand) int {
		first := "data:text/javascript;base64," + base64.StdEncoding.EncodeToString([]byte(prelude))
		process := exec.CommandContext(ctx, "node", append([]string{"--no-warnings", "--import", first}, c.Args...)...)
		process.Dir, process.Stdout, process.Stderr = c.Dir, c.Stdout, c.Stderr
		// Without the terminal's variables: its PATH names programs that only it has.
		process.Env = append(process.Environ(), "KUBETAB_API="+api)
		process.WaitDelay = time.Second
		err := process.Run()
		var ended *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return 130
		case errors.As(err, &ended):
			return ended.ExitCode()
		case err != nil:
			fmt.Fprintf(c.Stderr, "node: %v\n", err)
			return 127
		}
		return 0
	}
}
