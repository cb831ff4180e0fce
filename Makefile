# Every task a person runs. `make` alone prints them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The module is built by one Go, whose files wasm/patch changes: go.mod names it, and the go command of any Go since 1.21
# fetches it. Everything else is built by it, too, so that there is one compiler.
export GOTOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)

# Kubernetes is compiled once per set of tags and flags: keep them the same
# everywhere. grpcnotrace leaves out x/net/trace, and with it a template engine
# that keeps every exported method of every type in the program.
TAGS        := grpcnotrace
KUBERNETES  := v1.37.2
VERSION     := $(KUBERNETES)+kubetab
# What programs and the module say they were built from is the last change to what is linked into them. So a commit to tests,
# the page, lessons or documents leaves them as they are, byte for byte, and the cut, the snapshot and what is compressed, too.
LINKED      := core internal server wasm tutorials/*.go tutorials/evaluate tutorials/load web/headers go.mod go.sum \
	':!*_test.go' ':!*/testdata/*' ':!*.md' ':!*.mjs' ':!wasm/split' ':!wasm/snapshot'
COMMIT      := $(or $(shell git log -1 --format=%H -- $(LINKED) 2>/dev/null),unknown)
DATE        := $(or $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd -- $(LINKED) 2>/dev/null),1970-01-01T00:00:00Z)
VERSION_PKG := k8s.io/component-base/version
X_VERSION   := -X $(VERSION_PKG).gitVersion=$(VERSION) -X $(VERSION_PKG).gitMajor=1 -X $(VERSION_PKG).gitMinor=37
X_COMMIT    := -X $(VERSION_PKG).gitCommit=$(COMMIT) -X $(VERSION_PKG).gitTreeState=clean -X $(VERSION_PKG).buildDate=$(DATE)
LDFLAGS     := -s -w $(X_VERSION) $(X_COMMIT)
# kubectl is upstream's, and says so.
KUBECTL_LDFLAGS := -s -w -X $(VERSION_PKG).gitVersion=$(KUBERNETES) -X k8s.io/client-go/pkg/version.gitVersion=$(KUBERNETES)

# The compiler collects garbage too eagerly for machines with a gigabyte to spare: with this it takes a fifth less time and
# two fifths more memory (k8s.io/api/core/v1: 6.2 s of a processor instead of 7.8, 620 MB instead of 440). What it makes is
# the same, and so are the keys of Go's cache. For builds alone: what tests and programs take is measured.
BUILD_ENV  := env GOGC=400
# Without -buildvcs=false the go command would write the last commit of all into programs.
GO_BUILD   := $(BUILD_ENV) go build -buildvcs=false -tags $(TAGS)

# The go command for js/wasm, with our twins of upstream files; made by wasm/patch.
WASM_GO    := build/patch/go
WASM_EXEC  := $(shell go env GOROOT)/lib/wasm/go_js_wasm_exec

# Tests leave the commit out, so that a commit does not link them again.
GOTEST := go test -tags $(TAGS) -ldflags="$(X_VERSION)"

# Tests that have passed and whose inputs are the same are not run again: see scripts/kept, and FRESH=1. What the browser
# tests do not need is the tests of others; what the others do not need is the page.
KEPT         := scripts/kept '. :!web/src :!web/public :!web/tests :!docs' --
KEPT_OF_PAGE := scripts/kept '. :!*_test.go :!*.test.mjs :!docs/*.md :!docs/*.png' --
KEPT_OF_EDGE := scripts/kept '. :!*_test.go :!web/tests :!docs' --

# brotli quality of the module: 9 takes 20 s, 11 takes six minutes and is for a
# release, 0 compresses nothing.
BROTLI ?= 9
# How many processes take a processor each beside the tests of test-busy.
BUSY   ?= 4
LISTEN ?= 127.0.0.1:6443
HTTP   ?= 127.0.0.1:8080
URL    ?=
TOKEN  ?=
# Kind of static host: see docs/hosting.md.
TARGET ?= plain
# Origins of other sites that the page may fetch files from, instead of those in web/headers/fetch-from.json.
# FETCH_FROM =
# Folder of the module that tests run.
ENGINE ?= build/wasm
# What a target needs to have been built; nothing where BUILT says that it is.
BUILT  ?=
needs   = $(if $(BUILT),,$(1))

.PHONY: help
help: ## print this list
	@echo "Kubetab: the Kubernetes API server in a browser tab, and as one small binary."
	@echo
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24
	@echo
	@echo "  VERBOSE=1 shows the output of long steps as it comes; it is kept in build/log either way."

##### set-up and build

.PHONY: setup
setup: ## fetch Go modules and npm packages, and check the tools
	@scripts/tools
	@scripts/step "fetch Go modules" go mod download
	@scripts/packages

.PHONY: chromium firefox-webkit jq
chromium:
	@scripts/chromium
firefox-webkit:
	@scripts/browsers
jq:
	@scripts/jq

.PHONY: native
native: bin-kubetab bin-kubectl bin-kubetab-docs ## build bin/kubetab, bin/kubetab-docs, bin/kubectl and its plugin bin/kubectl-convert

.PHONY: bin-kubetab bin-kubectl bin-kubetab-docs
bin-kubetab:
	@scripts/step "build bin/kubetab (4 minutes the first time)" $(GO_BUILD) -ldflags="$(LDFLAGS)" -o bin/kubetab ./server/cmd/kubetab
# It shares packages with bin/kubetab, which two builds at once would compile twice.
bin-kubectl: | bin-kubetab
	@scripts/step "build bin/kubectl and its plugin" $(GO_BUILD) -ldflags="$(KUBECTL_LDFLAGS)" -o bin/ k8s.io/kubernetes/cmd/kubectl k8s.io/kubernetes/cmd/kubectl-convert

bin-kubetab-docs: | bin-kubectl
	@scripts/step "build bin/kubetab-docs" $(GO_BUILD) -ldflags="$(LDFLAGS)" -o bin/kubetab-docs ./server/cmd/kubetab-docs

.PHONY: patch
patch:
	@scripts/step "lay out the js/wasm twins of upstream files" go run ./wasm/patch

# The module is cut by what a running engine calls, and what it calls first, and the engine is started to see what is on its stacks when it
# rests. Of other functions the engine then need not know: the module is cut once more, and the snapshot taken. A start that
# leaves the name of such a function in memory, which the first one has not, has the module cut again. See wasm/split.
CUT := build/wasm/cut
# An engine that ends when it has started needs no optimised code: 20 s of a processor instead of 29, and the same snapshot.
NODE_ONCE := node --liftoff-only

.PHONY: wasm
wasm: patch ## build build/wasm: the engine for the browser, what it seldom needs, and a snapshot of it
	@mkdir -p $(CUT)
	@scripts/step "build the wasm module (3 minutes the first time)" $(BUILD_ENV) $(WASM_GO) build -ldflags="$(LDFLAGS)" -o build/wasm/linked.wasm ./wasm
	@# go build gives a file that is up to date a new time, and what is made of it would be made again.
	@cmp -s build/wasm/linked.wasm build/wasm/whole.wasm || cp build/wasm/linked.wasm build/wasm/whole.wasm
	@cp "$$(go env GOROOT)/lib/wasm/wasm_exec.js" build/wasm/wasm_exec.js
	@cp build/wasm/wasm_exec.js $(CUT)
	@$(MAKE) build/wasm/kubetab.wasm

.DELETE_ON_ERROR:
SPLIT = go run ./wasm/split -profile wasm/split/hot.txt -first wasm/split/first.txt

build/wasm/kubetab.wasm: build/wasm/whole.wasm wasm/split/hot.txt wasm/split/first.txt $(wildcard wasm/split/*.go) wasm/split/rest.mjs wasm/host/engine.mjs $(filter-out %.test.mjs,$(wildcard wasm/snapshot/*.mjs))
	@scripts/step "cut the module" $(SPLIT) -o $(CUT)/kubetab.wasm -soon $(CUT)/kubetab.soon.wasm -rest $(CUT)/kubetab.rest.wasm $<
	@scripts/step "start the engine and look at its stacks" $(NODE_ONCE) wasm/snapshot/main.mjs --date $(DATE) --wasm $(CUT)/kubetab.wasm --parked $(CUT)/parked.json --out $(CUT)/kubetab.snapshot
	@for attempt in 1 2 3; do \
		$(SPLIT) -parked $(CUT)/parked.json -o $@ -soon build/wasm/kubetab.soon.wasm -rest build/wasm/kubetab.rest.wasm $< || exit; \
		scripts/step "start the engine and take the snapshot of it" $(NODE_ONCE) wasm/snapshot/main.mjs --date $(DATE) --wasm $@ --kept $(CUT)/parked.json --out build/wasm/kubetab.snapshot && exit; \
		[ $$? = 3 ] || exit 1; \
	done; \
	exit 1

.PHONY: profile
profile: wasm native ## find out which functions a running engine calls, for wasm/split/hot.txt (20 minutes)
	@rm -rf build/profile && mkdir -p build/profile
	@cp build/wasm/wasm_exec.js build/profile/
	@go run ./wasm/split -mark -o build/profile/kubetab.wasm build/wasm/whole.wasm
	@node wasm/snapshot/main.mjs --date $(DATE) --wasm build/profile/kubetab.wasm --out build/profile/kubetab.snapshot
	@echo "what an engine does when nobody asks anything: five minutes"
	@timeout 300 node wasm/host/serve.mjs --wasm build/profile/kubetab.wasm --snapshot build/profile/kubetab.snapshot || [ $$? = 124 ]
	@KUBETAB_WASM=build/profile node --test wasm/snapshot/resume.test.mjs wasm/snapshot/restore.test.mjs wasm/split/hour.test.mjs
	@FRESH=1 $(MAKE) test-transcripts ENGINE=build/profile
	@$(GOTEST) -count=1 -parallel 8 ./server -run '^TestCluster$$/wasm' -wasm ../build/profile/kubetab.wasm
	@$(GOTEST) -count=1 ./core/shell -run TestModule -wasm $(CURDIR)/build/profile/kubetab.wasm
	@$(GOTEST) -count=1 ./tutorials/play -run TestModule -wasm $(CURDIR)/build/profile/kubetab.wasm
	@KUBETAB_WASM=build/profile KUBETAB_BROTLI=0 npm run --silent build -w web
	@mkdir -p build/profile/first
	@KUBETAB_PLAIN_SITE=1 KUBETAB_CALLED=$(CURDIR)/build/profile/first npm run --silent test:browser -w web -- visit -t 'a first visit'
	@KUBETAB_PLAIN_SITE=1 KUBETAB_CALLED=$(CURDIR)/build/profile/called npm run --silent test:browser -w web -- views stories terminal console palette workers settings prepared files
	@go run ./wasm/split -called build/profile/first -o wasm/split/first.txt build/profile/kubetab.wasm
	@go run ./wasm/split -called build/profile/called -o wasm/split/hot.txt build/profile/kubetab.wasm

.PHONY: profile-first
profile-first: wasm ## add to wasm/split/first.txt what the first line of a visit and an idle engine call by now (five minutes); make profile makes all of it anew
	@rm -rf build/profile-first && mkdir -p build/profile-first
	@cp build/wasm/wasm_exec.js build/profile-first/
	@go run ./wasm/split -mark -o build/profile-first/kubetab.wasm build/wasm/whole.wasm
	@$(NODE_ONCE) wasm/snapshot/main.mjs --date $(DATE) --wasm build/profile-first/kubetab.wasm --out build/profile-first/kubetab.snapshot
	@rm -rf build/profile-first/called
	@KUBETAB_WASM=build/profile-first node --test --test-force-exit wasm/split/first.test.mjs
	@echo "what an engine does when nobody asks anything, but not what it does when it ends: each watch is told where it stands within this time"
	@timeout -s KILL 150 node wasm/host/serve.mjs --wasm build/profile-first/kubetab.wasm --snapshot build/profile-first/kubetab.snapshot || [ $$? = 137 ]
	@go run ./wasm/split -called build/profile-first/called -profile wasm/split/first.txt -o wasm/split/first.txt build/profile-first/kubetab.wasm

.PHONY: page
page: setup wasm ## build web/dist, the page with the module beside it
	@scripts/step "build the page (brotli $(BROTLI))" env KUBETAB_BROTLI=$(BROTLI) npm run --silent build -w web

.PHONY: site
site: setup wasm ## lay out build/site/TARGET for static hosts, TARGET=plain, pages or worker: see docs/hosting.md
	@scripts/step "lay out the page for a static host ($(TARGET))" env KUBETAB_BROTLI=$(BROTLI) KUBETAB_TARGET="$(TARGET)" $(if $(filter undefined,$(origin FETCH_FROM)),,KUBETAB_FETCH_FROM="$(FETCH_FROM)") npm run --silent build -w web

.PHONY: build
build: setup native page ## build everything, with .br and .gz variants for a web server

# A folder with bin/kubetab and web/dist, or an archive of one: see scripts/prebuilt.
PREBUILT ?=

.PHONY: run
run: ## set up, build and start the playground and the native API; PREBUILT=folder or archive builds nothing
ifeq ($(PREBUILT),)
	@$(MAKE) build BROTLI=0
	@exec bin/kubetab serve --listen=$(LISTEN) --http=$(HTTP)
else
	@folder=$$(scripts/prebuilt "$(PREBUILT)" "$(VERSION)" "$(COMMIT)"); \
	exec "$$folder/bin/kubetab" serve --listen=$(LISTEN) --http=$(HTTP) --static "$$folder/web/dist"
endif

##### checks and tests

# How many steps of the tests run side by side. The browser tests, which are the longest, run beside the others.
JOBS ?= 2

# Everything is built and checked before the tests begin. What measures time is not part of it (test-timing), nor is what
# takes long and proves little more: test-rare.
.PHONY: test
test: ## everything that must pass before a change lands; says at its end where the time went, and what has failed
	@rm -rf build/failures && mkdir -p build/log && : >build/log/steps && : >build/log/failed; \
	trap 'status=$$?; scripts/times || status=1; [ $$status = 0 ] || tail -qn 90 build/log/failed build/failures/*.txt 2>/dev/null || true; exit $$status' EXIT; \
	$(MAKE) setup chromium firefox-webkit jq; \
	$(MAKE) -j2 build check race; \
	$(MAKE) BUILT=1 -j$(JOBS) all-tests

# They begin in this order, the longest first: a target that still had something to build would give its place away.
.PHONY: all-tests
all-tests: test-web test-server test-lessons test-transcripts test-shell test-analyze test-race test-js test-browsers test-edge test-go

.PHONY: check check-text check-go check-js check-web check-size
check: check-text check-go check-js check-web check-size ## format, vet and staticcheck in one pass, TypeScript, lint, dependency rules, size budget
check-text: setup
	@scripts/step "gofmt" scripts/gofmt
	@scripts/step "links, names and the map in the documents" scripts/documents
	@scripts/step "go mod tidy changes nothing" sh -c 'go mod tidy -diff && go -C scripts/analyze mod tidy -diff && go -C scripts/types mod tidy -diff'
	@scripts/step "web/src/answers is what make types writes" sh -c '$(WRITE_TYPES) build/answers && diff -r web/src/answers build/answers'
# After what they share with the builds has been compiled.
check-go: setup | native
	@scripts/step "vet and staticcheck" $(BUILD_ENV) scripts/vet $(TAGS)
check-js: setup | wasm check-go
	@scripts/step "vet and staticcheck for js/wasm" $(BUILD_ENV) scripts/vet $(TAGS) js
check-web: setup
	@scripts/step "TypeScript and lint" npm run --silent check -w web
check-size: page
	@scripts/size --check

# The packages with tests of the module, which -wasm names, and of the programs in bin. Each is linked once, and its tests
# are run without Go's cache: that does not see the files of other processes, and would seldom spare a run if it did,
# because the module and bin/kubetab hold the commit. The other packages' results are cached.
WITH_MODULE := ./core/shell ./server ./transcripts ./tutorials/play
# check has seen to vet.
GOTEST_ONCE := $(GOTEST) -vet=off -count=1 -timeout 40m

.PHONY: test-analyze
test-analyze:
	@scripts/step "test vet and staticcheck" go -C scripts/analyze test -vet=off ./...

# Lessons are played by eight processes, which must fit into a small machine together. One may have more garbage, and takes a
# fifth less of a processor.
ROOMY      := GOGC=400
ROOMY_OF_8 := GOGC=200

# The packages whose tests run with the race detector alone, which turns their invariants on, too: most of them start engines.
# The shell and the server are others, see WITH_MODULE.
RACE_ALONE := ./core ./core/internal/node
# Those whose tests take little, and run twice.
RACE_TOO   := ./core/clock ./internal/unix/coreutils ./core/etcd ./core/etcd/internal/... ./core/internal/itemjson ./core/internal/node/container ./core/internal/node/database \
	./core/internal/node/locks ./core/internal/node/network ./core/internal/records ./core/requestlog ./server/share ./internal/unix/awk ./internal/unix/python ./internal/unix/openssl ./internal/unix/bash ./internal/locked ./internal/state \
	./internal/status ./core/shell/lines ./internal/unix/terminal ./wasm/bridge/...

.PHONY: test-go
test-go: $(call needs,native)
	@scripts/step "Go tests" env $(ROOMY_OF_8) $(GOTEST) -vet=off -timeout 40m $$(go list ./... | grep -vFx -f <(go list $(WITH_MODULE) $(RACE_ALONE)))

# Kubernetes is compiled once more for it, with the other builds: a test that had to wait for that would seem slow.
.PHONY: race
race: setup | native
	@scripts/step "compile for the race detector (8 minutes the first time)" $(BUILD_ENV) go build -tags $(TAGS) -race $(RACE_ALONE) $(RACE_TOO) ./core/shell ./server

.PHONY: test-race
test-race: $(call needs,race) ## the tests of what runs at once, with the race detector
	@scripts/step "Go tests with -race" env $(ROOMY) $(GOTEST) -vet=off -race -timeout 40m $(RACE_ALONE) $(RACE_TOO)

.PHONY: test-js
test-js: $(call needs,wasm)
	@scripts/step "Go tests on js/wasm" $(KEPT) $(WASM_GO) test -vet=off -exec "$(WASM_EXEC)" ./core/etcd ./core/etcd/internal/journal ./internal/goroutine
	@scripts/step "interpreters give way on js/wasm" $(KEPT) $(WASM_GO) test -vet=off -exec "$(WASM_EXEC)" ./internal/unix/coreutils ./internal/unix/bash -run 'GiveWay|Counted|WrittenOnce'
	@scripts/step "Node tests" $(KEPT) sh -c 'node wasm/host/testengine.mjs && \
		KUBETAB_TESTENGINE=built KUBETAB_WASM=$(ENGINE) node --test --test-force-exit wasm/host/ wasm/snapshot/ wasm/split/ wasm/size/ scripts/'

# The tests of the edge Worker have packages of their own: workerd is in them, 165 MB with it.
.PHONY: edge test-edge
edge:
	@scripts/step "build the edge Worker" node server/edge/build.mjs
test-edge: setup edge $(call needs,wasm chromium) ## the edge Worker in workerd, the host's own runtime
	@cmp -s server/edge/package-lock.json server/edge/node_modules/.kubetab-lock || \
		{ scripts/step "fetch the packages of the edge Worker" npm ci --prefix server/edge; cp server/edge/package-lock.json server/edge/node_modules/.kubetab-lock; }
	@scripts/step "tests of the edge Worker" $(KEPT_OF_EDGE) sh -c 'KUBETAB_TARGET=worker npm run --silent build -w web && node --test server/edge/edge.test.mjs'

# An engine with other settings than the page's may keep other names of functions. It is of a module that has these, too, then.
RECUT := build/transcripts

.PHONY: test-transcripts
test-transcripts: $(call needs,native wasm)
	@scripts/step "transcripts, natively" $(KEPT) $(GOTEST_ONCE) ./transcripts
	@mkdir -p $(RECUT) && cp $(CUT)/parked.json build/wasm/wasm_exec.js $(RECUT)/
	@engine=$(ENGINE); \
	for attempt in 1 2 3; do \
		scripts/step "snapshot for the transcripts" $(NODE_ONCE) wasm/snapshot/main.mjs --date $(DATE) --config '{"nodes":0,"noScheduler":true}' --wasm $$engine/kubetab.wasm --kept $(RECUT)/parked.json --out $$engine/transcripts.snapshot && break; \
		[ $$? = 3 ] && [ $$attempt -lt 3 ] || exit 1; \
		engine=$(RECUT); \
		$(SPLIT) -parked $(RECUT)/parked.json -o $$engine/kubetab.wasm -soon $$engine/kubetab.soon.wasm -rest $$engine/kubetab.rest.wasm build/wasm/whole.wasm || exit; \
	done; \
	scripts/step "transcripts, in the resumed module" $(KEPT) $(GOTEST_ONCE) ./transcripts -run TestTranscripts -wasm ../$$engine/kubetab.wasm -snapshot ../$$engine/transcripts.snapshot

.PHONY: test-shell
test-shell: $(call needs,native wasm race)
	@scripts/step "tests of the shell" $(KEPT) $(GOTEST_ONCE) -race ./core/shell -wasm ../../$(ENGINE)/kubetab.wasm

.PHONY: test-cluster test-server
test-cluster: $(call needs,native wasm)
	@scripts/step "stories of a cluster" $(KEPT) $(GOTEST_ONCE) -parallel 8 ./server -run '^TestCluster$$' -wasm ../$(ENGINE)/kubetab.wasm
test-server: $(call needs,jq native wasm race)
	@scripts/step "tests of the server, and stories of a cluster" $(KEPT) $(GOTEST_ONCE) -race -parallel 4 ./server -wasm ../$(ENGINE)/kubetab.wasm

.PHONY: test-lessons
test-lessons: $(call needs,wasm)
	@scripts/step "lessons, natively and a sample in the module" $(KEPT) env $(ROOMY_OF_8) $(GOTEST_ONCE) ./tutorials/play -wasm ../../$(ENGINE)/kubetab.wasm

.PHONY: test-web test-timing
test-web: $(call needs,page chromium)
	@scripts/step "tests of the page" $(KEPT_OF_PAGE) npm test --silent -w web
	@scripts/step "lay out the page for static hosts" env KUBETAB_TARGET="plain pages" npm run --silent build -w web
	@scripts/step "browser tests" $(KEPT_OF_PAGE) npm run --silent test:browser -w web
test-timing: $(call needs,native wasm page chromium) ## the tests that measure time, with nothing beside them
	@scripts/step "Go tests that measure" env KUBETAB_TIMING=1 $(GOTEST_ONCE) -p 1 ./core ./core/etcd ./core/shell ./server -run '^(TestManyPods|TestEntriesCostWhatObjectsCost|TestCRDsOfOneGroupAreDeletedTogether|TestEndlessLines|TestLargeLists|TestIdleTakesLittle|TestDiskOfPodsIsFull)$$'
	@scripts/step "start after a million revisions, measured" env KUBETAB_TIMING=1 KUBETAB_WASM=$(ENGINE) node --test --test-force-exit wasm/snapshot/revisions.test.mjs
	@scripts/step "interpreters give way, measured" env KUBETAB_TIMING=1 KUBETAB_WASM=$(ENGINE) node --test --test-force-exit wasm/host/turns.test.mjs
	@scripts/step "lines that do not end, measured" env KUBETAB_TIMING=1 npm run --silent test:browser -w web -- unbreakable
	@scripts/step "browser tests that measure" npm run --silent test:timing -w web

.PHONY: test-browsers test-vitepress
test-browsers: $(call needs,page firefox-webkit)
	@scripts/step "stories in Firefox and WebKit" $(KEPT_OF_PAGE) npm run --silent test:browsers -w web -- stories
test-vitepress: page chromium ## a site that VitePress builds, and its blocks in Chromium; it installs VitePress from npm, and a release needs it
	@scripts/step "fetch VitePress, and have it build a site" sh -c 'npm ci --silent --prefix docs/samples/vitepress && npm run --silent --prefix docs/samples/vitepress build'
	@scripts/step "the site of VitePress" npm run --silent test:browsers -w web -- vitepress

.PHONY: test-busy
test-busy: build ## the tests beside BUSY processes that take a processor each: for what passes only where it is quick
	@FRESH=1 GOFLAGS=-count=1 scripts/busy $(BUSY) $(MAKE) --keep-going test-go test-race test-shell test-server test-transcripts test-web

.PHONY: test-rare
test-rare: native wasm ## what takes long and proves little more than test: a module that boots
	@scripts/step "transcripts, in a module that boots" $(GOTEST_ONCE) ./transcripts -run TestTranscripts -wasm ../$(ENGINE)/kubetab.wasm

.PHONY: test-endless
test-endless: page chromium ## every line of core/shell/lines/endless.txt, natively and in Chromium beside a probe, with a table of how long it waited; the tests have samples (20 minutes)
	@KUBETAB_EVERY_LINE=1 KUBETAB_TIMING=1 $(GOTEST_ONCE) ./core/shell -run TestEndlessLines
	@KUBETAB_EVERY_LINE=1 KUBETAB_WASM=$(ENGINE) node --test --test-force-exit wasm/host/doubling.test.mjs
	@KUBETAB_EVERY_LINE=1 KUBETAB_TIMING=1 npm run --silent test:browser -w web -- unbreakable

# How many minutes the monkey plays, and what it plays depends on; it prints its seed.
MINUTES ?= 10
SEED    ?=
ROUNDS  ?= 100

# Kubernetes' own tests against the native server: server/conformance/failing.txt has those that fail, and why.
.PHONY: test-conformance
test-conformance: $(call needs,native) ## Kubernetes' conformance tests against bin/kubetab (15 minutes; the first time it compiles them)
	@node server/conformance/run.mjs

.PHONY: test-monkey test-kill test-things test-full
test-monkey: page chromium ## random lines, tabs and reloads in Chromium beside a probe: MINUTES=10 SEED=...
	@KUBETAB_TIMING=1 KUBETAB_MINUTES=$(MINUTES) KUBETAB_SEED=$(SEED) npm run --silent test:long -w web -- monkey
test-kill: page chromium ## kill the browser while it writes, ROUNDS=100 times: what was acknowledged is there (10 minutes)
	@KUBETAB_KILLS=$(ROUNDS) npm run --silent test:browser -w web -- kills
test-things: native page chromium ## what people do that is more than a line, natively and in Chromium: 10,000 objects, a machine that sleeps, cleared storage (25 minutes)
	@KUBETAB_TIMING=1 $(GOTEST_ONCE) ./server -run '^TestThings$$'
	@npm run --silent test:long -w web -- things
test-full: page chromium ## fill the engine's memory in Chromium: it refuses, and loses nothing (20 minutes, 6 GB of memory)
	@npm run --silent test:long -w web -- full

# Files and lines that come from anybody. Packages that link Kubernetes have no place here, but in fuzz-records: Go would
# compile all of it anew, with counters. What is found is written into the package's testdata/fuzz, where make test runs it again.
FUZZ ?= ./core/bundle:FuzzRead ./core/bundle:FuzzCluster ./server/share:FuzzCheck ./core/etcd:FuzzDecodeOps ./internal/unix/terminal:FuzzFilter \
	./core/internal/node/container:FuzzScript ./core/internal/node/container:FuzzSplices ./internal/unix/awk:FuzzProgram ./internal/unix/awk:FuzzRun ./internal/unix/python:FuzzPython \
	./internal/unix/openssl:FuzzConfig ./internal/unix/openssl:FuzzExtension

.PHONY: fuzz
fuzz: ## have Go look for bundles, links, lines and the like that break their reader: MINUTES=10 each, FUZZ='./core/bundle:FuzzCluster'
	@for each in $(FUZZ); do \
		echo "--> $$each"; \
		$(GOTEST) -vet=off "$${each%:*}" -run '^$$' -fuzz "^$${each##*:}$$" -fuzztime $(MINUTES)m || exit; \
	done

# How often test-often runs WHAT; empty is the tests beside what has changed since main. See scripts/often.
N    ?= 20
WHAT ?=

.PHONY: test-often
test-often: ## tests many times, late and beside other work: N=20 WHAT='./core/etcd -run TestWatch web:stories'
	@BUSY=$(BUSY) TAGS=$(TAGS) scripts/often $(N) $(WHAT)

# See core/delayevents.go and web/tests/browser/late.ts. What runs with a clock of its own says how long things take, and is left out.
.PHONY: test-late
test-late: ## the tests with components that hear of changes up to half a second late, and pages of their engine: for what takes for granted that they have acted
	@FRESH=1 KUBETAB_LATE=1 KUBETAB_TAGS=late GOFLAGS=-count=1 $(MAKE) --keep-going TAGS=$(TAGS),late build test-late-go test-transcripts test-cluster test-web

.PHONY: test-late-go
test-late-go: native
	@$(GOTEST) -vet=off -timeout 40m -skip '^TestCluster$$' ./core ./core/controllers/... ./core/shell/... ./server/...

# Without counters chance has no guide but the corpus, and Kubernetes need not be compiled anew.
.PHONY: fuzz-records
fuzz-records: ## the same for the records of a bundle, which upstream's codecs check: MINUTES=10
	@$(GOTEST) -vet=off -c -o build/tools/cluster.test ./core/cluster
	@cd core/cluster && $(CURDIR)/build/tools/cluster.test -test.run '^$$' -test.fuzz '^FuzzCheck$$' -test.fuzztime $(MINUTES)m -test.fuzzcachedir $(CURDIR)/build/fuzz

##### measures

.PHONY: size
size: wasm ## where the bytes of the module go, and how they stand to the budget
	@scripts/size

.PHONY: bench
bench: build chromium ## start time, memory and latency in one table; URL=... TOKEN=... adds another server
	@scripts/bench $(if $(URL),-url "$(URL)") $(if $(TOKEN),-token "$(TOKEN)")

# Megabits a second, and milliseconds there and back.
MBIT ?= 20
RTT  ?= 40

.PHONY: bench-line
bench-line: build chromium ## what a first visit over a line of MBIT=20 and RTT=40 waits for, and how many bytes travel until then
	@node web/build/measure-line.mjs --mbit $(MBIT) --rtt $(RTT)

# The functions of the module by their numbers, as make wasm has cut it: a profiler knows no names.
.PHONY: bench-kubectl
bench-kubectl: build chromium ## how long lines of the terminal take in Chromium, from Enter until the prompt, the first time and later
	@node web/build/measure-kubectl.mjs

.PHONY: flame
flame: build chromium ## where the time goes in Chromium, as tables and as flame graphs in build/flame; WHAT='start get "kubectl get pods -A"'
	@mkdir -p build/flame
	@$(SPLIT) -parked $(CUT)/parked.json -names build/flame/names.json -o build/flame/engine.wasm -soon build/flame/soon.wasm -rest build/flame/rest.wasm build/wasm/whole.wasm
	@cmp build/flame/engine.wasm build/wasm/kubetab.wasm
	@rm build/flame/engine.wasm build/flame/soon.wasm build/flame/rest.wasm
	@node web/build/flame.mjs $(WHAT)

.PHONY: lesson
lesson: ## begin the lesson NAME=part/lesson, or watch it: what is wrong with it, and how it plays
	@go run -tags $(TAGS) -ldflags="$(X_VERSION)" ./tutorials/cmd/lesson $(NAME)

WRITE_TYPES = go -C scripts/types build -o $(CURDIR)/build/tools/types . && build/tools/types
.PHONY: types
types: ## write what an engine answers as TypeScript, web/src/answers, from the Go types
	@rm -rf web/src/answers
	@$(WRITE_TYPES) web/src/answers

.PHONY: format
format: ## format Go and TypeScript
	@gofmt -w $$(git ls-files '*.go')
	@npm run --silent format -w web

.PHONY: clean
clean: ## remove what was built; module and package caches stay
	@rm -rf bin build web/dist
