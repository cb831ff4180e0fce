// Package boundary is where Go and JavaScript meet: an object of each side that the other one calls, and
// how values cross.
//
//	globalThis.kubetabHost    what JavaScript offers    Host calls it
//	globalThis.kubetabEngine  what Go offers            Publish sets it
//
// Only numbers, strings and bytes cross. While no request is in flight Go holds no JavaScript value but
// globals and the functions in kubetabEngine, so that the memory of an idle engine can be frozen and
// thawed in another process.
package boundary
