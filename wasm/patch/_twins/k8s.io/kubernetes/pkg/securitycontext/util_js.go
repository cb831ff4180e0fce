package securitycontext

// possibleCPUs is empty, as on every platform without /sys: the default masked paths then hold no per-CPU entry.
func possibleCPUs() []int { return nil }
