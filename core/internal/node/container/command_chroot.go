package container

import (
	"path"
)

// chroot runs a command, or a shell, that sees a folder as the root, as after
// `kubectl debug node` with the node's files in /host.
func chroot(k *call) int {
	if k.session.c.cfg.User.UID != 0 {
		return k.Fail("can't change root directory to '%s': Operation not permitted", append(k.Args, "/")[0])
	}
	if len(k.Args) == 0 {
		return k.Fail("missing operand")
	}
	tree, err := k.session.c.tree().Within(k.Path(k.Args[0]))
	if err != nil {
		return k.Fail("can't change root directory to '%s': No such file or directory", k.Args[0])
	}
	argv := k.Args[1:]
	if len(argv) == 0 {
		argv = []string{shellEntry, "-i"}
	}
	child := k.session.child(k.Call, k.Environ())
	child.c.tree = func() *Tree { return tree }
	child.c.cfg.Dir = "/"
	child.c.cfg.Image.Bash = true // a node has bash, whatever the container has
	if name := path.Base(argv[0]); !child.c.exists(argv) {
		k.Fail("can't execute '%s': No such file or directory", name)
		return 127
	}
	return child.guarded(k, argv)
}
