package container

import (
	"context"
	"fmt"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// script runs a file of the container as a shell script. It reports whether
// there is one.
func (k *call) script(ctx context.Context, args []string) (int, bool) {
	p := coreutils.Absolute(k.Dir, args[0])
	info, err := k.Files.Stat(p, true)
	if err != nil || info.IsDir() {
		return 0, false
	}
	if info.Mode().Perm()&0o111 == 0 {
		fmt.Fprintf(k.Stderr, "%s: %s: Permission denied\n", k.session.name(), args[0])
		return 126, true
	}
	return k.shell(ctx, append([]string{"sh", p}, args[1:]...)), true
}

// shell runs a shell as the call's process.
func (k *call) shell(ctx context.Context, args []string) int {
	child := k.session.child(k.Call, k.Environ())
	child.process = k.process
	return child.shell(ctx, args)
}

// child is a session with the streams of a call in this one. It is at the terminal if that is what the call reads from.
func (s *session) child(k *coreutils.Call, env []string) *session {
	child := newSession(s.c.withEnv(env), k.Stdout, k.Stderr)
	child.stdin, child.own = k.Stdin, s.own
	if _, typed := k.Stdin.(*terminal.Input); typed {
		child.tty = s.tty
	}
	return child
}

// withEnv is the container as a process in it sees it that has other variables.
func (c *Container) withEnv(env []string) *Container {
	return &Container{origin: c.root(), cfg: c.cfg, Log: c.Log, Started: c.Started, argv: c.argv, env: env, tree: c.tree, ctx: c.ctx, cancel: c.cancel}
}

// brokenPipe is SIGPIPE.
const brokenPipe = killedBy(13)

// piped runs a program, which a pipe that nobody reads any more ends without a word.
func (k *call) piped(f func(*coreutils.Call) int) int {
	ctx, end := context.WithCancelCause(k.Context)
	defer end(nil)
	k.Context = ctx
	k.Stdin, k.Stderr = coreutils.ReadUntil(ctx, k.Stdin), coreutils.Until(ctx, k.Stderr)
	k.Stdout = coreutils.Until(ctx, coreutils.Piped(k.Stdout, func() { end(brokenPipe) }))
	code := f(k.Call)
	if by, ok := killed(ctx); ok && code != 0 {
		return by
	}
	return code
}
