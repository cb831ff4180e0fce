// Package coreutils has the small Unix programs that a shell is useless
// without: cat, grep, sort, tar, curl and their like, each with the options
// that people use. They run in the containers of simulated nodes and in the
// terminal of the page, over whatever files, clock and network these have.
//
// It is no port of GNU's or busybox's. The programs answer as GNU's do
// (testdata/gnu.txt compares), except that characters are those of UTF-8
// everywhere. A flag of one letter that a program does not have is ignored.
package coreutils
