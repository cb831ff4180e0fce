// Command wasm is the engine as a WebAssembly module: core behind a bridge to JavaScript. It only wires.
//
//	wasm/boundary  the two objects through which JavaScript and Go reach each other
//	wasm/bridge    requests and streams in between, free of syscall/js
//	wasm/host.mjs  JavaScript's side under Node; web/ has the browser's
//	wasm/snapshot  freezes a program that has started, and lets another go on from there
//	wasm/patch     what makes all this compile
//
// The files that end in _js are the program; main_other.go only says so where they are left out.
package main
