package boundary

// EngineStats is what kubetabEngine.stats returns, in JSON.
type EngineStats struct {
	Version     string  `json:"version"`
	Goroutines  int     `json:"goroutines"`
	Requests    int     `json:"requests"`    // handlers that have not returned
	HeapBytes   uint64  `json:"heapBytes"`   // live and not yet collected
	LinearBytes int     `json:"linearBytes"` // the module's memory as the browser counts it
	Collections uint32  `json:"collections"` // of garbage
	PauseMS     float64 `json:"pauseMs"`     // all of them together
	UptimeMS    int64   `json:"uptimeMs"`
}
