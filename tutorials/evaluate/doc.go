// Package evaluate looks at the checks of a lesson while somebody works on it: the same in a tab and in tests.
//
//	start/ --apply--> API server --watches--> feeds  --+
//	                      |                            +--> queue --> checks, hints --> State --> followers
//	                      +--requests--> requestlog ---+
//
// Invariants:
//   - Nothing is polled, and nothing waits for the evaluator: requests and changes of objects are put into a bounded queue
//     in the order in which they happen, and one goroutine looks at the checks.
//   - Each request, each event of a watch and each change of an object is looked at by itself, so that a learner who is
//     quick loses nothing.
//   - A check that comes after a request sees no object as it was before the request was answered, though the watch may
//     still be behind.
//   - A check that comes after a state of objects counts the requests behind the last that may have made it so: what was
//     refused, or only tried, has not.
//   - The checks see what the learner did, and not what components, the page's own views and the loader did.
//   - What is kept is bounded: in requests, in events of a watch, and in bytes.
package evaluate
