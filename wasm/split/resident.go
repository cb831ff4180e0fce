package main

import (
	"slices"
	"strings"
)

// always are the packages of which all functions are in the engine, whatever the
// profile says. Which functions of Go's runtime are called depends on timing and
// on memory, and no two runs agree. Functions of this project change more often
// than the profile is made.
var always = []string{
	"runtime.", "internal/runtime/", "main.", "github.com/kubetab/",
	// What the runtime calls while it holds the thread, and then cannot wait for.
	"internal/abi.", "internal/bytealg.", "internal/chacha8rand.", "internal/cpu.", "internal/stringslite.",
	// A few bytes each, and what is called changes with every program: one that is missing costs a visitor the whole rest.
	// A goroutine that waits for one of them may hold a lock that all others need.
	"sync.", "sync/atomic.", "internal/sync.", "time.",
	// What a terminal's own goroutine calls: it has no owner that could be told, see internal/absent.
	"context.", "errors.", "io.", "strings.", "unicode/utf8.",
	// What requests share: one that waited here, with a lock or a connection, would hold up the others.
	"net/http.(*Transport)", "net/http.(*wantConn", "net/http.(*persistConn)", "net/http.(*Client)", "net/http.(*Server)",
	"net/http.(*conn", "net/http.(*response)", "net/http.(*body", "net/http.(*transfer", "net/http.(*Request)",
	"net/http.(*timeout", "net/http.Header", "k8s.io/klog/v2.(*loggingT)",
	"k8s.io/apiserver/pkg/server/httplog.", "k8s.io/apiserver/pkg/endpoints/filters.",
	"k8s.io/apiserver/pkg/endpoints/responsewriter.", "k8s.io/apiserver/pkg/audit.", "k8s.io/apiserver/pkg/audit/policy.",
	// Each request is marked with it, see internal/absent.
	"runtime/pprof.runtime_",
	// Which functions of these are called depends on the load.
	"k8s.io/apiserver/pkg/endpoints/handlers.", "k8s.io/apiserver/pkg/server/filters.",
	"k8s.io/apiserver/pkg/storage/cacher", "k8s.io/apiserver/pkg/util/flowcontrol",
}

func isAlways(symbol string) bool {
	// What Go makes of a type, to compare keys of maps and to hash them, is of the type's package.
	for _, of := range []string{"type:.eq.", "type:.hash."} {
		symbol = strings.TrimPrefix(symbol, of)
	}
	return slices.ContainsFunc(always, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// seldom are the packages of which no function is in the engine: each brings bytes
// that come with the rest, see wasm/patch.
var seldom = []string{"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi/"}

func isSeldom(symbol string) bool {
	return slices.ContainsFunc(seldom, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// resident takes those of seldom from hot, and adds what cannot be elsewhere -
// functions that are not of Go's type, that call imports, or that are exported -
// and those of always.
func (m *module) resident(hot []bool, goType int) ([]bool, error) {
	hot = append([]bool(nil), hot...)
	for _, e := range m.exports {
		if e.kind == kindFunction {
			hot[e.index-len(m.imports)] = true
		}
	}
	for f, body := range m.bodies {
		hot[f] = hot[f] && !isSeldom(m.names[f])
		if hot[f] {
			continue
		}
		if m.functions[f] != goType || isAlways(m.names[f]) {
			hot[f] = true
			continue
		}
		_, err := calls(nil, body, func(to []byte, function int) []byte {
			hot[f] = hot[f] || function < len(m.imports)
			return to
		}, nil)
		if err != nil {
			return nil, m.blame(f, err)
		}
	}
	return hot, nil
}
