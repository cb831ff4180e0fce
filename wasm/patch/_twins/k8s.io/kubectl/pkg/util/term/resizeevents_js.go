package term

import "github.com/moby/term"

// monitorResizeEvents sends the size of a terminal whenever it has another one. The goroutine ends when
// stop is closed, or when there is no such terminal any more.
func monitorResizeEvents(fd uintptr, resizeEvents chan<- TerminalSize, stop chan struct{}) {
	if term.Devices == nil {
		return
	}
	device := term.Devices(fd)
	if device == nil {
		return
	}
	go func() {
		last := GetSize(fd)
		for {
			changed := device.Changed()
			size := GetSize(fd)
			if size == nil {
				return
			}
			if last == nil || *size != *last {
				last = size
				select {
				case resizeEvents <- *size:
				default: // as upstream: the next one will do
				}
			}
			select {
			case <-changed:
			case <-stop:
				return
			}
		}
	}()
}
