package probe

import "net"

// ProbeDialer returns a plain dialer: there are no sockets on js/wasm, so none can linger.
func ProbeDialer() *net.Dialer { return &net.Dialer{} }
