//go:build !linux

package main

// pages are where the program is mapped, which only Linux tells in a way that is known here.
type pages struct{}

func programPages() pages { return pages{} }

func (pages) drop() {}
