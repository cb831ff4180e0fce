package options

import (
	"errors"
	"syscall"
)

// The engine never listens: requests come through the bridge. Whoever asks for a socket option gets an error.
func permitPortReuse(network, addr string, conn syscall.RawConn) error {
	return errors.New("port reuse does not exist on js/wasm")
}

func permitAddressReuse(network, addr string, conn syscall.RawConn) error {
	return errors.New("address reuse does not exist on js/wasm")
}
