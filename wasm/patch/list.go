package main

// A patch stands for one upstream file which does not compile, or links too much, on js/wasm.
//
// Exactly one of three things happens to the file in the copy of its module: it is left out and our
// twin takes its place; it is left out because another patch's twin covers it too (no twin, no edits);
// or it stays with a few words changed (edits).
type patch struct {
	module string // module path, or std or linker
	file   string // slash-separated, below the module's root (below GOROOT/src for std and linker)
	sha256 string // of the upstream file this entry was written against
	twin   string // base name of our file, kept in _twins/<module>/<directory of file>/
	edits  []edit
	why    string
}

// An edit replaces the only occurrence of old in a file.
type edit struct{ old, new string }

// Files of Go itself are not copied: `go build -overlay` puts them in. std are those that the module is made
// of; linker are those of the program that links it, which is built for the purpose.
//
// They make the module leaner and are not needed for it to work, so that another Go than goVersion, in
// which the files differ, only costs a warning. All are taken or none.
const (
	std    = "std"
	linker = "cmd"
)

// goVersion is the Go whose files the sums of std and linker belong to.
const goVersion = "go1.26.8"

// patches is everything that differs from upstream in a js/wasm build, sorted by module and file.
var patches = []patch{
	{
		module: linker, file: "cmd/link/internal/ld/pcln.go",
		sha256: "6562c101bb8555579af885b2ea016007d76db7fccf00de993ac0398e25cb0e99",
		edits: []edit{
			{"\tsize := 4*int64(nbuckets) + int64(n)\n", "\tsize := int64(4)\n"},
			{
				"\twriteFindFuncTab := func(_ *Link, s loader.Sym) {\n",
				"\twriteFindFuncTab := func(_ *Link, s loader.Sym) {\n\t\treturn\n",
			},
			{
				"\t\tpcSyms := []loader.Sym{pcsp, pcfile, pcline}\n",
				"\t\tpcSyms := []loader.Sym{pcsp, pcfile, pcline}\n\t\tif generated(ctxt, s, fi) {\n\t\t\tpcSyms = pcSyms[:1]\n\t\t}\n",
			},
			{
				"\t\tfor i, nf := 0, int(fi.NumFile()); i < nf; i++ {\n\t\t\tf(cu, fi.File(i))\n",
				"\t\tfor i, nf := 0, int(fi.NumFile()); i < nf && !generated(ctxt, s, fi); i++ {\n\t\t\tf(cu, fi.File(i))\n",
			},
			{"// walkFilenames walks funcs, calling", `// generated reports whether a function is all of files that a generator of Kubernetes has written.
func generated(ctxt *Link, s loader.Sym, fi loader.FuncInfo) bool {
	cu := ctxt.loader.SymUnit(s)
	n := int(fi.NumFile())
	for i := range n {
		name := filepath.Base(cu.FileTable[fi.File(i)])
		if !strings.HasPrefix(name, "zz_generated.") && !strings.HasSuffix(name, ".pb.go") {
			return false
		}
	}
	return n > 0
}

// walkFilenames walks funcs, calling`},
		},
		why: "the table from program counters to functions has 20 bytes for each 4 KiB, and on wasm each function is 64 KiB apart: 37 MB of memory that runtime/symtab.go below does without; and traces name the functions of generated files without their lines, which are a third of all",
	},
	{
		module: linker, file: "cmd/link/internal/wasm/asm.go",
		sha256: "7f3062d947fee5dfb4ca5f8595cb2e999d3fca19b3f5d51e97fad44bbef78bba",
		edits: []edit{
			{
				"\t\twriteUleb128(ctxt.Out, uint64(4+len(ldr.WasmExports))) // number of exports\n",
				"\t\twriteUleb128(ctxt.Out, uint64(4+len(globalNames)+len(ldr.WasmExports))) // number of exports\n",
			},
			{
				"\t\twriteName(ctxt.Out, \"mem\") // inst.exports.mem in wasm_exec.js\n",
				"\t\tfor i, name := range globalNames {\n\t\t\twriteName(ctxt.Out, name)\n\t\t\tctxt.Out.WriteByte(0x03)          // global export\n\t\t\twriteUleb128(ctxt.Out, uint64(i)) // globalidx\n\t\t}\n\t\twriteName(ctxt.Out, \"mem\") // inst.exports.mem in wasm_exec.js\n",
			},
			{
				"func writeGlobalSec(ctxt *ld.Link) {\n",
				"var globalNames = []string{\"SP\", \"CTXT\", \"g\", \"RET0\", \"RET1\", \"RET2\", \"RET3\", \"PAUSE\"}\n\nfunc writeGlobalSec(ctxt *ld.Link) {\n",
			},
		},
		why: "exports the globals, which Go keeps its registers in: a snapshot has to read them and set them again",
	},
	{
		module: "github.com/coreos/go-systemd/v22", file: "journal/journal_unix.go",
		sha256: "dfa7cfe912169126d561ec546fe52d8e3d13bbc9f6ff8c6a369743df32e9b2f2",
		twin:   "journal_js.go",
		why:    "uses unix sockets and descriptor passing; etcd's client logger links it",
	},
	{
		module: "github.com/emicklei/go-restful/v3", file: "web_service.go",
		sha256: "4eb129eac2640f3ccee432584fdade012bbd2e733aa0ac50577e45eb988c4687",
		edits: []edit{{
			"\tw.routes = append(w.routes, builder.Build())\n",
			`	route := builder.Build()
	for i := range w.routes {
		if w.routes[i].Path == route.Path {
			route.pathExpr = w.routes[i].pathExpr
			break
		}
	}
	w.routes = append(w.routes, route)
`,
		}},
		why: "compiles a path's regular expression, 4 KB, for each of its six methods; one will do",
	},
	{
		module: "github.com/moby/term", file: "term_unix.go",
		sha256: "d16e20b45613a7577842cc67827e44e5a36231ea7305fb8c8a1b49b5e0705f1e",
		twin:   "term_js.go",
		why:    "terminal ioctls; kubectl asks whether its streams are terminals, and puts the page's into raw mode",
	},
	{
		module: "github.com/moby/term", file: "termios_nonbsd.go",
		sha256: "8e37443810665002addd0878eb2bfae93026934f71eb1a8bcacd045a7aedf3a2",
		why:    "constants of terminal ioctls; term_js.go needs none",
	},
	{
		module: "github.com/moby/term", file: "termios_unix.go",
		sha256: "6b19f799ab6e2ea51b972d8a3c47d5027858ad70edce6464276537a3a11581c2",
		why:    "raw mode by terminal ioctls; covered by term_js.go",
	},
	{
		module: "go.etcd.io/etcd/client/pkg/v3", file: "fileutil/lock_flock.go",
		sha256: "9e8689903a374cab4fe2f42e6547acaf8abe107c4b748986b8c3795336415e69",
		twin:   "lock_flock_js.go",
		why:    "flock; linked by etcd's transport package, never called in the tab",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/server/mux/pathrecorder.go",
		sha256: "b109f235fd9ac28acd7244f3121dc15207d8bf0bc026a596cfdd2a7d9f555c62",
		edits: []edit{
			{"\t\"runtime/debug\"\n", ""},
			{"\tstack := string(debug.Stack())\n", "\tconst stack = \"(not recorded)\"\n"},
		},
		why: "keeps a stack trace for each path, 0.7 MB, for the case that somebody registers it again",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/server/options/serving_unix.go",
		sha256: "0f41aba69511215c4a344b96492397f00ed6b185d56b93bd21452df21f829bc6",
		twin:   "serving_js.go",
		why:    "socket options of a listener; the engine has none",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/exec/exec.go",
		sha256: "a05218a561a7e8b1c07f9d1e6e4ea4509c62282c705fc164d13fbc7d2f194a85",
		edits: []edit{{
			"\tstdin, stdout, _ := o.overrideStreams()\n",
			"\tstdin, stdout := o.In, o.Out\n",
		}},
		why: "a terminal is taken for the process's own; in the tab there are several, and the command has the streams of its own",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/plugin.go",
		sha256: "b56c0d96d6a3be4ec81fedc806ad78e27a3971246bd4a386dd8038092bc7ff21",
		edits: []edit{
			{"\t\"strings\"\n\t\"syscall\"\n", "\t\"strings\"\n"},
			{
				"return syscall.Exec(executablePath, append([]string{executablePath}, cmdArgs...), environment)",
				"return fmt.Errorf(\"plugin %s: there are no programs to run on js/wasm\", executablePath)",
			},
		},
		why: "syscall.Exec of a plugin does not exist on js",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/util/editor/launcher_others.go",
		sha256: "338ee850459f889470d6381ef122d763454b83b14319824cb14c2b624292e600",
		twin:   "launcher_js.go",
		why:    "starts an editor; in the tab that is the page's, which core/shell opens",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/polymorphichelpers/logsforobject.go",
		sha256: "a015ac79054600cc9a30eb123025a7e309b1b49995fef6dccc3e0a18231826fc",
		edits: []edit{
			{"\t\"fmt\"\n\t\"os\"\n", "\t\"fmt\"\n\t\"io\"\n\t\"os\"\n"},
			{
				"func allPodLogsForObject(",
				"// Notices is where a logs command says which Pod or container it has chosen.\nvar Notices io.Writer = os.Stderr\n\nfunc allPodLogsForObject(",
			},
			{"fmt.Fprintf(os.Stderr, \"Default container", "fmt.Fprintf(Notices, \"Default container"},
			{"fmt.Fprintf(os.Stderr, \"Defaulted container", "fmt.Fprintf(Notices, \"Defaulted container"},
			{"fmt.Fprintf(os.Stderr, \"Found", "fmt.Fprintf(Notices, \"Found"},
		},
		why: "writes to the process's standard error, which is the engine's log and not the learner's terminal",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/i18n/i18n.go",
		sha256: "fc0596be3d12eee41207ff2f62c894115cf891f2bdb085a8492649945727b363",
		edits: []edit{
			{"//go:embed translations\n", "//go:embed translations/kubectl/*/LC_MESSAGES/k8s.mo\n"},
			{"\t\tfmt.Sprintf(\"%s/%s/LC_MESSAGES/k8s.po\", root, langStr),\n", ""},
		},
		why: "of each translation it has what translators write and what is made of that: 1 MB of the first, with their comments, for which it only looks first",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/interrupt/interrupt.go",
		sha256: "cd3ce09b2cd7ce1eb6a296ce91be5f0dcb93a62651a7dcd7a16ca225423d0b63",
		edits:  []edit{{"syscall.SIGHUP, ", ""}},
		why:    "syscall.SIGHUP does not exist on js",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/term/resizeevents.go",
		sha256: "f77900d7d213e19fefc28a077d845ae1ae36fece02dcf3c1323548b03a623346",
		twin:   "resizeevents_js.go",
		why:    "SIGWINCH; a terminal in the page is resized through its own stream",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/umask.go",
		sha256: "422f65105e5442627f53427891af7242d84b5796b65b82ea5ad75af248823788",
		twin:   "umask_js.go",
		why:    "umask(2); kubectl proxy and cp set it",
	},
	{
		module: "k8s.io/kubernetes", file: "cmd/kube-controller-manager/app/plugins.go",
		sha256: "c76086d44f85a1816d16d2f7b9a9303040e2c9422b20d26fb4ec3e36f394b1b6",
		twin:   "plugins_js.go",
		why:    "volume plugins that mount, and kubelet code below them; linked by the controllers' constructors, which do not run with them",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/controller/podgc/gc_controller.go",
		sha256: "9f814c5fb51cf6c7fd91e47d91a5cbda3f04ec20c22ea6a3f0f02cabfbf89921",
		edits: []edit{
			{"\t\"k8s.io/kubernetes/pkg/kubelet/eviction\"\n", ""},
			{
				"iEvicted, jEvicted := eviction.PodIsEvicted(o[i].Status), eviction.PodIsEvicted(o[j].Status)",
				"evicted := func(s v1.PodStatus) bool { return s.Phase == v1.PodFailed && s.Reason == \"Evicted\" }\n\tiEvicted, jEvicted := evicted(o[i].Status), evicted(o[j].Status)",
			},
		},
		why: "links the kubelet's container and eviction managers, cAdvisor and cgroups for one comparison",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/controller/volume/attachdetach/attach_detach_controller.go",
		sha256: "a1f834a6c4b675681f5e4387c91699bb69e4932b22af7dccf8a0c3d97825382d",
		edits: []edit{
			{"\t\"k8s.io/kubernetes/pkg/volume/csi\"\n", ""},
			{"csi.CSIPluginName", "\"kubernetes.io/csi\""},
		},
		why: "links the CSI client for a name; the controller is linked and does not run",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/controller/volume/selinuxwarning/selinux_warning_controller.go",
		sha256: "7f4971a5586012d5c3213936c52d6ad94a6b7bfa48e988c1532c27fc6bea9f8d",
		edits: []edit{
			{"\t\"k8s.io/kubernetes/pkg/volume/csi\"\n", ""},
			{"csi.GetCSIDriverName(spec)", "spec.PersistentVolume.Spec.CSI.Driver, error(nil)"},
		},
		why: "links the CSI client for a name; the controller is linked and does not run",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/printers/tablegenerator.go",
		sha256: "5c6e815f91f5f163578ad9208f515ec9296b152c94eb3bac59b7b19b70652b6c",
		edits: []edit{
			{"\t\"reflect\"\n", "\t\"reflect\"\n\t\"sync\"\n"},
			{
				"// With method - accepts",
				"// filled are the handler maps of generators, by the function that has filled them. No generator of the API server's gets\n// another handler later.\nvar filled sync.Map\n\n// With method - accepts",
			},
			{
				"\tfor _, fn := range fns {\n\t\tfn(h)\n\t}\n\treturn h\n",
				`	if len(fns) == 1 && len(h.handlerMap) == 0 {
		by := reflect.ValueOf(fns[0]).Pointer()
		if m, ok := filled.Load(by); ok {
			h.handlerMap = m.(map[reflect.Type]*handlerEntry)
			return h
		}
		defer func() { filled.Store(by, h.handlerMap) }()
	}
	for _, fn := range fns {
		fn(h)
	}
	return h
`,
			},
		},
		why: "each of 60 registries has a table of the columns of all types, 50 KB, and they are all the same",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/probe/dialer_others.go",
		sha256: "2e7e1475762662848fc5169f2b652175a1ec2f6347f24de2236fa47c06812dd1",
		twin:   "dialer_js.go",
		why:    "SO_LINGER on probe sockets; linked by component status",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/scheduler/backend/cache/debugger/signal.go",
		sha256: "a35d085d9f63aa691a4ddcac22d442b782ed082d925b43451d0ad9246eb4a803",
		twin:   "signal_js.go",
		why:    "SIGUSR2 does not exist on js; linked by the scheduler",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/securitycontext/util_linux.go",
		sha256: "ce042b2685b066c410815eedefee3a3189078bc063610a799bf4c4792d45211a",
		twin:   "util_js.go",
		why:    "possibleCPUs exists for linux, darwin and windows only",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/util/filesystem/util_unix.go",
		sha256: "1d5ff592f213413e705999aeec413e8c75ec96f8265ce5ee6797a71fa81d9212",
		twin:   "util_js.go",
		why:    "exists for linux, darwin, freebsd and windows only; linked by the kubelet's status package, never called",
	},
	{
		module: "k8s.io/mount-utils", file: "mount_helper_unix.go",
		sha256: "9e08d9ea1376ad70dfe83be5ada7252c99f9a5206a13040f4dcca6fe669cec2b",
		twin:   "mount_helper_js.go",
		why:    "uname(2) and errors of mounts; linked by volume plugins' types",
	},
	{
		module: "k8s.io/utils", file: "buffer/ring_growing.go",
		sha256: "35c07d8142b4668ccea118cee3e70a6ed2dd787786eca24a38028ca72a480b6a",
		edits: []edit{{
			"\treturn &TypedRingGrowing[T]{\n",
			"\topts.InitialSize = min(opts.InitialSize, defaultRingSize)\n\treturn &TypedRingGrowing[T]{\n",
		}},
		why: "client-go asks for room for 1,024 events for each of 216 handlers, 16 KB; it doubles when it is full",
	},
	{
		module: "k8s.io/utils", file: "exec/exec.go",
		sha256: "7b1cbfffd311495d829b00cea34b7d7b844469def06e9ca16eb5688b54fd8940",
		edits: []edit{{
			"func New() Interface {\n",
			"//\n// Programs, if set, runs them instead: on js/wasm there are no processes.\nfunc New() Interface {\n\tif Programs != nil {\n\t\treturn Programs\n\t}\n",
		}, {
			"// New returns a new Interface which will os/exec to run commands.\n",
			"// Programs is what New returns when it is set.\nvar Programs Interface\n\n// New returns a new Interface which will os/exec to run commands.\n",
		}},
		why: "kubectl diff runs diff(1); in the tab that is a program of core/shell",
	},
	{
		module: "sigs.k8s.io/kustomize/kyaml", file: "openapi/kubernetesapi/v1_21_2/swagger.go",
		sha256: "cbc9d20b525374bf16cc68dd797cf40b8f742b911394fc8d89881d7c6c255365",
		edits: []edit{
			{
				"func kubernetesapiV1_21_2SwaggerPbBytes() ([]byte, error) {\n\treturn bindataRead(\n\t\t_kubernetesapiV1_21_2SwaggerPb,\n",
				`// kubetabBytes is for wasm/split, which finds it by its mark, and moves the bytes.
var kubetabBytes = struct {
	mark  [2]uint64
	bytes *[]byte
}{[2]uint64{0x6261746562756b00, 0x73657479622e00}, &_kubernetesapiV1_21_2SwaggerPb}

func kubernetesapiV1_21_2SwaggerPbBytes() ([]byte, error) {
	return bindataRead(
		*kubetabBytes.bytes,
`,
			},
		},
		why: "320,000 compressed bytes that only some kustomizations need come with the rest of the module, which is fetched for the function that reads them",
	},
	{
		module: std, file: "runtime/asm_wasm.s",
		sha256: "406725addd53e6fd76860955eca05df43550c6a3c6e4a16dd8b98037d2a4a97f",
		edits: []edit{
			{
				"\t\t\t// Get PC_B & PC_F from -8(SP)\n",
				"\t\t\tI32Const $0\n\t\t\tCall runtime·guardJSStack(SB)\n\t\t\tDrop\n\n\t\t\t// Get PC_B & PC_F from -8(SP)\n",
			},
			{"// wasm_pc_f_loop_export is like wasm_pc_f_loop, except that this takes an\n", `// guardJSStack lowers the part of the goroutine's stack that may be used before morestack is called to
// JSStackUse bytes below SP. See newstack.
#define JSStackUse $65536
TEXT runtime·guardJSStack(SB), NOSPLIT, $0-0
	// Not for g0, whose stack cannot grow.
	MOVD g_m(g), R0
	MOVD m_g0(R0), R0
	Get g
	Get R0
	I64Eq
	If
		I32Const $0
		Return
	End

	// Not when the guard asks for something else (stackPreempt and the like).
	MOVD g_stackguard0(g), R0
	Get R0
	I64Const $-4096
	I64GeU
	If
		I32Const $0
		Return
	End

	// R0 = the real guard
	MOVD (g_stack+stack_lo)(g), R0
	Get R0
	I64Const $const_stackGuard
	I64Add
	Set R0

	// R1 = SP - JSStackUse
	Get SP
	I64ExtendI32U
	I64Const JSStackUse
	I64Sub
	Set R1

	// A frame larger than that is let through once.
	MOVD $runtime·jsStackLarge(SB), R2
	MOVD 0(R2), R2
	Get R2
	I64Eqz
	If
		Get R1
		Get R0
		I64GtS
		If
			MOVD R1, R0
		End
	Else
		MOVD $0, runtime·jsStackLarge(SB)
	End
	MOVD R0, g_stackguard0(g)

	I32Const $0
	Return

// wasm_pc_f_loop_export is like wasm_pc_f_loop, except that this takes an
`},
		},
		why: "each call in Go is one on JavaScript's stack, which is small and ends the program when it is full: 4,000 levels of nesting in a YAML body are enough. That stack is only unwound when a goroutine's own stack moves or goroutines switch; this has it unwound after each 64 KiB of the goroutine's stack",
	},
	{
		module: std, file: "runtime/lock_js.go",
		sha256: "458487e20f1eb9c8fc37f0ebf9207e4ff9997ab4e5508e1e786d53079ec4d1c1",
		edits: []edit{
			{
				"\tsched.idleTime.Add(nanotime() - idleStart)\n",
				"\tkubetabTurn = nanotime()\n\tsched.idleTime.Add(kubetabTurn - idleStart)\n",
			},
			{
				"// handleEvent gets invoked on a call from JavaScript into Go.",
				`// A turn is what Go does between a call from JavaScript and the return to it. On this platform only JavaScript brings
// requests, timers and messages: while a turn lasts, none of them arrives. So a turn ends after kubetabTurnNS nanoseconds even
// if goroutines are runnable, and JavaScript is asked to call again at once.
//
//   - kubetabTick, at allocations, asks the running goroutine to give way; it does at its next function call, as on
//     platforms on which sysmon asks.
//   - kubetabEndTurn, in the scheduler, then returns to JavaScript.
//   - The collector's workers end with the turn (pollWork, pollFractionalWorkerExit).
const kubetabTurnNS = 8e6

// kubetabTurn is when the turn began, as nanotime tells it.
var kubetabTurn int64

// kubetabTick asks the running goroutine to give way when its turn is over. The caller holds an m (acquirem): releasem
// passes the wish on to the check at the beginning of functions.
func kubetabTick() {
	mp := getg().m
	if gp := mp.curg; gp != nil && gp == getg() && nanotime()-kubetabTurn > kubetabTurnNS {
		gp.preempt = true
	}
}

// kubetabTurnIsOver reports whether the turn has lasted long enough.
func kubetabTurnIsOver() bool {
	return nanotime()-kubetabTurn > kubetabTurnNS
}

// kubetabEndTurn returns the goroutine that gives execution back to JavaScript, if the turn is over and a call from JavaScript
// can return: its handler has. JavaScript calls again as soon as it has done what else it has to do. Otherwise it returns
// nil, and a turn that is over begins anew. now is the time, or 0 if the caller does not know.
//
//go:yeswritebarrierrec
func kubetabEndTurn(now int64) *g {
	if now == 0 {
		now = nanotime()
	}
	if now-kubetabTurn <= kubetabTurnNS {
		return nil
	}
	kubetabTurn = now
	// The goroutine that was readied last would run before all others, turn after turn.
	pp := getg().m.p.ptr()
	if next := pp.runnext; next != 0 && pp.runnext.cas(next, 0) {
		runqput(pp, next.ptr(), false)
	}
	if len(events) == 0 || !events[len(events)-1].returned {
		return nil
	}
	if idleTimeout == nil || idleTimeout.time > now {
		idleTimeout.clear()
		idleTimeout = &timeoutEvent{id: scheduleTimeoutEvent(0), time: now}
	}
	return events[len(events)-1].gp
}

// handleEvent gets invoked on a call from JavaScript into Go.`,
			},
		},
		why: "whatever a goroutine does, requests, timers and Ctrl-C get through: a loop in the terminal or in an expression that somebody typed must not end the cluster",
	},
	{
		module: std, file: "runtime/mcache.go",
		sha256: "9c27d457c7464565dccc3ad1900f0c177c57eec3cd35b7465c00971b6339da0b",
		edits: []edit{
			{
				"\t// Return the current cached span to the central lists.\n\ts := c.alloc[spc]\n",
				"\tkubetabTick()\n\n\t// Return the current cached span to the central lists.\n\ts := c.alloc[spc]\n",
			},
			{
				"\tif size+pageSize < size {\n\t\tthrow(\"out of memory\")\n\t}\n\tnpages := size >> gc.PageShift\n",
				"\tkubetabTick()\n\tif size+pageSize < size {\n\t\tthrow(\"out of memory\")\n\t}\n\tnpages := size >> gc.PageShift\n",
			},
		},
		why: "what runs for long allocates: the clock is read for each 8 KiB and for each large object; see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/mem_sbrk.go",
		sha256: "1738c14a0436c8d26e9e383ef3c4aa311beaa521811964a2f23585c4e2b99bf4",
		edits: []edit{
			{
				"\tblocMax = bloc\n}\n",
				`	blocMax = bloc
	kubetabTables.behind = bloc
	if kubetabTables.free != 0 {
		bloc = kubetabTables.free
	}
}

// kubetabRoom has the break jump to where it can grow when what is free below cannot hold memory up to end.
//
// memlock must be held.
//
//go:systemstack
func kubetabRoom(end uintptr) {
	if bloc < kubetabTables.behind && end > kubetabTables.freeEnd {
		from := bloc
		bloc = kubetabTables.behind
		if from < kubetabTables.freeEnd {
			memFree(unsafe.Pointer(from), kubetabTables.freeEnd-from)
		}
	}
}
`,
			},
			{"\treturn sbrk(n)\n", "\tkubetabRoom(bloc + memRound(n))\n\treturn sbrk(n)\n"},
			{"\t\tif uintptr(v) == bloc {\n", "\t\tkubetabRoom(bloc + memRound(n))\n\t\tif uintptr(v) == bloc {\n"},
			{"\t\tp = alignUp(bloc, align)\n", "\t\tkubetabRoom(alignUp(bloc, align) + memRound(size))\n\t\tp = alignUp(bloc, align)\n"},
		},
		why: "the heap may have what wasm/split leaves of the function table; see runtime/symtab.go",
	},
	{
		module: std, file: "runtime/mgc.go",
		sha256: "8ac2523177e5915edfaf4e122a903eceef08b5abd765f8d7ed96a8cc1ed3a504",
		edits: []edit{{
			"\tif delta <= 0 {\n\t\treturn true\n\t}\n\tp := getg().m.p.ptr()\n\tselfTime := ",
			"\tif delta <= 0 || kubetabTurnIsOver() {\n\t\treturn true\n\t}\n\tp := getg().m.p.ptr()\n\tselfTime := ",
		}},
		why: "a worker of the collector ends with the turn, see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/mprof.go",
		sha256: "cd26b885d64fa60668250491c3ea127d3364874059ed390d8cb9de570ecbb234",
		edits:  []edit{{"var MemProfileRate int = 512 * 1024\n", "var MemProfileRate int\n"}},
		why:    "samples allocations for a profile that nobody in a tab can ask for, into a table of 1.5 MB",
	},
	{
		module: std, file: "runtime/preempt.go",
		sha256: "c50342a043676dab55b58ea9aabc90a04cfb0c0cdd9a70e475239ba9460f5ce3",
		edits: []edit{{
			"\t\t\tgp.stackguard0 = gp.stack.lo + stackGuard\n",
			"\t\t\t// The guard stays: this may be the goroutine that assists the collector, see guardJSStack.\n",
		}},
		why: "another part of runtime/asm_wasm.s: a preemption that is withdrawn does not withdraw the guard",
	},
	{
		module: std, file: "runtime/proc.go",
		sha256: "b0ea864c1dd251cd9146644863ae9126ca57761dff05862dc80ab0799925fec6",
		edits: []edit{
			{
				"\tnow, pollUntil, _ := pp.timers.check(0, nil)\n\n\t// Try to schedule the trace reader.\n",
				`	now, pollUntil, _ := pp.timers.check(0, nil)

	if gp := kubetabEndTurn(now); gp != nil {
		casgstatus(gp, _Gwaiting, _Grunnable)
		return gp, false, false
	}

	// Try to schedule the trace reader.
`,
			},
			{
				"\t\trunqput(pp, gp, true)\n\t} else {\n\t\tlock(&sched.lock)\n\t\tglobrunqput(gp)\n\t\tunlock(&sched.lock)\n\t}\n\n\tif mainStarted {\n\t\twakep()\n\t}\n\n\tschedule()\n}\n\n// Gosched continuation on g0.",
				`		runqput(pp, gp, true)
	} else if preempted {
		// Behind those that can run now. The global queue is looked at once in 61 times: among many goroutines that have
		// little to do, one that has much would hardly run.
		runqput(pp, gp, false)
	} else {
		lock(&sched.lock)
		globrunqput(gp)
		unlock(&sched.lock)
	}

	if mainStarted {
		wakep()
	}

	schedule()
}

// Gosched continuation on g0.`,
			},
			{
				"func pollWork() bool {\n\tif !sched.runq.empty() {\n",
				"func pollWork() bool {\n\tif !sched.runq.empty() || kubetabTurnIsOver() {\n",
			},
		},
		why: "the scheduler returns to JavaScript when a turn is over, see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/rand.go",
		sha256: "f0c4935ece88ac3861ebd5060a3507831158bcf5ac47abae5860220c0da970c5",
		edits: []edit{{
			"func legacy_fastrand64() uint64 {\n\treturn rand()\n}\n",
			`func legacy_fastrand64() uint64 {
	return rand()
}

// kubetabReseed replaces the state of every random generator in this file with new randomness.
// The hash keys of maps stay: what is in a map is found by them.
//
//go:linkname kubetabReseed
func kubetabReseed() {
	lock(&globalRand.lock)
	seed := &globalRand.seed
	readRandom(seed[:])
	globalRand.state.Init(*seed)
	clear(seed[:])
	unlock(&globalRand.lock)
	for mp := allm; mp != nil; mp = mp.alllink {
		mrandinit(mp)
	}
}

// kubetabTighten is for a program that will be frozen: goroutines keep no more stack than they need.
//
//go:linkname kubetabTighten
func kubetabTighten(tight bool) {
	kubetabTight = tight
}

// kubetabScrub collects garbage and zeroes what is free: pages, objects in spans, stacks of waiting goroutines. The program
// ends when there is a function on a stack that only the rest of the module knows.
//
//go:linkname kubetabScrub
func kubetabScrub() {
	GC()
	systemstack(func() {
		for _, s := range mheap_.allspans {
			if s.state.get() != mSpanInUse {
				continue
			}
			for i := uintptr(0); i < uintptr(s.nelems); i++ {
				if s.isFree(i) {
					memclrNoHeapPointers(unsafe.Pointer(s.base()+i*s.elemsize), s.elemsize)
				}
			}
		}
		for _, r := range mheap_.pages.inUse.ranges {
			for p := r.base.addr(); p < r.limit.addr() && p+pageSize <= uintptr(currentMemory())*physPageSize; p += pageSize {
				if (*pageBits)(&mheap_.pages.chunkOf(chunkIndex(p)).pallocBits).get(chunkPageIndex(p)) == 0 {
					memclrNoHeapPointers(unsafe.Pointer(p), pageSize)
				}
			}
		}
		forEachGRace(func(gp *g) {
			if readgstatus(gp) == _Gwaiting && gp.stack.lo != 0 {
				var u unwinder
				for u.init(gp, 0); u.valid(); u.next() {
					if u.frame.fn.datap != &firstmoduledata {
						println("runtime: the rest of the module would be needed for", funcname(u.frame.fn))
						throw("a function of the rest is on a stack")
					}
				}
				memclrNoHeapPointers(unsafe.Pointer(gp.stack.lo), gp.sched.sp-gp.stack.lo)
			}
		})
	})
}
`,
		}},
		why: "wasm/boundary calls them: a program that is resumed from a snapshot must not draw the random numbers of every other one, and the snapshot needs no garbage and no room on stacks",
	},
	{
		module: std, file: "runtime/stack.go",
		sha256: "0225942ade2eed1e4ec5a0e813c66b3ed06c142c33c987b2fd9e031a0b871d3d",
		edits: []edit{
			{"\t// Allocate a bigger segment and move the stack.\n", `	// The guard may be above the real one, see guardJSStack: then there is room, and the way through
	// gogo has already done what was wanted. A frame larger than the distance would come here again.
	if f := findfunc(gp.sched.pc); f.valid() {
		needed := uintptr(funcMaxSPDelta(f)) + stackGuard
		if needed > 32<<10 {
			jsStackLarge = 1
		}
		if stackguard0 > gp.stack.lo+stackGuard && stackguard0 < stackPoisonMin && sp > gp.stack.lo+needed {
			gogo(&gp.sched)
		}
	}

	// Allocate a bigger segment and move the stack.
`},
			{"\tgp.stackguard0 = new.lo + stackGuard // NOTE: might clobber a preempt request\n", `	// Keep what guardJSStack allows: a goroutine whose stack is moved by the collector it assists has its
	// calls on JavaScript's stack all the same.
	if gp.stackguard0 < stackPoisonMin {
		gp.stackguard0 = max(new.lo+stackGuard, gp.stackguard0+adjinfo.delta)
	}
`},
			{
				"// Called from runtime·morestack when more stack is needed.\n",
				"// jsStackLarge tells guardJSStack that the next frame is larger than it allows.\nvar jsStackLarge uint64\n\n// Called from runtime·morestack when more stack is needed.\n",
			},
			{
				"stackNosplit; used >= avail/4 {\n",
				"stackNosplit; used >= avail/4 && (!kubetabTight || used >= newsize) {\n",
			},
			{
				"// freeStackSpans frees unused stack spans",
				"// kubetabTight has the collector leave goroutines no more stack than they need.\nvar kubetabTight bool\n\n// freeStackSpans frees unused stack spans",
			},
		},
		why: "the other half of runtime/asm_wasm.s",
	},
	{
		module: std, file: "runtime/symtab.go",
		sha256: "556bdcf7743dc7be1c7c6bef9f95b968879c152696a4fa96afb6b6c48e2f45e9",
		edits: []edit{
			{"\tconst nsub = uintptr(len(findfuncbucket{}.subbuckets))\n\n", ""},
			{`	x := uintptr(pcOff) + datap.text - datap.minpc // TODO: are datap.text and datap.minpc always equal?
	if GOARCH == "wasm" {
		// On Wasm, pcOff is the function index, whereas
		// the "PC" is function index << 16 + block index.
		x = uintptr(pcOff)<<16 + datap.text - datap.minpc
	}
	b := x / abi.FuncTabBucketSize
	i := x % abi.FuncTabBucketSize / (abi.FuncTabBucketSize / nsub)

	ffb := (*findfuncbucket)(add(unsafe.Pointer(datap.findfunctab), b*unsafe.Sizeof(findfuncbucket{})))
	idx := ffb.idx + uint32(ffb.subbuckets[i])
`, `	idx := min(pcOff-datap.ftab[0].entryoff, uint32(len(datap.ftab)-2))
	for idx > 0 && datap.ftab[idx].entryoff > pcOff {
		idx--
	}
`},
			{
				"\tfuncoff := datap.ftab[idx].funcoff\n",
				`	funcoff := datap.ftab[idx].funcoff
	if funcoff == 0 { // it is of the other part
		if datap.next == nil { // and has never been called
			funcoff = uint32(uintptr(len(datap.ftab)) * unsafe.Sizeof(functab{}))
		} else {
			datap = datap.next
			funcoff = datap.ftab[idx].funcoff
		}
	}
`,
			},
			{
				"\treturn funcNameForPrint(funcname(f.funcInfo()))\n",
				`	info := f.funcInfo()
	name := funcNameForPrint(funcname(info))
	if info.datap != &firstmoduledata {
		name = string([]byte(name)) // the rest's names are not in a snapshot
	}
	return name
`,
			},
			{"// A srcFunc represents a logical function", `// kubetabTables is for wasm/split, which finds it by its mark, and moves what is known of functions. What the rest of the
// module brings is the next moduledata; until then all of its functions have the empty record that follows the index.
var kubetabTables = struct {
	mark          [2]uint64
	free, freeEnd uintptr // what it leaves of the table: the heap begins there
	behind        uintptr // and goes on here, where memory can grow
	first, rest   *moduledata
	next          **moduledata
	bloc, blocMax *uintptr
}{
	mark:  [2]uint64{0x6261746562756b00, 0x73656c6261742e00},
	first: &firstmoduledata, rest: &kubetabRest, next: &firstmoduledata.next,
	bloc: &bloc, blocMax: &blocMax,
}

var kubetabRest moduledata

// A srcFunc represents a logical function`},
		},
		why: "finds a function by its number, which on wasm is its place in the function table, instead of through the 37 MB above (works with the stock linker, too); and what is known of functions may be in two places, see wasm/split/tables.go",
	},
	{
		module: std, file: "text/template/exec.go",
		sha256: "ca14feb551ec536deeddfd46efdfa60d1c328e6d1b00cd5aa6ca944e379c282a",
		edits: []edit{
			{"\t\"text/template/parse\"\n)\n", "\t\"text/template/parse\"\n\t_ \"unsafe\" // for go:linkname\n)\n"},
			{
				"// maxExecDepth specifies",
				"// methodByName finds the methods that templates may call; set by the program.\n//\n//go:linkname methodByName\nvar methodByName func(receiver reflect.Value, name string) reflect.Value\n\n// maxExecDepth specifies",
			},
			{
				"\tif method := ptr.MethodByName(fieldName); method.IsValid() {\n",
				"\tvar method reflect.Value\n\tif methodByName != nil {\n\t\tmethod = methodByName(ptr, fieldName)\n\t}\n\tif method.IsValid() {\n",
			},
		},
		why: "a call of MethodByName makes the linker keep every exported method of every type, a quarter of the module; wasm/template_js.go has those that kubectl's help calls",
	},
}
