//go:build !linux

package pages

// Pages are where the program is mapped, which only Linux tells in a way that is known here.
type Pages struct{}

// OfProgram finds none.
func OfProgram() Pages { return Pages{} }

// Drop does nothing.
func (Pages) Drop() {}
