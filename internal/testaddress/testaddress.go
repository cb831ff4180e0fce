// Package testaddress gives tests addresses for programs that must be told where to listen. Only tests may import it.
//
// A free port that a test finds and gives up may be another program's before the one under test listens there. So these
// addresses are on an IP address that no other process uses: on Linux, all of 127.0.0.0/8 is this machine.
package testaddress

import (
	"fmt"
	"os"
	"sync/atomic"
)

// lowest is below the ports that a system takes for outgoing connections.
const lowest = 20_000

// handedOut is how many addresses there are.
var handedOut atomic.Int32

// New returns host:port, where nobody listens and which is returned once.
func New() string {
	pid := os.Getpid() // below 1<<22
	return fmt.Sprintf("127.%d.%d.%d:%d", 64+pid>>16, pid>>8&0xff, pid&0xff, lowest+handedOut.Add(1))
}
