//go:build linux

// Command adopt COMMAND... becomes COMMAND, as exec does, after it has told the kernel that this process is the parent of
// every process below it that loses its own: a browser's, for one, which outlive the test that began them. Who waits for
// its children then knows what all of them have taken. See PR_SET_CHILD_SUBREAPER(2const).
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const prSetChildSubreaper = 36 // linux/prctl.h

func main() {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		fail(errno)
	}
	path, err := exec.LookPath(os.Args[1])
	if err != nil {
		fail(err)
	}
	fail(syscall.Exec(path, os.Args[1:], os.Environ()))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "adopt:", err)
	os.Exit(1)
}
