// Package shell is the terminal of the page: a bash-like shell with the real
// kubectl, in the engine's process.
//
//	page --HTTP--> Handler --> terminal.TTY --> session (mvdan.cc/sh) --> kubectl (package kubectl)
//	                  |                            |                  \-> coreutils, jq, awk, watch, ...
//	                  +--> files, edits            +--> files of the process (in memory in the tab)
//
// kubectl and curl reach the API over HTTP on a listener of the process: in a
// tab on the network that Go's net package keeps in memory on js/wasm. Their
// requests are like any other client's, and exec, attach, port-forward, proxy
// and cp work as they always do, over WebSocket.
//
// # What programs take from a process
//
// kubectl and the interpreter are written for processes of their own. Here they
// share the engine's process, and get what they need in other ways:
//
//   - Files are in memory on the JavaScript side (wasm/host/files.mjs), in the
//     shape of node's fs, which Go calls.
//   - The current folder, standard input and the environment belong to the
//     process. Commands that need different ones take turns
//     (kubectl/workplace.go), and give the environment back as soon as they have
//     read it.
//   - The identity is the current context of the kubeconfig. The page writes and
//     watches it (/kubetab/identity). The page keeps the file for the next engine,
//     without the tokens, which only one engine knows (/kubetab/kubeconfig).
//   - node FILE waits while the page of the terminal runs the file in a worker
//     (scripts.go). The page takes the text, sends what is printed, and ends with
//     the command. Tests give the shell a real Node (tutorials/play/node.go).
//   - What a line puts into the background lasts longer than the line, and is run here
//     (jobs.go). What a loop, a function or a script does is package bash's.
//   - Terminals, editors and diff(1) are function variables that wasm/patch adds
//     to upstream. The native build has upstream unmodified, and is for tests.
//
// # Limits
//
// The API server runs in the same process, so the resources that a line may take are
// limited. All files together have 256 MiB in a tab (wasm/host/files.mjs). A program may
// hold 64 MiB of what it reads (internal/unix/coreutils). The live objects of the heap may
// grow by 512 MiB while a line runs (limits.go). Functions may nest 1,000 deep, and 2,000
// parts of pipelines and jobs may run at once (internal/unix/coreutils), and 4,096 jobs
// of a shell. What is nested
// is bounded, because Go ends the process when a stack is full: scripts
// (internal/unix/bash), programs of awk, and values of jq (jqdepth.go). kubectl's memory
// is not counted; the files that it reads are bounded (core/shell/kubectl). A command that
// goes further gets the error of the real program. core/shell/lines has lines that try
// (endless.txt), and lines that print the same here and in bash.
//
// Invariants:
//
//   - A command's output is untrusted: Pods and objects can put anything into it.
//     terminal.Filter passes text, colours and line breaks, and drops every other
//     escape sequence. Messages to the page are private OSC sequences, which the
//     shell writes past the filter.
//   - Ctrl-C ends everything that the line started, requests included, and the
//     prompt is back within a second. The streams and files of a program fail once
//     Ctrl-C was pressed. A program that neither reads nor writes is left behind:
//     its goroutine ends when it is done, and nothing that it does is seen
//     (interrupt.go).
//   - A program that panics ends with 134, and nothing else does: every goroutine that
//     runs one has a coreutils.Survive.
//   - A client of the handler can do what the administrator can. The handler is
//     for the page itself.
package shell
