package main

import (
	"github.com/kubetab/kubetab/core/choices"
	"github.com/kubetab/kubetab/core/cluster"
)

// Offer is what a visitor may choose of the settings of an engine.
type Offer struct {
	// Nodes is how many there are when nothing is said of them.
	Nodes int `json:"nodes"`
	// MostNodes is how many there may be.
	MostNodes int             `json:"mostNodes"`
	Choices   choices.Choices `json:"choices"`
	// Unserved are objects that the running engine keeps and does not show.
	Unserved []cluster.KindCount `json:"unserved"`
}
