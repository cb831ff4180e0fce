// Command split cuts the engine's module in two, so that a page need not download what it does not use:
//
//	go run ./wasm/split -profile wasm/split/hot.txt -rest build/wasm/rest.wasm -o build/wasm/kubetab.wasm build/wasm/whole.wasm
//
// A profile says which functions the first part has: those that an engine calls once it has started. The
// second part has the others, most of them for work that is done once, before the snapshot is taken, or for
// rare requests. It is fetched when one of its functions is called. See cut for how the parts fit together.
//
//	go run ./wasm/split -mark -o build/wasm/marked.wasm build/wasm/whole.wasm
//
// writes a module that tells which of its functions have been called (make profile runs it), and
//
//	go run ./wasm/split -called build/profile/called -o wasm/split/hot.txt build/profile/kubetab.wasm
//
// the profile of what such runs have told, each in a file of that folder.
//
//	go run ./wasm/split -slot 14660 build/wasm/whole.wasm
//
// names the function in a slot of the table: an engine that needs the second module says for which.
//
// With -names FILE a cut writes down which function has which number in which part, {"engine": [...], "rest": [...]}:
// a profiler knows no more than numbers. web/build/flame.mjs reads it.
//
// A third module was tried, of the functions that fewer than one in eight of the profile's visits call. A page would then
// start with a third less. A reload took 1.3 s instead of 1.4: a start does not mainly wait for the module's bytes.
//
// Neither Binaryen's wasm-split nor LLVM was of use: the first takes minutes and gigabytes for a module of
// this size, wants an import or export for each function that one part calls in the other, of which there
// are tens of thousands, and both optimize what Go's runtime relies on, the table and its order.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	var o options
	flag.StringVar(&o.profile, "profile", "", "`file` of the profile to cut by")
	flag.StringVar(&o.parked, "parked", "", "`file` with the functions that are on a stack in the snapshot: move what Go knows of others than these to the second part")
	flag.StringVar(&o.rest, "rest", "", "`file` for the second part")
	flag.StringVar(&o.names, "names", "", "`file` for the names of the functions of both parts by their numbers, in JSON, for who reads what a profiler says")
	flag.StringVar(&o.out, "o", "", "`file` to write")
	flag.BoolVar(&o.mark, "mark", false, "write a module that tells what is called")
	flag.StringVar(&o.called, "called", "", "`folder` of files that tell what was called, to write a profile from")
	flag.IntVar(&o.slot, "slot", 0, "print the name of the function in this `slot` of the table")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "split cuts the engine's module in two.\n\nUsage: go run ./wasm/split [flags] MODULE\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || (o.out == "") != (o.slot != 0) || (o.rest == "") != (o.profile == "") {
		flag.Usage()
		os.Exit(2)
	}
	if err := o.run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "split:", err)
		os.Exit(1)
	}
}

type options struct {
	profile, parked, rest, names, out, called string
	mark                                      bool
	slot                                      int
}

func (o options) run(file string) error {
	whole, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	m, err := parse(whole)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := m.readNames(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case o.slot != 0:
		return printName(m, o.slot)
	case o.mark:
		return os.WriteFile(o.out, mark(m), 0o644)
	case o.called != "":
		return o.makeProfile(m)
	case o.profile != "":
		return o.cut(m, whole)
	}
	return errors.New("nothing to do: -profile, -mark or -called")
}

func printName(m *module, slot int) error {
	f := slot - m.offset
	if f < 0 || f >= len(m.names) {
		return fmt.Errorf("no function is in slot %d", slot)
	}
	fmt.Println(m.names[f])
	return nil
}

func (o options) cut(m *module, whole []byte) error {
	text, err := os.ReadFile(o.profile)
	if err != nil {
		return err
	}
	p, err := readProfile(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", o.profile, err)
	}
	hot := make([]bool, len(m.functions))
	for f, name := range m.names {
		hot[f] = p.has(name)
	}
	var parked []bool
	if o.parked != "" {
		if parked, err = readParked(o.parked, m); err != nil {
			return err
		}
	}
	engine, rest, err := cut(m, hot, parked)
	if errors.Is(err, errNoGlobals) {
		fmt.Fprintf(os.Stderr, "split: the module stays whole: %v\n", err)
		return errors.Join(os.WriteFile(o.out, whole, 0o644), os.RemoveAll(o.rest))
	}
	if err != nil {
		return err
	}
	err = errors.Join(os.WriteFile(o.out, engine.module, 0o644), os.WriteFile(o.rest, rest.module, 0o644))
	if o.names == "" || err != nil {
		return err
	}
	names, err := json.Marshal(map[string][]string{"engine": engine.functions, "rest": rest.functions})
	if err != nil {
		return err
	}
	return os.WriteFile(o.names, names, 0o644)
}

// readParked reads which functions are on stacks, by their slots in the table, and which may be named by strings, in JSON. It
// may list slots and strings that are of no function.
func readParked(file string, m *module) ([]bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list struct {
		Slots []int    `json:"slots"`
		Names []string `json:"names"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	parked := make([]bool, len(m.functions))
	for _, slot := range list.Slots {
		if f := slot - m.offset; f >= 0 && f < len(parked) {
			parked[f] = true
		}
	}
	for f, name := range m.names {
		if _, ok := slices.BinarySearch(list.Names, name); ok {
			parked[f] = true
		}
	}
	return parked, nil
}

func (o options) makeProfile(m *module) error {
	files, err := filepath.Glob(filepath.Join(o.called, "*.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s: there are no files", o.called)
	}
	p := profile{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var called []int
		if err := json.Unmarshal(text, &called); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, f := range called {
			if f < 0 || f >= len(m.names) {
				return fmt.Errorf("%s: there is no function %d in the module", file, f)
			}
			p.add(m.names[f])
		}
	}
	var text bytes.Buffer
	if err := p.writeTo(&text); err != nil {
		return err
	}
	return os.WriteFile(o.out, text.Bytes(), 0o644)
}
