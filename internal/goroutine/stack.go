package goroutine

// Room gives the calling goroutine a stack of 16 KiB. It is for the beginning of one that calls deep: Go doubles a stack each
// time it is full, and copies all frames that are on it by then.
func Room() {
	var room [14 << 10]byte
	touch(&room)
}

//go:noinline
func touch(room *[14 << 10]byte) { room[0] = 1 }
