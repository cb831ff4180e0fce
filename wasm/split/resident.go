package main

import (
	"slices"
	"strings"
)

// atOnce are the packages of which all functions are in the engine, also where others come soon: what the runtime calls
// while it holds the thread, and what a call of JavaScript's calls, neither of which can wait. Which functions of Go's runtime are called depends on timing and on
// memory, and no two runs agree.
var atOnce = []string{
	"runtime.", "internal/runtime/", "main.", "syscall/js.", "github.com/hack-pad/safejs", "github.com/kubetab/kubetab/wasm", "github.com/kubetab/kubetab/internal/absent.",
	"internal/abi.", "internal/bytealg.", "internal/chacha8rand.", "internal/cpu.", "internal/stringslite.",
	// Only builds with the tag late have these, which no profile is made of.
	own + "kubetab/core.(*lateEvents)", own + "kubetab/core.late",
}

// small is how many bytes a function that is hot may have to be in the engine although nothing calls it first. What Go knows
// of a function weighs as much as the code of most, and comes with it: with 1,000 bytes the engine was 1.6 MB larger, compressed.
const small = 60

// own begins the names of this project's functions.
const own = "github.com/kubetab/"

// always are the packages of which all functions are in the engine, whatever the
// profile says. Functions of this project change more often than the profile is made.
var always = []string{
	own,
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

// byLoad are the packages of which all functions come at least soon, but for those with type arguments, of which there are
// thousands: which are called depends on how many events an informer has got at once, and on how a list happens to lie. A tab
// that is busy has the least time to wait for the rest.
var byLoad = []string{
	"k8s.io/client-go/tools/cache.", "k8s.io/client-go/util/workqueue.", "k8s.io/client-go/rest.",
	"k8s.io/apimachinery/pkg/util/wait.", "k8s.io/apimachinery/pkg/watch.", "k8s.io/apiserver/pkg/storage/etcd3.",
	"sort.",
	"k8s.io/kubernetes/pkg/kubelet/network/dns.", // each Pod
}

func isByLoad(symbol string) bool {
	name, _, hasArguments := strings.Cut(symbol, "[")
	if strings.HasPrefix(name, "slices.") { // it sorts by these, whatever the type
		return strings.HasSuffix(name, "CmpFunc") || strings.HasSuffix(name, "Ordered")
	}
	return !hasArguments && hasPrefix(name, byLoad)
}

func isAlways(symbol string) bool { return hasPrefix(symbol, always) && !isSeldom(symbol) }

func isOwn(symbol string) bool { return hasPrefix(symbol, []string{own}) }

func hasPrefix(symbol string, prefixes []string) bool {
	// What Go makes of a type, to compare keys of maps and to hash them, is of the type's package.
	for _, of := range []string{"type:.eq.", "type:.hash."} {
		symbol = strings.TrimPrefix(symbol, of)
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// seldom are the packages of which no function is in the engine, nor comes soon: one whose functions bring bytes that come
// with the rest, see wasm/patch, and large programs of this project that few call.
var seldom = []string{"sigs.k8s.io/kustomize/kyaml/openapi/kubernetesapi/", own + "kubetab/internal/unix/openssl.", own + "kubetab/internal/unix/python.", own + "kubetab/core/internal/node/database."}

func isSeldom(symbol string) bool {
	return slices.ContainsFunc(seldom, func(prefix string) bool { return strings.HasPrefix(symbol, prefix) })
}

// isAssembler reports whether a function is one that only its file of assembler can name. Such a one is no package's by its name,
// and its arguments may be in registers (runtime's callRet), which nobody keeps for a function that has to be waited for.
func isAssembler(symbol string) bool { return !strings.Contains(symbol, ".") }

// askForNames is the runtime's function that has names, lines and files of functions fetched, by being where they are.
const askForNames = "runtime.kubetabNames"

// partsOf says where each function of m is. The engine has what cannot be elsewhere - functions that are not of Go's type,
// that call imports, that are exported, or of isAssembler - and what a goroutine that holds the thread may call.
//
// hot has what a running engine calls: it is in the engine, with what isAlways says. Unless first is nil, the engine has only
// what first names, those of hot that are small, because a stand-in and a call through the table cost as much, and what
// isAlways says of others' packages. What else is hot comes soon, and so do what isByLoad says and functions of this project that
// hot does not name, because they may be newer than the profile. All others are in the rest, and those of seldom in any case.
func (m *module) partsOf(hot, first profile) ([]part, error) {
	goType, err := m.goType()
	if err != nil {
		return nil, err
	}
	exported := map[int]bool{}
	for _, e := range m.exports {
		if e.kind == kindFunction {
			exported[e.index-len(m.imports)] = true
		}
	}
	partOf := make([]part, len(m.functions))
	for f, body := range m.bodies {
		name, callsImport := m.names[f], false
		_, err := calls(nil, body, func(to []byte, function int) []byte {
			callsImport = callsImport || function < len(m.imports)
			return to
		}, nil)
		if err != nil {
			return nil, m.blame(f, err)
		}
		isHot := hot.has(name) && !isSeldom(name) || isAlways(name) || isByLoad(name)
		switch {
		case name == askForNames && first != nil:
			partOf[f] = partSoon
		case m.functions[f] != goType || exported[f] || callsImport || isAssembler(name) || hasPrefix(name, atOnce):
			partOf[f] = partEngine
		case isAlways(name) && !isOwn(name):
			partOf[f] = partEngine
		case !isHot:
			partOf[f] = partRest
		case first == nil || first.has(name) || len(body) <= small:
			partOf[f] = partEngine
		default:
			partOf[f] = partSoon
		}
	}
	return partOf, nil
}
