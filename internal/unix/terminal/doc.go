// Package terminal stands between a terminal that speaks bytes, such as
// xterm.js in a page, and programs that read and write streams. It has a line
// discipline, a line editor, and a filter for untrusted text.
//
//	keys --> TTY.Feed --> cooked: echo, lines, ^C, ^D --> TTY.Input (commands)
//	                  \-> raw ------------------------> Editor, or a command that asked for it
//	screen <-- TTY.Next <-- TTY.Screen (ours) <-- Filter <-- what commands print
//
// Invariants:
//
//   - Bytes are read by the program that they were typed for: nothing is read
//     ahead.
//   - What commands print reaches the screen as text, colours and line breaks
//     only. Every other control sequence is ours.
//   - A command that prints faster than the screen takes it waits.
package terminal
