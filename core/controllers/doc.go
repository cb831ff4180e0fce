// Package controllers runs kube-controller-manager's controllers in the process
// of the API server that they work on. They are upstream's own, constructed by
// upstream's own constructors and default settings, without the command around
// them: no flags, files, leader election, cloud or listener.
//
//	New(Config) --> Start(ctx): early ones --> server is ready --> all others
//	                                                                  |
//	  impersonated loopback clients  <--------------------------------+
//	  informers: the API server's where it has one (informerset)  <---+
//
// This package's own code replaces what upstream reads from files (a key, a CA),
// simulates a provisioner behind the default StorageClass, and has the table of
// the controllers.
//
// It holds that:
//   - controllers end when Start's context ends, and Wait returns when every
//     goroutine of theirs has ended; their context must end before the server
//     does, because some of them repeat a request until they get an answer;
//   - nothing here ends the process, given a server that is ready when Start's
//     waitReady returns and that answers until the context has ended. Upstream
//     does end it when discovery fails while the namespace controller is built;
//   - the server's readiness does not depend on an informer of a controller that
//     starts after it.
package controllers
