// Package goroutine has what package runtime keeps to itself: the numbers of goroutines, for code of upstream's that is called
// back without being told for whom (kubectl's handler of fatal errors is one variable for all commands), and room on their
// stacks.
package goroutine

// Number returns the number of the calling goroutine, which no other one has or will have.
func Number() uint64 { return number() }

// Parent returns the number of the goroutine that has started the calling one. Natively it is 0 where the trace of the calling
// goroutine is longer than 64 KiB.
func Parent() uint64 { return parent() }
