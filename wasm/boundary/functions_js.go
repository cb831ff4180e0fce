package boundary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/hack-pad/safejs"
	"k8s.io/component-base/version"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/wasm/bridge"
)

// Functions are what Publish gives to JavaScript. Those that are functions must return at once, and may be called more
// than once.
type Functions struct {
	Bridge *bridge.Bridge
	// Start is when the program began.
	Start time.Time
	// Close asks the engine to end.
	Close func()
	// Freeze has the engine hold still, so that every copy of it is at the same point.
	Freeze func()
	// Kept takes an entry that Host.Keep was given by an earlier program; it owns record.
	Kept func(name string, record []byte)
	// Thawed tells that the program goes on from a snapshot: what Go draws at random is new by then.
	Thawed func()
}

// Publish sets globalThis.kubetabEngine. Its functions are the only ones that Go gives to JavaScript, and
// have their names there for good, so that a thawed engine can be given its functions back by name.
//
// They run inside a JavaScript call: none may wait, and none throws. What is wrong with a call is logged.
// The error is what JavaScript throws.
//
// It is long because it is the table of all functions.
func Publish(f Functions) error {
	b := f.Bridge
	engine, err := safejs.ValueOf(map[string]any{})
	if err != nil {
		return err
	}
	for name, call := range map[string]func(a *arguments) any{
		"request": func(a *arguments) any {
			id, method, url, headers, window := a.number(0), a.text(1), a.text(2), a.lines(3), a.number(5)
			hasBody, body := a.body(4)
			if a.err != nil {
				return nil
			}
			b.Request(id, method, url, headers, hasBody)
			if body != nil {
				b.Body(id, body)
				b.Body(id, nil)
			}
			b.Credit(id, window)
			return nil
		},
		"body": func(a *arguments) any {
			if id, chunk := a.number(0), a.bytes(1); a.err == nil {
				b.Body(id, chunk)
			}
			return nil
		},
		"credit": func(a *arguments) any {
			if id, n := a.number(0), a.number(1); a.err == nil {
				b.Credit(id, n)
			}
			return nil
		},
		"cancel": func(a *arguments) any {
			if id := a.number(0); a.err == nil {
				b.Cancel(id)
			}
			return nil
		},
		"stats": func(*arguments) any { return stats(b, f.Start) },
		"close": func(*arguments) any { f.Close(); return nil },
		// kept is called before thawed, with what keep was given in an earlier program.
		"kept": func(a *arguments) any {
			names, sizes, records := strings.Split(a.text(0), "\n"), strings.Fields(a.text(1)), a.bytes(2)
			if a.err == nil && len(names) != len(sizes) {
				a.err = fmt.Errorf("%d names and %d sizes", len(names), len(sizes))
			}
			for i := 0; i < len(names) && a.err == nil; i++ {
				var size int
				switch size, a.err = strconv.Atoi(sizes[i]); {
				case a.err != nil:
				case size < 0 || size > len(records):
					a.err = fmt.Errorf("a record of %d bytes, and %d are left", size, len(records))
				default:
					f.Kept(names[i], bytes.Clone(records[:size]))
					records = records[size:]
				}
			}
			return nil
		},
		// thawed is called before anything else when the program goes on from a snapshot.
		"thawed": func(*arguments) any {
			Reseed()
			f.Thawed()
			return nil
		},
		// arrived is called when a part of the module is there, and missing when it could not be
		// downloaded: see wasm/split/rest.mjs.
		"arrived": func(*arguments) any { absent.Arrived(); return nil },
		"missing": func(a *arguments) any {
			if why := a.text(0); a.err == nil {
				go absent.Fail(why)
			}
			return nil
		},
		"freeze": func(*arguments) any { f.Freeze(); return nil },
		// collect lets go of the JavaScript values that Go is done with, which it otherwise does some time
		// later: for who wants to freeze an engine at rest.
		"collect": func(*arguments) any {
			go func() {
				runtime.GC()
				scrub() // what the first collection found is finalized by then
			}()
			return nil
		},
	} {
		function, err := safejs.FuncOf(func(_ safejs.Value, values []safejs.Value) (result any) {
			a := &arguments{values: values}
			defer func() {
				if p := recover(); p != nil {
					a.err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
				}
				if a.err != nil {
					log.Printf("kubetabEngine.%s: %v", name, a.err)
				}
			}()
			return call(a)
		})
		if err != nil {
			return err
		}
		if err := engine.Set(name, function); err != nil {
			return err
		}
	}
	return safejs.Global().Set("kubetabEngine", engine)
}

// arguments reads those of a call. The first error stays, and what is read after it is zero.
type arguments struct {
	values []safejs.Value
	err    error
}

func argument[T any](a *arguments, i int, read func(safejs.Value) (T, error)) (v T) {
	if a.err == nil && i >= len(a.values) {
		a.err = fmt.Errorf("argument %d is missing", i)
	}
	if a.err == nil {
		if v, a.err = read(a.values[i]); a.err != nil {
			a.err = fmt.Errorf("argument %d: %w", i, a.err)
		}
	}
	return v
}

func (a *arguments) number(i int) int  { return argument(a, i, safejs.Value.Int) }
func (a *arguments) text(i int) string { return argument(a, i, safejs.Value.String) }

// lines reads a list of strings without line breaks.
func (a *arguments) lines(i int) []string {
	text := fromByteString(a.text(i))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// body reads that of a request: null is none, an Uint8Array is all of it, and any text says that it follows.
func (a *arguments) body(i int) (hasBody bool, all []byte) {
	follows := argument(a, i, func(v safejs.Value) (bool, error) { return v.Type() == safejs.TypeString, nil })
	if follows || a.err != nil {
		return true, nil
	}
	all = a.bytes(i)
	return all != nil, all
}

// bytes copies an Uint8Array; null is nil, and an empty array is not.
func (a *arguments) bytes(i int) []byte {
	return argument(a, i, func(v safejs.Value) ([]byte, error) {
		if v.IsNull() {
			return nil, nil
		}
		n, err := v.Length()
		if err != nil {
			return nil, err
		}
		data := make([]byte, n)
		_, err = safejs.CopyBytesToGo(data, v)
		return data, err
	})
}

// stats returns EngineStats as JSON. It stops the world for about a millisecond.
func stats(b *bridge.Bridge, start time.Time) string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := json.Marshal(EngineStats{
		version.Get().GitVersion, runtime.NumGoroutine(), b.Running(), m.HeapAlloc, memoryPages() * 65536,
		m.NumGC, float64(m.PauseTotalNs) / 1e6, time.Since(start).Milliseconds(),
	})
	if err != nil {
		panic(err) // numbers and a string
	}
	return string(text)
}
