package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// toolexecScript stands between the go command and its tools (go help build, -toolexec) and exchanges the
// linker. The version it tells for it has the sum of ours, so that what the stock linker made counts as stale, and
// what another of ours has made.
const toolexecScript = `#!/bin/sh
# Made by wasm/patch.
lean=${0%/*}/link
tool=$1
shift
case $tool in
*/link)
	if [ -x "$lean" ]; then
		if [ "$1" = -V=full ]; then
			echo "$("$tool" -V=full) lean-$(cksum <"$lean" | tr ' ' -)"
			exit
		fi
		tool=$lean
	fi
	;;
esac
exec "$tool" "$@"
`

// goScript runs the go command as every js/wasm build and test needs it.
//
// -trimpath lets clones in different folders share what is compiled. Without inlining (-l) code is smaller:
// it is left out where little time is spent, in generated code and in what runs at start, and kept in what
// every request runs through.
//
// The tag resumable says that the changes to Go itself are in: the native build of the same packages has none.
const goScript = `#!/bin/sh
# Made by wasm/patch: the go command for js/wasm. Takes a subcommand, build, test, vet or list, and its arguments.
patch=$(CDPATH= cd -- "${0%/*}" && pwd)
subcommand=$1
shift
tags=grpcnotrace,resumable${KUBETAB_TAGS:+,$KUBETAB_TAGS}
exec env GOOS=js GOARCH=wasm GOFLAGS= go "$subcommand" -tags=$tags -buildvcs=false -trimpath \
	-modfile="$patch/go.mod" -overlay="$patch/overlay.json" -toolexec="'$patch/toolexec'" \
	-gcflags=k8s.io/...=-l -gcflags=k8s.io/apimachinery/...= -gcflags=k8s.io/apiserver/...= \
	-gcflags=k8s.io/klog/...= -gcflags=k8s.io/utils/...= \
	-gcflags=github.com/google/gnostic-models/...=-l -gcflags=go.etcd.io/...=-l -gcflags=go.opentelemetry.io/...=-l \
	-gcflags=google.golang.org/grpc/...=-l -gcflags=golang.org/x/...=-l -gcflags=crypto/tls=-l -gcflags=crypto/x509=-l \
	"$@"
`

// otherGoError refuses a Go in which a file differs that the module needs changed. A module without the changes would
// work after a fashion: it would start for eight seconds instead of resuming a snapshot, and a loop in the terminal
// would end it.
type otherGoError struct{ drift *driftError }

func (e *otherGoError) Error() string {
	return fmt.Sprintf("%s cannot build the module, which needs a changed runtime and linker: %s has another %s than %s, for which the changes are written.\n"+
		"Use %s, which the go command fetches by itself: make does so, and elsewhere set GOTOOLCHAIN=%s. To move the changes to %s, see docs/toolchain.md.",
		e.drift.version, e.drift.version, e.drift.patch.file, goVersion, goVersion, goVersion, e.drift.version)
}

func (e *otherGoError) Unwrap() error { return e.drift }

// plantGo writes what changes Go itself: overlay.json with the standard library's files in std/, the linker
// and the two scripts. final is where tmp will be renamed to: the overlay holds absolute names.
//
// Errors: *otherGoError; a go command that fails; I/O errors; a diff that does not apply to a file whose sum is right.
func plantGo(g goEnv, tmp, final string, ours fs.FS, stdPatches, linkerPatches []patch) error {
	src := filepath.Join(g.GOROOT, "src")
	inStd, err := plantOverlay(src, g.GOVERSION, filepath.Join(tmp, "std"), filepath.Join(final, "std"), ours, stdPatches)
	if err == nil && len(linkerPatches) > 0 {
		err = buildLinker(src, g.GOVERSION, tmp, ours, linkerPatches)
	}
	if drift := (*driftError)(nil); errors.As(err, &drift) {
		return &otherGoError{drift}
	}
	if err != nil {
		return err
	}
	if err := writeOverlay(filepath.Join(tmp, "overlay.json"), inStd); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "toolexec"), []byte(toolexecScript), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(tmp, "go"), []byte(goScript), 0o755)
}

// buildLinker builds the linker with its patches as tmp/link.
func buildLinker(src, version, tmp string, ours fs.FS, patches []patch) error {
	dir, err := os.MkdirTemp(tmp, "linker-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	replace, err := plantOverlay(src, version, dir, dir, ours, patches)
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := writeOverlay(overlay, replace); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-trimpath", "-overlay", overlay, "-o", filepath.Join(tmp, "link"), "cmd/link")
	build.Dir = tmp
	build.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build cmd/link: %w\n%s", err, out)
	}
	return nil
}

// plantOverlay writes the changed files below dir and returns what an overlay says of them, in which dir has
// the name final. Errors: *driftError; a diff that does not apply; I/O errors.
func plantOverlay(src, version, dir, final string, ours fs.FS, patches []patch) (map[string]string, error) {
	replace := map[string]string{}
	for _, p := range patches {
		text, err := p.upstream(src, version)
		if err != nil {
			return nil, err
		}
		if text, err = p.changed(ours, text); err != nil {
			return nil, err
		}
		name := filepath.Join(dir, p.file)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return nil, err
		}
		replace[filepath.Join(src, p.file)] = filepath.Join(final, p.file)
	}
	return replace, nil
}

// writeOverlay writes the file that -overlay names. It is there, and empty, when nothing is replaced, so
// that every build can name it.
func writeOverlay(name string, replace map[string]string) error {
	if replace == nil {
		replace = map[string]string{}
	}
	text, err := json.MarshalIndent(struct{ Replace map[string]string }{replace}, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
