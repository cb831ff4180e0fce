//go:build !resumable

package absent

import "unsafe"

// resumable is false because all functions of this program are there.
const resumable = false

func setLabel(unsafe.Pointer) {}

func label() unsafe.Pointer { return nil }

func arrived() {}

func endLabelled(unsafe.Pointer) {}

func waiting([]unsafe.Pointer) int { return 0 }
