package core

import "time"

// ClockState is what all requests of ClockPath answer, in JSON.
type ClockState struct {
	Now    time.Time `json:"now"`
	Paused bool      `json:"paused"`
	Speed  float64   `json:"speed"` // seconds of the clock in one of the real time, also while paused
}

// EtcdState is what all requests of EtcdPath answer, in JSON.
type EtcdState struct {
	Stopped bool `json:"stopped"`
}
