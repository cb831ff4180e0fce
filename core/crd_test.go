package core

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	protobufserializer "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// lostRetry is what a CRD takes at most that is deleted on a busy machine, and less than one takes whose finalizer waits for
// the resync of its informer: that is five minutes, as patience is.
const lostRetry = time.Minute

// Each CRD that is deleted goes, also when the finalizer is refused at first
// because nobody has used its resource before. Without ownWrites one of the first
// rounds leaves a CRD behind on a busy machine. KUBETAB_TIMING=1 plays more rounds,
// tells what they took, and holds them to twice of kube-apiserver's worst of 15.
func TestCRDsOfOneGroupAreDeletedTogether(t *testing.T) {
	client, err := apiextensionsclient.NewForConfig(start(t, Config{}).RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	rounds := 20
	measures := os.Getenv("KUBETAB_TIMING") != ""
	if measures {
		rounds = 50
	}
	var took []time.Duration
	for round := range rounds {
		both := []*apiextensionsv1.CustomResourceDefinition{
			newCRD(fmt.Sprintf("round%d.example.com", round), "saws", "Saw"),
			newCRD(fmt.Sprintf("round%d.example.com", round), "planes", "Plane"),
		}
		for _, crd := range both {
			if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, crd := range both {
			eventually(t, crd.Name+" is established", func(ctx context.Context) (bool, error) {
				got, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
				return err == nil && apihelpers.IsCRDConditionTrue(got, apiextensionsv1.Established), err
			})
		}
		began := time.Now()
		for _, crd := range both {
			if err := crds.Delete(t.Context(), crd.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, crd := range both {
			eventually(t, crd.Name+" is gone", func(ctx context.Context) (bool, error) {
				_, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return true, nil
				}
				return false, err
			})
		}
		took = append(took, time.Since(began))
		if lasted := took[round]; lasted > lostRetry {
			t.Fatalf("round %d: the CRDs were gone after %v", round, lasted)
		}
	}
	slices.Sort(took)
	t.Logf("gone after %v (p50), %v (worst)", took[rounds/2], took[rounds-1])
	if worst := took[rounds-1]; measures && worst > time.Second {
		t.Errorf("the slowest of %d rounds took %v", rounds, worst)
	}
}

func newCRD(group, plural, kind string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

type handleRoundTrip func(*http.Request) (*http.Response, error)

func (f handleRoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// storeInformer is an informer as far as ownWrites knows one.
type storeInformer struct {
	cache.SharedIndexInformer
	store   cache.Store
	handler cache.ResourceEventHandler
}

func (s *storeInformer) GetStore() cache.Store { return s.store }

func (s *storeInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.handler = h
	return nil, nil
}

// A write is answered when the informer has it, or something newer, or knows that
// the object is gone; and it is answered when the informer hears nothing.
func TestOwnWritesAreHeardFirst(t *testing.T) {
	crd := func(uid types.UID, version string) *apiextensionsv1.CustomResourceDefinition {
		c := newCRD("example.com", "saws", "Saw")
		c.UID, c.ResourceVersion = uid, version
		return c
	}
	var record bytes.Buffer
	codec := protobufserializer.NewSerializer(apiextensionsserver.Scheme, apiextensionsserver.Scheme)
	if err := codec.Encode(crd("a", "10"), &record); err != nil {
		t.Fatal(err)
	}
	update := func(o *apiextensionsv1.CustomResourceDefinition) func(*storeInformer) error {
		return func(s *storeInformer) error {
			err := s.store.Update(o)
			s.handler.OnUpdate(nil, o)
			return err
		}
	}
	for what, hears := range map[string]func(*storeInformer) error{
		"the write":           update(crd("a", "10")),
		"a later one":         update(crd("a", "11")),
		"another of its name": update(crd("b", "13")),
		"the deletion": func(s *storeInformer) error {
			err := s.store.Delete(crd("a", "12"))
			s.handler.OnDelete(crd("a", "12"))
			return err
		},
		"nothing": nil,
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := cache.NewStore(cache.MetaNamespaceKeyFunc)
				if err := store.Add(crd("a", "9")); err != nil {
					t.Fatal(err)
				}
				writes := &ownWrites{RoundTripper: handleRoundTrip(func(*http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(record.Bytes()))}, nil
				}), awaits: changes}
				informer := &storeInformer{store: store}
				if err := writes.follow(informer); err != nil {
					t.Fatal(err)
				}
				answered := make(chan []byte)
				go func() {
					defer close(answered)
					r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://in-process/", nil)
					if err != nil {
						t.Error(err)
						return
					}
					response, err := writes.RoundTrip(r)
					if err != nil {
						t.Error(err)
						return
					}
					body, err := io.ReadAll(response.Body)
					if err != nil {
						t.Error(err)
					}
					answered <- body
				}()
				if err := update(crd("a", "9"))(informer); err != nil { // a resync
					t.Fatal(err)
				}
				synctest.Wait()
				select {
				case <-answered:
					t.Fatal("answered before the informer had heard of it")
				default:
				}
				began := time.Now() // of the bubble's clock
				if hears != nil {
					if err := hears(informer); err != nil {
						t.Fatal(err)
					}
				}
				if body := <-answered; !bytes.Equal(body, record.Bytes()) {
					t.Errorf("the answer has %d bytes, want %d", len(body), record.Len())
				}
				want := time.Duration(0)
				if hears == nil {
					want = ownWritesPatience
				}
				if took := time.Since(began); took != want {
					t.Errorf("answered after %v, want %v", took, want)
				}
			})
		})
	}
}

// An address that has been allocated is in the informer of those that repair allocations. Nobody else waits for it.
func TestAllocatedAddressesAreHeardFirst(t *testing.T) {
	var record bytes.Buffer
	address := &networkingv1.IPAddress{ObjectMeta: metav1.ObjectMeta{Name: "10.0.0.7", UID: "a", ResourceVersion: "10"}}
	if err := protobufserializer.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(address, &record); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		writes := &ownWrites{RoundTripper: handleRoundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(bytes.NewReader(record.Bytes()))}, nil
		}), awaits: allocates}
		informer := &storeInformer{store: cache.NewStore(cache.MetaNamespaceKeyFunc)}
		if err := writes.follow(informer); err != nil {
			t.Fatal(err)
		}
		post := func(path string) <-chan struct{} {
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://in-process"+path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := writes.RoundTrip(r); err != nil {
					t.Error(err)
				}
			}()
			return answered
		}
		allocated := post("/apis/networking.k8s.io/v1/ipaddresses")
		<-post("/api/v1/namespaces/default/services")
		synctest.Wait()
		select {
		case <-allocated:
			t.Fatal("answered before the informer had heard of it")
		default:
		}
		if err := informer.store.Add(address); err != nil {
			t.Fatal(err)
		}
		informer.handler.OnAdd(address, false)
		began := time.Now() // of the bubble's clock
		if <-allocated; time.Since(began) != 0 {
			t.Errorf("answered %v after the informer had heard of it", time.Since(began))
		}
	})
}
