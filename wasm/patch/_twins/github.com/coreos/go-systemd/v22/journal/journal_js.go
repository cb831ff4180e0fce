package journal

import "errors"

// There is no journald behind a browser tab or behind Node's js/wasm host.
var errNoJournal = errors.New("journald does not exist on js/wasm")

// Enabled is always false.
func Enabled() bool { return false }

// Send always fails.
func Send(message string, priority Priority, vars map[string]string) error { return errNoJournal }

// StderrIsJournalStream is always false.
func StderrIsJournalStream() (bool, error) { return false, nil }

// StdoutIsJournalStream is always false.
func StdoutIsJournalStream() (bool, error) { return false, nil }
