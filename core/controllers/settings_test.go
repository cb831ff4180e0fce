package controllers

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/pkg/controller/garbagecollector/config"
)

// TestSettingsAreUpstreams: every controller is set as in a kube-controller-manager
// that was started without flags.
func TestSettingsAreUpstreams(t *testing.T) {
	c, err := New(Config{Loopback: &rest.Config{Host: "http://in-process"}})
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		t.Fatal(err)
	}
	upstream.Flags(app.KnownControllers(), nil, nil) // some defaults are set by this alone

	// What the collector ignores is given to its graph, see context.
	ignored := cmpopts.IgnoreFields(config.GarbageCollectorControllerConfiguration{}, "GCIgnoredResources")
	compared := 0
	component := reflect.ValueOf(c.component)
	for i := range component.NumField() {
		name := component.Type().Field(i).Name
		of := reflect.ValueOf(*upstream).FieldByName(name)
		if !of.IsValid() || name == "KubeCloudShared" { // which follows Config
			continue
		}
		apply := of.MethodByName("ApplyTo")
		if !apply.IsValid() || apply.Type().NumIn() != 1 {
			continue
		}
		want := reflect.New(component.Field(i).Type())
		want.Elem().Set(component.Field(i))
		if err := apply.Call([]reflect.Value{want})[0]; !err.IsNil() {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want.Elem().Interface(), component.Field(i).Interface(), ignored); diff != "" {
			t.Errorf("%s: -upstream +here\n%s", name, diff)
		}
		compared++
	}
	if compared < 20 {
		t.Errorf("only %d controllers have been compared", compared)
	}
}
