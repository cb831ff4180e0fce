package container

import (
	"crypto/rand"
	"io"
	"syscall"
)

// Handle is an open file. It is not safe for concurrent use, as its position
// moves.
type Handle struct {
	tree    *Tree
	file    *File
	path    string
	at      int
	appends bool
	closed  bool
}

// all reads what there is, and closes the file. It fails for devices that have no end.
func (h *Handle) all() ([]byte, error) {
	defer h.Close()
	if h.file.device == devZero || h.file.device == devFull || h.file.device == devRandom {
		return nil, pathError("read", h.path, syscall.EINVAL)
	}
	return io.ReadAll(h)
}

func (h *Handle) Read(b []byte) (int, error) {
	switch h.file.device {
	case devNull, devStdin, devStdout, devStderr, devLog, devErrors:
		return 0, io.EOF
	case devZero, devFull:
		clear(b)
		return len(b), nil
	case devRandom:
		return rand.Read(b)
	}
	h.tree.disk.mu.RLock()
	defer h.tree.disk.mu.RUnlock()
	if h.file.entries != nil {
		return 0, pathError("read", h.path, syscall.EISDIR)
	}
	n := 0
	if h.file.lazy == nil {
		n = h.file.data.readAt(b, h.at)
	} else if data := h.file.lazy(); h.at < len(data) {
		n = copy(b, data[h.at:])
	}
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	h.at += n
	return n, nil
}

// Write writes as much of b as there is room for. It fails with ENOSPC where that
// is not all.
func (h *Handle) Write(b []byte) (n int, err error) {
	switch h.file.device {
	case devNull, devZero, devRandom, devStdin:
		return len(b), nil
	case devFull:
		return 0, pathError("write", h.path, syscall.ENOSPC)
	case devStdout, devLog:
		return h.tree.stdout.Write(b)
	case devStderr, devErrors:
		return h.tree.stderr.Write(b)
	}
	f, disk := h.file, h.tree.disk
	disk.mu.Lock()
	defer func() {
		counts := f.memory != nil
		disk.mu.Unlock()
		if counts && h.tree.grown != nil {
			h.tree.grown()
		}
	}()
	// Another handle may have truncated the file meanwhile.
	if h.appends || h.at > f.data.size {
		h.at = f.data.size
	}
	touchLocked(f, h.tree.memory)
	if grow := int64(h.at + len(b) - f.data.size); grow > 0 {
		if room := disk.roomLocked(f.quota); grow > room {
			b, grow, err = b[:int64(len(b))-(grow-room)], room, pathError("write", h.path, syscall.ENOSPC)
		}
		disk.chargeLocked(f, grow)
	}
	f.data.writeAt(b, h.at)
	h.at += len(b)
	f.changed = disk.clock.Now()
	return len(b), err
}

// Truncate cuts off what is behind size, which is no more than the file has. It never fails.
func (h *Handle) Truncate(size int64) error {
	f, disk := h.file, h.tree.disk
	disk.mu.Lock()
	defer disk.mu.Unlock()
	if cut := int64(f.data.size) - size; cut > 0 {
		disk.chargeLocked(f, -min(cut, f.charged))
		f.data.truncate(int(size))
		f.changed = disk.clock.Now()
	}
	return nil
}

// Close never fails. What a file takes that has been removed is free when its last
// handle is closed.
func (h *Handle) Close() error {
	h.tree.disk.mu.Lock()
	defer h.tree.disk.mu.Unlock()
	if h.closed {
		return nil
	}
	h.closed = true
	f := h.file
	if f.open--; f.open == 0 && f.removed {
		h.tree.disk.chargeLocked(f, -f.charged)
	}
	return nil
}
