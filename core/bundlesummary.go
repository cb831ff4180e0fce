package core

import (
	"time"

	"github.com/kubetab/kubetab/core/bundle"
)

// BundleSummary is what a bundle holds, for people and for clients.
type BundleSummary struct {
	Name       string          `json:"name"`
	Kubernetes string          `json:"kubernetes"`
	Build      string          `json:"build"`
	Time       time.Time       `json:"time"`
	Revision   int64           `json:"revision"`
	Exact      bool            `json:"exact"` // as Opening.Exact
	Kinds      []Unserved      `json:"kinds"` // how many objects there are of each
	Settings   bundle.Settings `json:"settings"`
	Clock      BundleClock     `json:"clock"`
	Files      []BundleFile    `json:"files"`
	LeftOut    []string        `json:"leftOut"` // keys, and why this build cannot read the objects
}

// BundleClock is bundle.Clock in JSON.
type BundleClock struct {
	AheadSeconds float64 `json:"aheadSeconds"`
	Paused       bool    `json:"paused"`
	Speed        float64 `json:"speed"`
}

// BundleFile is bundle.File in JSON, with its data in base64.
type BundleFile struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}
