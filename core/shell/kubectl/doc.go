// Package kubectl runs upstream's kubectl inside the process: the command tree
// of k8s.io/kubectl/pkg/cmd, unchanged, with streams instead of a terminal's
// and requests that travel over HTTP to a listener in the same process.
//
//	Command --> cmd.NewKubectlCommand --> rest.Config --> Cluster's transport --> listener --> API
//	                    |                                    ^
//	                    +--> discovery, REST mapper <--------+  one Discovery for all commands
//
// It is no kubectl of our own. Only the effects of a command on its process
// differ.
//
// Invariants:
//
//   - A command never ends the process, starts another one, or writes to the
//     process's own streams. What upstream ends with os.Exit ends the command.
//   - When a command's context ends, so do its requests, and nothing that it
//     prints afterwards is seen.
//   - Discovery is kept between commands, and its ETag is compared before each.
//     It is asked for again when the server's has another ETag, or when a command
//     meets a type that is not there. The request bears the name of the command
//     that needs it.
//   - OpenAPI documents are kept by the hash in their URLs. The parsed documents
//     that apply uses are kept until they were not used for 20 s.
package kubectl
