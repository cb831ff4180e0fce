package container

import "github.com/kubetab/kubetab/internal/unix/coreutils"

// date is coreutils', which knows nothing of setting it: that is left to who has CAP_SYS_TIME, and the time is the cluster's.
func date(k *call) int {
	f := k.Flags("sdr")
	text, sets := f.Long["set"]
	if f.On['s'] {
		text, sets = f.Value['s'], true
	}
	command := coreutils.Lookup("date")
	if !sets {
		return command(k.Call)
	}
	shown := *k.Call
	shown.Args = append([]string{"-d", text}, f.Rest...)
	if code := command(&shown); code != 0 {
		return code
	}
	switch cfg := k.session.c.cfg; {
	case cfg.User.isRoot() && cfg.Capabilities&capSysTime != 0:
		return k.Fail("this container is simulated: its time is the cluster's")
	case k.Userland == coreutils.GNU:
		return k.Fail("cannot set date: Operation not permitted")
	}
	k.Fail("can't set date: Operation not permitted")
	return 0 // as busybox does
}
