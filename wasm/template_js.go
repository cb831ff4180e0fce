package main

import (
	"reflect"
	_ "unsafe" // for go:linkname

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// methodByName finds the methods that templates call, for text/template as
// wasm/patch has changed it: looked up by any name, the linker would have to
// keep every method of every type. What calls methods is kubectl's help; a
// template of -o go-template sees maps and lists only.
//
//go:linkname methodByName text/template.methodByName
var methodByName func(receiver reflect.Value, name string) reflect.Value

func init() {
	methodByName = func(receiver reflect.Value, name string) reflect.Value {
		if !receiver.IsValid() || !receiver.CanInterface() {
			return reflect.Value{}
		}
		switch v := receiver.Interface().(type) {
		case *cobra.Command:
			return commandMethod(v, name)
		case *pflag.FlagSet:
			if name == "HasFlags" {
				return reflect.ValueOf(v.HasFlags)
			}
		}
		return reflect.Value{}
	}
}

// commandMethod has what k8s.io/kubectl/pkg/util/templates/templates.go calls.
func commandMethod(c *cobra.Command, name string) reflect.Value {
	switch name {
	case "HasAvailableSubCommands":
		return reflect.ValueOf(c.HasAvailableSubCommands)
	case "HasExample":
		return reflect.ValueOf(c.HasExample)
	case "HasInheritedFlags":
		return reflect.ValueOf(c.HasInheritedFlags)
	case "HasSubCommands":
		return reflect.ValueOf(c.HasSubCommands)
	case "InheritedFlags":
		return reflect.ValueOf(c.InheritedFlags)
	case "LocalFlags":
		return reflect.ValueOf(c.LocalFlags)
	case "NameAndAliases":
		return reflect.ValueOf(c.NameAndAliases)
	case "PersistentFlags":
		return reflect.ValueOf(c.PersistentFlags)
	case "Runnable":
		return reflect.ValueOf(c.Runnable)
	case "UsageString":
		return reflect.ValueOf(c.UsageString)
	case "UseLine":
		return reflect.ValueOf(c.UseLine)
	}
	return reflect.Value{}
}
