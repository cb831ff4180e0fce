// Command wasm is the engine as a WebAssembly module: core behind a bridge to JavaScript. It only wires.
//
// While it is built:
//
//	wasm/patch     what makes all this compile
//	wasm/split     cuts the module into parts; rest.mjs brings the others when they are called
//	wasm/snapshot  freezes a program that has started, and lets another go on from there
//	wasm/size      says where the bytes go
//
// While it runs:
//
//	wasm/boundary  the two objects through which JavaScript and Go reach each other, and what both hosts do for Go
//	wasm/bridge    requests and streams in between, free of syscall/js
//	wasm/host      JavaScript's side under Node; web/src/engine is the browser's
//
// The files that end in _js are the program; main_other.go only says so where they are left out.
package main
