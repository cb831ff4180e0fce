// Package container is a container without a kernel: a tree of files in memory,
// processes that are shell scripts run by an interpreter, well-known servers
// that answer HTTP, and a log. It knows nothing of Kubernetes; the kubelets of
// core/internal/node do.
//
//	Container                         Image: what nginx, busybox, ... are made of
//	  | argv                            |
//	  +-- server program? --> handlers by port, no goroutine, ends on SIGTERM
//	  +-- anything else ----> interp (mvdan.cc/sh) --> builtins
//	                            | stdin, stdout        commands (cat, ls, tar, ...)
//	                            v
//	                          Log, Tree --> Disk (files, volumes shared by trees)
//
// Invariants:
//
//   - Nothing here touches the files, processes or sockets of the machine. The
//     interpreter gets handlers for all three. Natively it uses pipes of the
//     operating system between the commands of a pipeline, on js/wasm it does
//     not.
//   - Time is the clock's: sleep, date and what servers do after a while.
//   - A process that nobody waits for costs nothing: a server has no goroutine,
//     and a sleeping script waits for one timer.
//   - What files take is bounded by the Disk, and below it by the Quota of each
//     directory tree (quota.go). A file that grows is not copied.
//   - A process is noted while it runs, and gets a number when somebody looks. What
//     shows processes or the kernel's files takes no lock that waits for a program.
//   - A program that is neither a tool nor of the image is there only for the
//     container's own command, where nothing is known of the image: a server.
//   - PID 1 has no default action for SIGTERM, as in a real container: a script
//     without a trap ends by SIGKILL after the grace period.
package container
