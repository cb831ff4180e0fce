package term

// monitorResizeEvents does nothing: no signal tells a js/wasm program that a terminal was resized.
func monitorResizeEvents(fd uintptr, resizeEvents chan<- TerminalSize, stop chan struct{}) {}
