package boundary

// memoryPages is the size of the module's linear memory in pages of 64 KiB. runtime.MemStats does not tell:
// it leaves out the module's own data, which is half of it.
func memoryPages() int
