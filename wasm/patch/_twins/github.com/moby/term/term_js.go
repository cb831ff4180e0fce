package term

import (
	"errors"
	"io"
	"os"
)

// A Device is a terminal. No file descriptor of a js/wasm program is one: the page's terminals have numbers of their own.
type Device interface {
	Size() (columns, rows int)
	// Raw switches raw mode on or off and returns what it was.
	Raw(bool) (before bool)
	// Changed is closed when the size, among others, may have changed.
	Changed() <-chan struct{}
}

// Devices returns the terminal of a number, or nil. While it is nil there are none.
var Devices func(fd uintptr) Device

var errNoTerminal = errors.New("not a terminal")

type terminalState struct{ raw bool }

func stdStreams() (stdIn io.ReadCloser, stdOut, stdErr io.Writer) {
	return os.Stdin, os.Stdout, os.Stderr
}

func device(fd uintptr) Device {
	if Devices == nil {
		return nil
	}
	return Devices(fd)
}

// getFdInfo knows streams by their method Fd, as os.File has one.
func getFdInfo(in any) (uintptr, bool) {
	if f, ok := in.(interface{ Fd() uintptr }); ok {
		fd := f.Fd()
		return fd, isTerminal(fd)
	}
	return 0, false
}

func isTerminal(fd uintptr) bool { return device(fd) != nil }

func getWinsize(fd uintptr) (*Winsize, error) {
	d := device(fd)
	if d == nil {
		return nil, errNoTerminal
	}
	columns, rows := d.Size()
	return &Winsize{Width: uint16(columns), Height: uint16(rows)}, nil
}

func setWinsize(fd uintptr, ws *Winsize) error { return errNoTerminal }

func restoreTerminal(fd uintptr, state *State) error {
	d := device(fd)
	if d == nil || state == nil {
		return errNoTerminal
	}
	d.Raw(state.raw)
	return nil
}

func saveState(fd uintptr) (*State, error) {
	d := device(fd)
	if d == nil {
		return nil, errNoTerminal
	}
	raw := d.Raw(true)
	d.Raw(raw)
	return &State{raw: raw}, nil
}

func disableEcho(fd uintptr, state *State) error { return errNoTerminal }

func makeRaw(fd uintptr) (*State, error) {
	d := device(fd)
	if d == nil {
		return nil, errNoTerminal
	}
	return &State{raw: d.Raw(true)}, nil
}

func setRawTerminal(fd uintptr) (*State, error) { return makeRaw(fd) }

func setRawTerminalOutput(fd uintptr) (*State, error) { return nil, nil }
