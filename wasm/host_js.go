package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/hack-pad/safejs"
)

// jsHost calls globalThis.kubetabHost. It is the bridge.Host. Methods whose errors nobody could act on
// return none: a host that throws on its own progress display is no reason to stop.
type jsHost struct {
	object     safejs.Value
	uint8Array safejs.Value
	json       safejs.Value
}

// findHost looks the host up. The error is that there is none.
func findHost() (*jsHost, error) {
	h := &jsHost{}
	for name, value := range map[string]*safejs.Value{"kubetabHost": &h.object, "Uint8Array": &h.uint8Array, "JSON": &h.json} {
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

func (h *jsHost) config() (string, error) {
	v, err := h.object.Get("config")
	if err != nil || v.IsUndefined() {
		return "", err
	}
	return v.String()
}

func (h *jsHost) started() error { return h.call("started") }

func (h *jsHost) stage(name string, since time.Duration) {
	_ = h.call("stage", name, float64(since.Microseconds())/1000)
}

func (h *jsHost) fatal(message string) { _ = h.call("fatal", message) }

// Head passes the headers as one string of JSON: an array would take two calls for each of its elements.
func (h *jsHost) Head(id, status int, headers []string) error {
	for i, s := range headers {
		headers[i] = toByteString(s)
	}
	text, err := json.Marshal(headers)
	if err != nil {
		return err
	}
	array, err := h.json.Call("parse", string(text))
	if err != nil {
		return err
	}
	return h.call("head", id, status, array)
}

func (h *jsHost) Chunk(id int, data []byte) error {
	array, err := h.uint8Array.New(len(data))
	if err != nil {
		return err
	}
	if _, err := safejs.CopyBytesToJS(array, data); err != nil {
		return err
	}
	return h.call("chunk", id, array)
}

func (h *jsHost) End(id int) error { return h.call("end", id) }

func (h *jsHost) Abort(id int, message string) error { return h.call("abort", id, message) }

func (h *jsHost) Pull(id int) error { return h.call("pull", id) }

func (h *jsHost) call(name string, args ...any) error {
	_, err := h.object.Call(name, args...)
	return err
}

// stringsOf reads an array of strings, as one string of JSON for the reason above.
func (h *jsHost) stringsOf(array safejs.Value) ([]string, error) {
	text, err := h.json.Call("stringify", array)
	if err != nil {
		return nil, err
	}
	s, err := text.String()
	if err != nil {
		return nil, err
	}
	var list []string
	return list, json.Unmarshal([]byte(s), &list)
}
