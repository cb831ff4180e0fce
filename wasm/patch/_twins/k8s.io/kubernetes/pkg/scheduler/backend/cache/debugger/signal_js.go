package debugger

import "os"

// compareSignal is a signal that nobody can send on js/wasm; the variable only has to exist.
var compareSignal = os.Interrupt
