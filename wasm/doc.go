// Command wasm is the engine as a WebAssembly module: core behind a bridge to JavaScript.
//
//	globalThis.kubetabHost    what JavaScript offers (web/, wasm/host.mjs)   host_js.go calls it
//	globalThis.kubetabEngine  what Go offers                                functions_js.go sets it
//	wasm/bridge               requests and streams in between, free of syscall/js
//
// Only numbers, strings and bytes cross. While no request is in flight Go holds no JavaScript value but
// globals and the functions in kubetabEngine, so that the memory of an idle engine can be frozen and
// thawed in another process.
//
// The files that end in _js are the program; main_other.go only says so where they are left out.
package main
