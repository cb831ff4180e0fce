package main

// A patch stands for one upstream file which does not compile, or links too much, on js/wasm.
//
// Exactly one of three things happens to the file in the copy of its module: it is left out and our
// twin takes its place; it is left out because another patch's twin covers it too (no twin, no diff);
// or it is changed by a diff, _diffs/<module>/<file>.diff, as git diff writes them.
type patch struct {
	module string // module path, or std or linker
	file   string // slash-separated, below the module's root (below GOROOT/src for std and linker)
	sha256 string // of the upstream file this entry was written against
	twin   string // base name of our file, kept in _twins/<module>/<directory of file>/
	diff   bool
	why    string
}

// Files of Go itself are not copied: `go build -overlay` puts them in. std are the files that are linked
// into the module; linker are files of the linker, which is built for the purpose.
//
// Another Go than goVersion is used if it has the same files. If it has not, it is refused: see otherGoError.
const (
	std    = "std"
	linker = "cmd"
)

// goVersion is the Go whose files the sums of std and linker belong to. The line toolchain of go.mod names it, too.
const goVersion = "go1.26.8"

// patches is everything that differs from upstream in a js/wasm build, sorted by module and file.
var patches = []patch{
	{
		module: linker, file: "cmd/link/internal/ld/data.go",
		sha256: "d2c24726a9f365e311acacc68961e42121369076f099727aeecf69cb06cfa601",
		diff:   true,
		why:    "what descriptors of types refer to is in the order in which they do, so that wasm/split's columns of them are small",
	},
	{
		module: linker, file: "cmd/link/internal/ld/pcln.go",
		sha256: "6562c101bb8555579af885b2ea016007d76db7fccf00de993ac0398e25cb0e99",
		diff:   true,
		why:    "the table from program counters to functions has 20 bytes for each 4 KiB, and on wasm each function is 64 KiB apart: 37 MB of memory that runtime/symtab.go below does without; and traces name the functions of generated files without their lines, which are a third of all",
	},
	{
		module: linker, file: "cmd/link/internal/wasm/asm.go",
		sha256: "7f3062d947fee5dfb4ca5f8595cb2e999d3fca19b3f5d51e97fad44bbef78bba",
		diff:   true,
		why:    "exports the globals, which Go keeps its registers in: a snapshot has to read them and set them again. And it lists the descriptors of types for wasm/split, and counts calls, so that what allocates nothing gives way: see runtime/lock_js.go",
	},
	{
		module: "github.com/coreos/go-systemd/v22", file: "journal/journal_unix.go",
		sha256: "dfa7cfe912169126d561ec546fe52d8e3d13bbc9f6ff8c6a369743df32e9b2f2",
		twin:   "journal_js.go",
		why:    "uses unix sockets and descriptor passing; etcd's client logger links it",
	},
	{
		module: "github.com/emicklei/go-restful/v3", file: "path_expression.go",
		sha256: "e57648399f77c03f3da37b3f5ab6c7cad2d46e49b1f7a3b61c0ee1d1081fdfb6",
		diff:   true,
		why:    "compiles a regular expression for each path, 4 KB, which only a router asks that Kubernetes does not use; it is compiled when it is asked",
	},
	{
		module: "github.com/emicklei/go-restful/v3", file: "web_service.go",
		sha256: "4eb129eac2640f3ccee432584fdade012bbd2e733aa0ac50577e45eb988c4687",
		diff:   true,
		why:    "reads a path for each of its six methods; once will do",
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
		module: "github.com/ncruces/go-sqlite3-wasm/v3", file: "sqlite3.go",
		sha256: "02410871e64c2a647368bfba48e661b07248605aeb24a1a0768cf8239657893d",
		diff:   true,
		why:    "100,000 bytes of SQLite's tables come with the rest of the module, which is fetched for the function that reads them",
	},
	{
		module: "go.etcd.io/etcd/client/pkg/v3", file: "fileutil/lock_flock.go",
		sha256: "9e8689903a374cab4fe2f42e6547acaf8abe107c4b748986b8c3795336415e69",
		twin:   "lock_flock_js.go",
		why:    "flock; linked by etcd's transport package, never called in the tab",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/server/genericapiserver.go",
		sha256: "f248b5f2699b1b04b0d0c02ae854a67a75ba01f336594434eb1deebf7cb0d395",
		diff:   true,
		why:    "keeps the OpenAPI schemas of all types, 2 MB, with what destroys the storages of a group; who reads them has done so by then",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/server/mux/pathrecorder.go",
		sha256: "b109f235fd9ac28acd7244f3121dc15207d8bf0bc026a596cfdd2a7d9f555c62",
		diff:   true,
		why:    "keeps a stack trace for each path, 0.7 MB, for the case that somebody registers it again",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/server/options/serving_unix.go",
		sha256: "0f41aba69511215c4a344b96492397f00ed6b185d56b93bd21452df21f829bc6",
		twin:   "serving_js.go",
		why:    "socket options of a listener; the engine has none",
	},
	{
		module: "k8s.io/apiserver", file: "pkg/storage/cacher/watch_cache_history.go",
		sha256: "c8023746098dcdc05da518ed9b0d651478de6bd4dad84ee395f5f1bdacfd5991",
		diff:   true,
		why:    "ends a watch that is ten events behind; who reads it shares one thread with who writes",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/exec/exec.go",
		sha256: "a05218a561a7e8b1c07f9d1e6e4ea4509c62282c705fc164d13fbc7d2f194a85",
		diff:   true,
		why:    "a terminal is taken for the process's own; in the tab there are several, and the command has the streams of its own",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/plugin.go",
		sha256: "b56c0d96d6a3be4ec81fedc806ad78e27a3971246bd4a386dd8038092bc7ff21",
		diff:   true,
		why:    "syscall.Exec of a plugin does not exist on js, nor os.Executable",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/portforward/portforward.go",
		sha256: "55b86f871aad72d010a74ca2ed50179f85fea71d83122291c9c5e1ae880b9fba",
		diff:   true,
		why:    "ends with a signal to the process; in the tab that is the command's context",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/cmd/proxy/proxy.go",
		sha256: "2ffa3814ac8e0fe1112e02909b8041d4ac0c2525d3c05e3e48a66f1397f4f99f",
		diff:   true,
		why:    "listens for as long as the process lives; in the tab that is the command's context",
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
		diff:   true,
		why:    "writes to the process's standard error, which is the engine's log and not the learner's terminal",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/i18n/i18n.go",
		sha256: "fc0596be3d12eee41207ff2f62c894115cf891f2bdb085a8492649945727b363",
		diff:   true,
		why:    "of each translation it has what translators write and what is made of that: 1 MB of the first, with their comments, for which it only looks first",
	},
	{
		module: "k8s.io/kubectl", file: "pkg/util/interrupt/interrupt.go",
		sha256: "cd3ce09b2cd7ce1eb6a296ce91be5f0dcb93a62651a7dcd7a16ca225423d0b63",
		diff:   true,
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
		diff:   true,
		why:    "links the kubelet's container and eviction managers, cAdvisor and cgroups for one comparison",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/controller/volume/attachdetach/attach_detach_controller.go",
		sha256: "a1f834a6c4b675681f5e4387c91699bb69e4932b22af7dccf8a0c3d97825382d",
		diff:   true,
		why:    "links the CSI client for a name; the controller is linked and does not run",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/controller/volume/selinuxwarning/selinux_warning_controller.go",
		sha256: "7f4971a5586012d5c3213936c52d6ad94a6b7bfa48e988c1532c27fc6bea9f8d",
		diff:   true,
		why:    "links the CSI client for a name; the controller is linked and does not run",
	},
	{
		module: "k8s.io/kubernetes", file: "pkg/printers/tablegenerator.go",
		sha256: "5c6e815f91f5f163578ad9208f515ec9296b152c94eb3bac59b7b19b70652b6c",
		diff:   true,
		why:    "each of 60 registries has a table of the columns of all types, 50 KB, and they are all the same",
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
		diff:   true,
		why:    "client-go asks for room for 1,024 events for each of 216 handlers, 16 KB; it doubles when it is full",
	},
	{
		module: "k8s.io/utils", file: "exec/exec.go",
		sha256: "7b1cbfffd311495d829b00cea34b7d7b844469def06e9ca16eb5688b54fd8940",
		diff:   true,
		why:    "kubectl diff runs diff(1); in the tab that is a program of core/shell",
	},
	{
		module: "mvdan.cc/sh/v3", file: "interp/builtin.go",
		sha256: "28649f2338020a0424d335bcb007220f45a58230f8532357459e4aef0a04f924",
		diff:   true,
		why:    "echo and printf write in pieces, of which another command, or the page's editor, may see some: bash writes a line at once",
	},
	{
		module: "mvdan.cc/sh/v3", file: "interp/runner.go",
		sha256: "d532175072bf43c71f7945aba378d9567cafe0a8f1d3761dd65287d2bf0ec71c",
		diff:   true,
		why:    "a command of a pipeline whose goroutine is ended, see runtime/malloc.go, leaves the other one waiting for ever, with all variables of the shell; and a panic in a part of a pipeline or in a job, whose goroutines are the interpreter's, ends the engine. Those are counted by the function in which they begin, see coreutils.processes",
	},
	{
		module: "mvdan.cc/sh/v3", file: "pattern/pattern.go",
		sha256: "1a60863abdaa6325661288aaa96248e322dfdca7870e0f956514c3509c67c229",
		diff:   true,
		why:    "a pattern of forty @( that are not closed takes years to be read, beside the API server and after Ctrl-C, one of 50,000 [ seconds, and one of 200,000 @( ends the engine, whose stack is full",
	},
	{
		module: "sigs.k8s.io/kustomize/kyaml", file: "openapi/kubernetesapi/v1_21_2/swagger.go",
		sha256: "cbc9d20b525374bf16cc68dd797cf40b8f742b911394fc8d89881d7c6c255365",
		diff:   true,
		why:    "320,000 compressed bytes that only some kustomizations need come with the rest of the module, which is fetched for the function that reads them",
	},
	{
		module: std, file: "net/net_fake.go",
		sha256: "784b369c57be52fa87ace5f10e07e3c24b45d549639e1487734b793024188df3",
		diff:   true,
		why:    "who asks for any port is given 1, 2 and so on, ports that only an administrator may have, and where servers are; now one from 32768 on, as on Linux",
	},
	{
		module: std, file: "runtime/asm_wasm.s",
		sha256: "406725addd53e6fd76860955eca05df43550c6a3c6e4a16dd8b98037d2a4a97f",
		diff:   true,
		why:    "each call in Go is one on JavaScript's stack, which is small and ends the program when it is full: 4,000 levels of nesting in a YAML body are enough. That stack is only unwound when a goroutine's own stack moves or goroutines switch; this has it unwound after each 64 KiB of the goroutine's stack",
	},
	{
		module: std, file: "runtime/extern.go",
		sha256: "1afbe8b480e8c6b6a4d54b0f88f07606077a061f653198fa150e5d2a45e2bc8a",
		diff:   true,
		why:    "who logs asks for the line that does, and should not wait until lines have come: see kubetabNames in runtime/symtab.go",
	},
	{
		module: std, file: "runtime/lock_js.go",
		sha256: "458487e20f1eb9c8fc37f0ebf9207e4ff9997ab4e5508e1e786d53079ec4d1c1",
		diff:   true,
		why:    "whatever a goroutine does, requests, timers and Ctrl-C get through: a loop in the terminal or in an expression that somebody typed must not end the cluster",
	},
	{
		module: std, file: "runtime/malloc.go",
		sha256: "67e74184452cc6cb5bedee04fbbd6f395822e1cffbb4f91ad4a484796d7f021f",
		diff:   true,
		why:    "a goroutine of a line in a terminal claims a large object before it is allocated: a program that has no memory ends, and a line can ask for more than there is in one step; see internal/unix/coreutils/claim.go",
	},
	{
		module: std, file: "runtime/mcache.go",
		sha256: "9c27d457c7464565dccc3ad1900f0c177c57eec3cd35b7465c00971b6339da0b",
		diff:   true,
		why:    "what runs for long allocates: the clock is read for each 8 KiB and for each large object; see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/mem_sbrk.go",
		sha256: "1738c14a0436c8d26e9e383ef3c4aa311beaa521811964a2f23585c4e2b99bf4",
		diff:   true,
		why:    "the heap may have what wasm/split leaves of the function table; see runtime/symtab.go",
	},
	{
		module: std, file: "runtime/mgc.go",
		sha256: "8ac2523177e5915edfaf4e122a903eceef08b5abd765f8d7ed96a8cc1ed3a504",
		diff:   true,
		why:    "a worker of the collector ends with the turn, see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/mgcmark.go",
		sha256: "68dac83a612229a11677b08cf7ee90101b3001096292cd80e890fb3a5cd4e817",
		diff:   true,
		why:    "whoever has allocated much helps the collector no longer than until its turn is over, see runtime/lock_js.go; and where a program has left the heap no room, no request does the program's share of a collection",
	},
	{
		module: std, file: "runtime/mprof.go",
		sha256: "cd26b885d64fa60668250491c3ea127d3364874059ed390d8cb9de570ecbb234",
		diff:   true,
		why:    "samples allocations for a profile that nobody in a tab can ask for, into a table of 1.5 MB; and who asks for a stack trace waits for names where it can, see runtime/symtab.go",
	},
	{
		module: std, file: "runtime/preempt.go",
		sha256: "c50342a043676dab55b58ea9aabc90a04cfb0c0cdd9a70e475239ba9460f5ce3",
		diff:   true,
		why:    "another part of runtime/asm_wasm.s: a preemption that is withdrawn does not withdraw the guard. And a goroutine can wait for the second part of the module, see runtime/preempt_wasm.s",
	},
	{
		module: std, file: "runtime/preempt_wasm.s",
		sha256: "0711cb74aa1e596e55c2af249582ac11ea412fcee53dfa5e3ef77262ab6e074a",
		diff:   true,
		why:    "wasm has no asynchronous preemption. What belongs to it - frames that are scanned conservatively, on a stack that does not move - is what a goroutine needs that waits in the middle of a call for a function of the module's second part",
	},
	{
		module: std, file: "runtime/proc.go",
		sha256: "b0ea864c1dd251cd9146644863ae9126ca57761dff05862dc80ab0799925fec6",
		diff:   true,
		why:    "the scheduler returns to JavaScript when a turn is over, and runs goroutines of programs behind all others, and those of requests before them: see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/rand.go",
		sha256: "f0c4935ece88ac3861ebd5060a3507831158bcf5ac47abae5860220c0da970c5",
		diff:   true,
		why:    "wasm/boundary calls them: a program that is resumed from a snapshot must not draw the random numbers of every other one, and the snapshot needs no garbage and no room on stacks",
	},
	{
		module: std, file: "runtime/rt0_js_wasm.s",
		sha256: "b040c7d1665f296cfd4792ce43c1f0503678ef0b26d7c148d839b000352cb2c0",
		diff:   true,
		why:    "the other half of runtime/lock_js.go: calls from JavaScript return in the reverse of their order, also when the turn is over as soon as one begins",
	},
	{
		module: std, file: "runtime/sema.go",
		sha256: "451de314f2db754e318c0ab7857ec3b808d604845e6306eed064a57b8b2cd52b",
		diff:   true,
		why:    "who is handed a lock runs next: see kubetabPutReady in runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/stack.go",
		sha256: "0225942ade2eed1e4ec5a0e813c66b3ed06c142c33c987b2fd9e031a0b871d3d",
		diff:   true,
		why:    "the other half of runtime/asm_wasm.s. And a goroutine whose calls have been counted gives way here, see runtime/lock_js.go",
	},
	{
		module: std, file: "runtime/string.go",
		sha256: "ba5aca9b7febcacdbe0e49c308768d79e09da1b2ddd4184e973d9f0c33b95c75",
		diff:   true,
		why:    "${x:1:2} and ${x^^} turn the text of a variable into runes and back, without a call: 20 MB held the thread for 150 ms",
	},
	{
		module: std, file: "runtime/symtab.go",
		sha256: "556bdcf7743dc7be1c7c6bef9f95b968879c152696a4fa96afb6b6c48e2f45e9",
		diff:   true,
		why:    "finds a function by its number, which on wasm is its place in the function table, instead of through the 37 MB above (works with the stock linker, too); and what is known of functions may be in two places, or come later, see wasm/split/tables.go",
	},
	{
		module: std, file: "runtime/timestub.go",
		sha256: "0f4200ad6f00e786bfab7251705bc87d658ba6bf2645f5b7decb413fb0887ca8",
		diff:   true,
		why:    "the host's clock has milliseconds, and upstream names events by their nanosecond: two of one object in a millisecond were one",
	},
	{
		module: std, file: "runtime/traceback.go",
		sha256: "b02b809e1bbb8af1fb1f7e81ef58962697be1be2591c5159d9a12959f59ead3c",
		diff:   true,
		why:    "each go statement compares the name of its function, which may not have come yet: see kubetabNames in runtime/symtab.go",
	},
	{
		module: std, file: "syscall/js/func.go",
		sha256: "cdb09ee16769d9db0beaa718f26db68788d13d7b8e7d0a7273c1fcfc228ee43b",
		diff:   true,
		why:    "a goroutine that is called from JavaScript may give way before it has read what was called, which the next such call replaces: see eventTaken in runtime/lock_js.go",
	},
	{
		module: std, file: "text/template/exec.go",
		sha256: "ca14feb551ec536deeddfd46efdfa60d1c328e6d1b00cd5aa6ca944e379c282a",
		diff:   true,
		why:    "a call of MethodByName makes the linker keep every exported method of every type, a quarter of the module; wasm/template_js.go has those that kubectl's help calls",
	},
}
