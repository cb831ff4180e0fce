// Package shell is the terminal of the page: a bash-like shell with the real
// kubectl, in the engine's process.
//
//	page --HTTP--> Handler --> terminal.TTY --> session (mvdan.cc/sh) --> kubectl (package kubectl)
//	                  |                            |                  \-> coreutils, jq, awk, watch, ...
//	                  +--> files, edits            +--> files of the process (in memory in the tab)
//
// kubectl and curl reach the API over HTTP on a listener of the process, so
// that a request of theirs is like any other.
//
// Invariants:
//
//   - What a command prints reaches the screen through terminal.Filter. The
//     messages to the page, private OSC sequences, are written past it.
//   - Ctrl-C ends everything that the line started, requests included, and the
//     prompt is back within a second. What does not end by itself is left behind,
//     and nothing that it does is seen.
//   - Who can reach the handler can do what the administrator can: it is for
//     the page itself.
package shell
