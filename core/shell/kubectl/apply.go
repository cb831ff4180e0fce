package kubectl

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kubectl/pkg/cmd/apply"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// applyFromDocuments replaces what `apply` runs by the same with an OpenAPI root
// that keeps what it has parsed: upstream's parses the document of the object's
// group version, up to 1.6 MB, twice for each object that exists. The flags are
// upstream's, with the defaults that a kuberc has given them.
func applyFromDocuments(root *cobra.Command, f cmdutil.Factory, streams genericiooptions.IOStreams) {
	command, _, err := root.Find([]string{"apply"})
	cmdutil.CheckErr(err)
	before := command.Flags()
	flags := apply.NewApplyFlags(streams)
	command.ResetFlags()
	forgetFlags(before)
	flags.AddFlags(command)
	before.VisitAll(func(flag *pflag.Flag) {
		mine := command.Flags().Lookup(flag.Name)
		if mine == nil || mine.Value.String() == flag.Value.String() {
			return
		}
		cmdutil.CheckErr(mine.Value.Set(flag.Value.String()))
		mine.DefValue, mine.Changed = flag.DefValue, flag.Changed
	})
	command.Run = func(cmd *cobra.Command, args []string) {
		o, err := flags.ToOptions(f, cmd, "kubectl", args)
		cmdutil.CheckErr(err)
		if o.OpenAPIV3Root != nil {
			if client, err := f.ToDiscoveryClient(); err == nil {
				o.OpenAPIV3Root = documentsOf(client).root(client.OpenAPIV3())
			}
		}
		cmdutil.CheckErr(o.Validate())
		cmdutil.CheckErr(o.Run())
	}
}

// documentsOf returns those that all commands share, or new ones for a cluster that
// is not ours.
func documentsOf(client any) *documents {
	if lent, ok := client.(*lentDiscovery); ok {
		if _, err := lent.own(); err == nil && lent.ours {
			return &lent.of.documents
		}
	}
	return &documents{}
}

// Parses counts the OpenAPI documents that were parsed for apply. It is for tests.
var Parses atomic.Int64

// documents are parsed OpenAPI documents by their URLs, which hold a hash of them.
// Each takes some ten megabytes, so that what nobody has used for a while is dropped.
type documents struct {
	mu      sync.Mutex
	parsed  map[string]*document
	dropped *time.Timer
}

// unused is how long a document is kept that nobody uses.
const unused = 20 * time.Second

type document struct {
	once sync.Once
	spec *spec3.OpenAPI
	err  error
}

// get returns the document at url. parse makes it, unless it is there.
func (d *documents) get(url string, parse func() (*spec3.OpenAPI, error)) (*spec3.OpenAPI, error) {
	d.mu.Lock()
	one := d.parsed[url]
	if one == nil {
		if d.parsed == nil {
			d.parsed = map[string]*document{}
		}
		one = &document{}
		d.parsed[url] = one
	}
	if d.dropped == nil {
		d.dropped = time.AfterFunc(unused, d.drop)
	} else {
		d.dropped.Reset(unused)
	}
	d.mu.Unlock()
	one.once.Do(func() {
		Parses.Add(1)
		one.spec, one.err = parse()
	})
	if one.err != nil {
		d.mu.Lock()
		if d.parsed[url] == one {
			delete(d.parsed, url)
		}
		d.mu.Unlock()
	}
	return one.spec, one.err
}

func (d *documents) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parsed = nil
}

// root is openapi3.NewRoot with documents that are kept. They must not be changed.
func (d *documents) root(client openapi.Client) openapi3.Root {
	return &keptRoot{openapi3.NewRoot(client), d, sync.OnceValues(client.Paths)}
}

type keptRoot struct {
	openapi3.Root
	documents *documents
	paths     func() (map[string]openapi.GroupVersion, error)
}

// GVSpec is openapi3.Root's.
func (r *keptRoot) GVSpec(gv schema.GroupVersion) (*spec3.OpenAPI, error) {
	parse := func() (*spec3.OpenAPI, error) { return r.Root.GVSpec(gv) }
	paths, err := r.paths()
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("apis/%s/%s", gv.Group, gv.Version)
	if gv.Group == "" {
		path = "api/" + gv.Version
	}
	if at, ok := paths[path]; ok && strings.Contains(at.ServerRelativeURL(), "hash=") {
		return r.documents.get(at.ServerRelativeURL(), parse)
	}
	return parse() // nothing says when it changes, or it is not there
}
