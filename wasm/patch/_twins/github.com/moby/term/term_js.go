package term

import (
	"errors"
	"io"
	"os"
)

// No file descriptor of a js/wasm program is a terminal: the page's terminal is reached through streams.
var errNoTerminal = errors.New("terminals do not exist on js/wasm")

type terminalState struct{}

func stdStreams() (stdIn io.ReadCloser, stdOut, stdErr io.Writer) {
	return os.Stdin, os.Stdout, os.Stderr
}

func getFdInfo(in any) (uintptr, bool) {
	if file, ok := in.(*os.File); ok {
		return file.Fd(), false
	}
	return 0, false
}

func isTerminal(fd uintptr) bool { return false }

func getWinsize(fd uintptr) (*Winsize, error) { return nil, errNoTerminal }

func setWinsize(fd uintptr, ws *Winsize) error { return errNoTerminal }

func restoreTerminal(fd uintptr, state *State) error { return errNoTerminal }

func saveState(fd uintptr) (*State, error) { return nil, errNoTerminal }

func disableEcho(fd uintptr, state *State) error { return errNoTerminal }

func makeRaw(fd uintptr) (*State, error) { return nil, errNoTerminal }

func setRawTerminal(fd uintptr) (*State, error) { return nil, errNoTerminal }

func setRawTerminalOutput(fd uintptr) (*State, error) { return nil, nil }
