// Package coreutils has the small Unix programs that a shell is useless
// without: cat, grep, sort, tar, curl and their like, each with what people use
// of it. They run in the containers of simulated nodes and in the terminal of
// the page, over whatever files, clock and network these have.
//
// It is no port of GNU's or busybox's. What is here answers as GNU's do, as
// testdata/gnu.txt has it, but for characters, which are those of UTF-8
// everywhere. A flag of one letter that is not here is ignored.
package coreutils
