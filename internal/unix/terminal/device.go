package terminal

import "sync"

// devices are the open terminals by the numbers that stand for them where code
// knows terminals by file descriptors only.
var devices = struct {
	mu   sync.Mutex
	last uintptr
	open map[uintptr]*TTY
}{last: 1 << 20, open: map[uintptr]*TTY{}}

// NoDevice is the number of what is no terminal.
const NoDevice = ^uintptr(0)

func register(t *TTY) uintptr {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	devices.last++
	devices.open[devices.last] = t
	return devices.last
}

func unregister(fd uintptr) {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	delete(devices.open, fd)
}

// Device returns the open terminal of a number, or nil.
func Device(fd uintptr) *TTY {
	devices.mu.Lock()
	defer devices.mu.Unlock()
	return devices.open[fd]
}

// Fd is the terminal's number.
func (i *Input) Fd() uintptr { return i.tty.fd }

// Fd is the terminal's number.
func (o *Output) Fd() uintptr { return o.tty.fd }
