package controllers_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/kubetab/kubetab/core/controllers"
)

func TestTheTableHasEveryControllerOfUpstream(t *testing.T) {
	got := controllers.Names()
	slices.Sort(got)
	if want := app.KnownControllers(); !slices.Equal(got, want) {
		t.Errorf("names:\n%s\nwant upstream's:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestControllersAreChosenByNameAndAlias(t *testing.T) {
	for name, tc := range map[string]struct {
		enabled []string
		want    string // in the error; "" for none
	}{
		"all":            {nil, ""},
		"all but one":    {[]string{"*", "-deployment-controller"}, ""},
		"by alias":       {[]string{"*", "-cronjob", "-garbagecollector"}, ""},
		"one":            {[]string{"job"}, ""},
		"all aliases":    {aliases(), ""},
		"unknown":        {[]string{"*", "-nosuch"}, `"nosuch" is not in the list of known controllers`},
		"not here":       {[]string{"persistentvolume-attach-detach-controller"}, "does not run here: "},
		"not here, off":  {[]string{"*", "-persistentvolume-attach-detach-controller"}, ""},
		"off by default": {[]string{"*", "token-cleaner-controller"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := controllers.New(controllers.Config{Loopback: &rest.Config{}, Enabled: tc.enabled})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New: %v, want %q", err, tc.want)
			}
		})
	}
}

// aliases are all aliases of upstream's, to turn each off: those of controllers
// that are not here, too.
func aliases() []string {
	var off []string
	for alias := range app.ControllerAliases() {
		off = append(off, "-"+alias)
	}
	return off
}

func TestARootCAIsACertificate(t *testing.T) {
	_, err := controllers.New(controllers.Config{Loopback: &rest.Config{}, Identity: controllers.Identity{RootCA: []byte("not PEM")}})
	if err == nil || !strings.Contains(err.Error(), "root CA") {
		t.Errorf("New: %v, want one about the root CA", err)
	}
}
