// Package terminal stands between a terminal that speaks bytes, such as
// xterm.js in a page or the client of a container, and programs that read and write streams. It has a line
// discipline, a line editor, and a filter for untrusted text.
//
//	keys --> TTY.Type --> cooked: echo, lines, ^C, ^D --> TTY.Input (commands)
//	                  \-> raw ------------------------> Editor, or a command that asked for it
//	screen <-- TTY.Next <-- TTY.Write <-- Filter <-- what commands print
//
// Invariants:
//
//   - Bytes are read by the program that they were typed for: nothing is read
//     ahead.
//   - What commands print through TTY.Output reaches the screen as text, colours and line breaks
//     only. Every other control sequence is ours. (Containers write as they like: the terminal of their client filters.)
//   - A command that prints faster than the screen takes it waits.
package terminal
