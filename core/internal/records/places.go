package records

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/kubernetes/pkg/kubeapiserver"
)

// Unservable says why an API server of this build cannot serve a record that comes
// from anybody: it cannot be read, or is not what its key says. One such record would
// keep the server from listing all others of that resource.
func Unservable(key string, record []byte) error { return new(Reader).Unservable(key, record) }

// Unservable is the function Unservable.
func (r *Reader) Unservable(key string, record []byte) error {
	gvk, object, err := r.decode(key, record)
	if err != nil {
		return err
	}
	rest := strings.TrimPrefix(key, Prefix+"/")
	if object != nil {
		accessor, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		return misplaced(rest, r.placesOf(gvk), accessor.GetNamespace(), accessor.GetName())
	}
	var custom metav1.PartialObjectMetadata
	if err := json.Unmarshal(record, &custom); err != nil {
		return err
	}
	return misplaced(rest, []string{gvk.Group + "/"}, custom.Namespace, custom.Name)
}

// placesOf is Places. It is for kinds of Schemes, of which there are not many.
func (r *Reader) placesOf(gvk schema.GroupVersionKind) []string {
	found, ok := r.places[gvk]
	if !ok {
		if r.places == nil {
			r.places = map[schema.GroupVersionKind][]string{}
		}
		found = Places(gvk)
		r.places[gvk] = found
	}
	return found
}

// Places are where objects of a kind are kept below Prefix.
func Places(gvk schema.GroupVersionKind) []string {
	if IsInternal(gvk.Kind) {
		return []string{"ranges/"}
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	resource := plural.GroupResource()
	place := resource.Resource
	if special, ok := kubeapiserver.SpecialDefaultResourcePrefixes[resource]; ok {
		place = special
	}
	// The servers of CRDs and APIServices keep them under their groups.
	found := []string{place + "/", gvk.Group + "/" + place + "/"}
	if gvk.GroupKind() == corev1.SchemeGroupVersion.WithKind("Endpoints").GroupKind() {
		found = append(found, "masterleases/")
	}
	return found
}

// misplaced says whether key, below Prefix, is not one that upstream's
// registries give to an object of that name in one of the places.
func misplaced(key string, places []string, namespace, name string) error {
	if !slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(key, place) }) {
		return fmt.Errorf("its key is not below %s%s", Prefix+"/", places[0])
	}
	if name == "" {
		return nil // allocators and leases of API servers have none
	}
	if err := CheckNames(namespace, name); err != nil {
		return err
	}
	end := "/" + name
	if namespace != "" {
		end = "/" + namespace + end
	}
	if !strings.HasSuffix(key, end) {
		return fmt.Errorf("its key does not end with %s", end)
	}
	return nil
}

// CheckNames says what is wrong with the names of an object that comes from anybody: an API server creates none whose name
// or namespace could not be a part of a path, such as "..". The namespace may be empty.
func CheckNames(namespace, name string) error {
	for _, each := range []string{namespace, name} {
		if why := content.IsPathSegmentName(each); len(why) > 0 {
			return fmt.Errorf("no object is called %q: a name %s", each, strings.Join(why, ", "))
		}
	}
	return nil
}
