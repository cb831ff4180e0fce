// Command split cuts the engine's module, so that a page need not download what it does not use, and begins with what it
// uses first:
//
//	go run ./wasm/split -profile wasm/split/hot.txt -first wasm/split/first.txt \
//		-o build/wasm/kubetab.wasm -soon build/wasm/kubetab.soon.wasm -rest build/wasm/kubetab.rest.wasm build/wasm/whole.wasm
//
// One profile says which functions an engine calls once it has started, and another one which of them it calls until
// kubectl has printed something. The page begins with the latter. What else is in the first profile comes as soon as the
// engine runs. The rest has the other functions, most of them for work that is done once, before the snapshot is taken, or
// for rare requests. It is fetched when one of its functions is called. Without -first and -soon there are two parts. See
// cut for how the parts fit together.
//
//	go run ./wasm/split -mark -o build/wasm/marked.wasm build/wasm/whole.wasm
//
// writes a module that tells which of its functions have been called (make profile runs it), and
//
//	go run ./wasm/split -called build/profile/called -o wasm/split/hot.txt build/profile/kubetab.wasm
//
// the profile of what such runs have told, each in a file of that folder. With -profile FILE it has the functions of that
// profile, too: this is how the functions of a few more lines come into hot.txt.
//
//	go run ./wasm/split -slot 14660 build/wasm/whole.wasm
//
// names the function in a slot of the table: an engine that needs the rest says for which.
//
// With -names FILE a cut writes down which function has which number in which part, {"engine": [...], "soon": [...], "rest": [...]}:
// a profiler knows no more than numbers. web/build/flame.mjs reads it.
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
	flag.StringVar(&o.profile, "profile", "", "`file` of the profile to cut by, or to add to what -called has")
	flag.StringVar(&o.first, "first", "", "`file` of the profile of what is called first: what else -profile has comes soon")
	flag.StringVar(&o.soon, "soon", "", "`file` for the part that comes soon; only with -first")
	flag.StringVar(&o.parked, "parked", "", "`file` with the functions that are on a stack in the snapshot: move what Go knows of others than these to the rest")
	flag.StringVar(&o.rest, "rest", "", "`file` for the rest")
	flag.StringVar(&o.names, "names", "", "`file` for the names of the functions of all parts by their numbers, in JSON, for who reads what a profiler says")
	flag.StringVar(&o.out, "o", "", "`file` to write")
	flag.BoolVar(&o.mark, "mark", false, "write a module that tells what is called")
	flag.StringVar(&o.called, "called", "", "`folder` of files that tell what was called, to write a profile from")
	flag.IntVar(&o.slot, "slot", 0, "print the name of the function in this `slot` of the table")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "split cuts the engine's module in two.\n\nUsage: go run ./wasm/split [flags] MODULE\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || (o.out == "") != (o.slot != 0) || (o.rest == "") != (o.profile == "" || o.called != "") || (o.soon == "") != (o.first == "") {
		flag.Usage()
		os.Exit(2)
	}
	if err := o.run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "split:", err)
		os.Exit(1)
	}
}

type options struct {
	profile, first, parked         string
	out, soon, rest, names, called string
	mark                           bool
	slot                           int
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
		return o.cut(m)
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

func (o options) cut(m *module) error {
	hot, err := readProfileFile(o.profile)
	if err != nil {
		return err
	}
	var first profile
	if o.first != "" {
		if first, err = readProfileFile(o.first); err != nil {
			return err
		}
	}
	partOf, err := m.partsOf(hot, first)
	if err != nil {
		return err
	}
	var parked []bool
	if o.parked != "" {
		if parked, err = readParked(o.parked, m); err != nil {
			return err
		}
	}
	made, err := cut(m, partOf, parked)
	if err != nil {
		return err
	}
	names := map[string][]string{}
	for p, to := range map[part]struct{ name, file string }{partEngine: {"engine", o.out}, partSoon: {"soon", o.soon}, partRest: {"rest", o.rest}} {
		if made[p].module == nil {
			continue
		}
		names[to.name] = made[p].functions
		if err := os.WriteFile(to.file, made[p].module, 0o644); err != nil {
			return err
		}
	}
	if o.names == "" {
		return nil
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return os.WriteFile(o.names, list, 0o644)
}

func readProfileFile(file string) (profile, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := readProfile(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
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
	if o.profile != "" {
		if p, err = readProfileFile(o.profile); err != nil {
			return err
		}
	}
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
