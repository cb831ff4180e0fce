package cluster

import (
	"time"

	"github.com/kubetab/kubetab/core/bundle"
)

// Summary is what a bundle holds, for people and for clients.
type Summary struct {
	Name       string          `json:"name"`
	Kubernetes string          `json:"kubernetes"`
	Build      string          `json:"build"`
	Time       time.Time       `json:"time"`
	Revision   int64           `json:"revision"`
	Exact      bool            `json:"exact"` // as Opening.Exact
	Kinds      []KindCount     `json:"kinds"` // how many objects there are of each
	Settings   bundle.Settings `json:"settings"`
	Clock      Clock           `json:"clock"`
	Files      []File          `json:"files"`
	LeftOut    []string        `json:"leftOut"` // keys, and why this build cannot read the objects
}

// Clock is bundle.Clock in JSON.
type Clock struct {
	AheadSeconds float64 `json:"aheadSeconds"`
	Paused       bool    `json:"paused"`
	Speed        float64 `json:"speed"`
}

// File is bundle.File in JSON, with its data in base64.
type File struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// KindCount is how many objects there are of a kind.
type KindCount struct {
	// APIVersion is what they are stored as.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Count      int    `json:"count"`
}
