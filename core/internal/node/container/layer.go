package container

import (
	"io/fs"
	"maps"
	"slices"
)

// layer is what a directory shows besides its own entries, without keeping it: the
// programs of an image, which all of its containers share, and what the kernel tells in
// /proc. Its methods are called under the disk's lock, and must not use the disk.
type layer interface {
	file(name string) *File // nil: there is none
	names() []string
}

// entry returns what a directory has of a name, or nil.
func (f *File) entry(name string) *File {
	if have, ok := f.entries[name]; ok || f.layer == nil {
		return have
	}
	return f.layer.file(name)
}

// all returns what a directory has, by name.
func (f *File) all() map[string]*File {
	if f.layer == nil {
		return f.entries
	}
	all := maps.Clone(f.entries)
	for _, name := range f.layer.names() {
		if _, ok := all[name]; ok {
			continue
		}
		if below := f.layer.file(name); below != nil {
			all[name] = below
		}
	}
	return all
}

// settleLocked makes what a directory shows its own, because something in it is about to
// change, and looks at's file up anew.
func (t *Tree) settleLocked(at *place) {
	if at.parent == nil || at.parent.layer == nil || at.readOnly {
		return
	}
	all := at.parent.all()
	for name, shared := range all {
		if _, own := at.parent.entries[name]; !own {
			file := *shared
			file.quota, file.open, file.charged = at.parent.quota, 0, 0
			all[name] = &file
		}
	}
	at.parent.entries, at.parent.layer = all, nil
	at.file = all[at.name]
}

// fixed is a layer that never changes.
type fixed map[string]*File

func (l fixed) file(name string) *File { return l[name] }
func (l fixed) names() []string        { return slices.Collect(maps.Keys(l)) }

// binary is what a program's file holds: nobody but a simulated kernel can run it.
func binary() []byte {
	return []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00>\x00")
}

// binaryLocked returns a program's file.
func (d *Disk) binary() *File {
	return &File{mode: 0o755, changed: d.clock.Now(), lazy: binary}
}

// programs returns the files of the programs that images have, one set for all
// containers of the disk whose image has the same ones.
func (d *Disk) programs(i Image) layer {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := i.Bash
	if have := d.shared[key]; have != nil {
		return have
	}
	files := fixed{}
	add := func(name string) {
		if _, ok := files[name]; !ok {
			files[name] = d.binary()
		}
	}
	for name := range shells {
		if i.hasShell(name) {
			add(name)
		}
	}
	for _, name := range toolNames() {
		add(name)
	}
	if d.shared == nil {
		d.shared = map[bool]fixed{}
	}
	d.shared[key] = files
	return files
}

// install puts the image's programs into a new tree: in /bin, and in /usr/bin, which are
// one in images of Debian.
func (i Image) install(t *Tree) {
	if i.Bare {
		return
	}
	tools := t.disk.programs(i)
	usr, bin := t.disk.Sub(t.root, "usr/bin"), t.disk.Sub(t.root, "bin")
	t.disk.mu.Lock()
	usr.layer = tools
	if i.Bash {
		t.root.entries["bin"] = &File{mode: fs.ModeSymlink | 0o777, changed: t.root.changed, target: "usr/bin"}
	} else {
		bin.layer = tools
	}
	t.disk.mu.Unlock()
	for _, name := range i.programs() {
		at := i.where(name)
		dir := t.disk.Sub(t.root, at[:len(at)-len(name)])
		t.disk.mu.Lock()
		if dir != nil && dir.entries != nil && dir.entries[name] == nil { // some are scripts, which the image has
			dir.entries[name] = t.disk.binary()
		}
		t.disk.mu.Unlock()
	}
}
