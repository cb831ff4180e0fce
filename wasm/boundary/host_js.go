package boundary

import (
	"errors"
	"strings"
	"time"
	"unsafe"

	"github.com/hack-pad/safejs"
)

// Host calls globalThis.kubetabHost. It is the bridge.Host. Methods whose errors nobody could act on return
// none: a host that throws on its own progress display is no reason to stop.
type Host struct {
	object     safejs.Value
	uint8Array safejs.Value
}

// What is called for every request is imported by name: see wasm/boundary/imports.mjs. The result is 0 unless the host threw.
var errThrew = errors.New("it threw an exception, which is in its log")

//go:wasmimport kubetab head
func hostHead(id, status int32, headers string) int32

//go:wasmimport kubetab chunk
func hostChunk(id int32, data string) int32

//go:wasmimport kubetab end
func hostEnd(id int32) int32

//go:wasmimport kubetab abort
func hostAbort(id int32, message string) int32

//go:wasmimport kubetab pull
func hostPull(id int32) int32

func failed(code int32) error {
	if code != 0 {
		return errThrew
	}
	return nil
}

// FindHost looks the host up. The error is that there is none.
func FindHost() (*Host, error) {
	h := &Host{}
	for name, value := range map[string]*safejs.Value{"kubetabHost": &h.object, "Uint8Array": &h.uint8Array} {
		v, err := safejs.Global().Get(name)
		if err != nil {
			return nil, err
		}
		if v.IsUndefined() {
			return nil, errors.New("globalThis." + name + " is not set")
		}
		*value = v
	}
	return h, nil
}

// Config is kubetabHost.config; empty when it is not set. The error is that it is no string.
func (h *Host) Config() (string, error) {
	v, err := h.object.Get("config")
	if err != nil || v.IsUndefined() {
		return "", err
	}
	return v.String()
}

// Started tells the host that kubetabEngine is there. The error is what the host throws.
func (h *Host) Started() error { return h.call("started") }

// Stage tells how far the start has come, and how long after the program began.
func (h *Host) Stage(name string, since time.Duration) {
	_ = h.call("stage", name, float64(since.Microseconds())/1000)
}

// Fatal tells what the program is about to end of.
func (h *Host) Fatal(message string) { _ = h.call("fatal", message) }

// Head passes the headers as lines: none of them can have a line break.
func (h *Host) Head(id, status int, headers []string) error {
	return failed(hostHead(int32(id), int32(status), toByteString(strings.Join(headers, "\n"))))
}

// Chunk has the host copy data, once, into an Uint8Array of its own.
func (h *Host) Chunk(id int, data []byte) error {
	return failed(hostChunk(int32(id), unsafe.String(unsafe.SliceData(data), len(data))))
}

// End is bridge.Host's.
func (h *Host) End(id int) error { return failed(hostEnd(int32(id))) }

// Abort is bridge.Host's.
func (h *Host) Abort(id int, message string) error { return failed(hostAbort(int32(id), message)) }

// Pull is bridge.Host's.
func (h *Host) Pull(id int) error { return failed(hostPull(int32(id))) }

// CanKeep says whether the host has a way to keep entries.
func (h *Host) CanKeep() bool {
	v, err := h.object.Get("keep")
	return err == nil && !v.IsUndefined() && !v.IsNull()
}

// Keep has the host keep a record under a name, for a program that goes on from the same snapshot, and forget those
// under the names superseded; an empty record is to be forgotten itself.
func (h *Host) Keep(name string, record []byte, superseded []string) {
	array, err := h.uint8Array.New(len(record))
	if err != nil {
		return
	}
	if _, err := safejs.CopyBytesToJS(array, record); err != nil {
		return
	}
	_ = h.call("keep", name, array, strings.Join(superseded, " "))
}

// NotKept tells why what was kept is of no use.
func (h *Host) NotKept(why string) { _ = h.call("notKept", why) }

// TakenOver tells that the entries of another build were taken over, but for those left out, a line for each.
func (h *Host) TakenOver(left []string) { _ = h.call("takenOver", strings.Join(left, "\n")) }

func (h *Host) call(name string, args ...any) error {
	_, err := h.object.Call(name, args...)
	return err
}
