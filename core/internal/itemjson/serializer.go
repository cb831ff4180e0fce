package itemjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	upstream "k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// Serving returns s with another encoder of lists, which uses the JSON that c
// keeps. It encodes lists in application/json; pretty ones without c, and in
// pieces when they are large. Everything else is s's: decoding, other media
// types, and the streams of watches.
func (c *Cache) Serving(s runtime.NegotiatedSerializer) runtime.NegotiatedSerializer {
	offered := slices.Clone(s.SupportedMediaTypes())
	for i, info := range offered {
		if plain, ok := info.Serializer.(*upstream.Serializer); ok && info.MediaType == runtime.ContentTypeJSON {
			offered[i].Serializer = &serializer{plain, c}
			if pretty, ok := info.PrettySerializer.(*upstream.Serializer); ok {
				offered[i].PrettySerializer = &prettySerializer{pretty}
			}
		}
	}
	return negotiated{s, offered}
}

type negotiated struct {
	runtime.NegotiatedSerializer
	offered []runtime.SerializerInfo
}

func (n negotiated) SupportedMediaTypes() []runtime.SerializerInfo { return n.offered }

// serializer is upstream's but for lists. Its identifier is upstream's, too:
// what it writes is the same.
type serializer struct {
	*upstream.Serializer
	cache *Cache
}

// Encode follows upstream's Encode. Its errors are those of upstream for an
// item that has no JSON, and those of w.
func (s *serializer) Encode(obj runtime.Object, w io.Writer) error {
	items, ok := itemsOf(obj)
	if !ok {
		return s.Serializer.Encode(obj, w)
	}
	head, ok := headOf(s.Serializer, obj, emptyItems, end)
	if !ok {
		return s.Serializer.Encode(obj, w)
	}
	// The first brace by itself: from that upstream's response writer sees a
	// list that comes in pieces, and waits whether it is worth compressing.
	if _, err := w.Write(head[:1]); err != nil {
		return err
	}
	pieces := buffers.Get().(*bufio.Writer)
	defer func() {
		pieces.Reset(nil)
		buffers.Put(pieces)
	}()
	pieces.Reset(w)
	_, _ = pieces.Write(head[1:]) // its error, like those that follow, is Flush's
	err := s.writeItems(items, pieces)
	if err == nil {
		_, _ = pieces.WriteString(end)
	}
	if flushed := pieces.Flush(); err == nil {
		err = flushed
	}
	return err
}

// writeItems writes items with commas between them. What it wrote before an
// error is what upstream would have written.
func (s *serializer) writeItems(items reflect.Value, w *bufio.Writer) error {
	n := items.Len()
	ids, values := make([]identity, n), make([][]byte, n)
	for i := range n {
		ids[i] = identify(items.Index(i))
	}
	missing, use := s.cache.find(ids, values)
	var worth []bool
	if len(missing) > 0 {
		worth = s.cache.again(ids, missing)
	}
	room := s.cache.limit / 2 // for what is kept of this list
	encoded := newEncodings(s.Serializer, items, missing)
	defer encoded.end()
	for i := range n {
		value := values[i]
		if value == nil {
			var err error
			if value, err = encoded.next(); err != nil {
				return err
			}
			if size := len(value) + overhead; worth[i] && size <= room {
				room -= size
				values[i] = bytes.Clone(value)
				use = append(use, i)
			}
		} else if invariants {
			s.compare(items.Index(i), value)
		}
		if i == n-1 {
			value = value[:len(value)-1]
		}
		if _, err := w.Write(value); err != nil {
			return err
		}
	}
	if len(use) > 0 {
		s.cache.keep(ids, use, values)
	}
	return nil
}

// compare panics unless kept is what upstream writes of an item now.
func (s *serializer) compare(item reflect.Value, kept []byte) {
	var anew bytes.Buffer
	err := s.Serializer.Encode(item.Addr().Interface().(runtime.Object), &anew)
	if got, want := bytes.TrimSuffix(kept, []byte(",")), bytes.TrimSuffix(anew.Bytes(), []byte("\n")); err != nil || !bytes.Equal(got, want) {
		panic(fmt.Sprintf("itemjson: kept %s, and it is %s, %v", got, want, err))
	}
}

// A list of a thousand items is some hundred thousand bytes.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 32<<10) }}

const (
	emptyItems = `"items":[]}` + "\n"
	end        = "]}\n"
)

// headOf returns list as JSON up to the bracket that opens its items, or false
// if s does not write what follows as items and nothing else: empty, of which
// end is behind the bracket.
func headOf(s *upstream.Serializer, list runtime.Object, empty, end string) ([]byte, bool) {
	v := reflect.ValueOf(list).Elem()
	none := reflect.New(v.Type())
	none.Elem().Set(v)
	items := none.Elem().Field(2)
	items.Set(reflect.MakeSlice(items.Type(), 0, 0))
	var b bytes.Buffer
	if err := s.Encode(none.Interface().(runtime.Object), &b); err != nil || !bytes.HasSuffix(b.Bytes(), []byte(empty)) {
		return nil, false
	}
	return b.Bytes()[:b.Len()-len(end)], true
}

const (
	emptyPretty = `"items": []` + "\n}"
	endPretty   = "]\n}"
	// largePretty is how many bytes of a pretty list are written at once. Upstream
	// writes all of it at once, and has it three times before that: all memory of a tab
	// would not do for a browser's list of what fills a quarter of it.
	largePretty = 8 << 20
)

// prettySerializer is upstream's but for lists, for browsers and curl.
type prettySerializer struct{ *upstream.Serializer }

// Encode follows upstream's Encode. Its errors are those of upstream, and then
// nothing was written unless the list is large, and those of w.
func (s *prettySerializer) Encode(obj runtime.Object, w io.Writer) error {
	items, ok := itemsOf(obj)
	if !ok {
		return s.Serializer.Encode(obj, w)
	}
	head, ok := headOf(s.Serializer, obj, emptyPretty, endPretty)
	if !ok {
		return s.Serializer.Encode(obj, w)
	}
	b := bytes.NewBuffer(head)
	isWritten := false
	for i := range items.Len() {
		item, err := json.MarshalIndent(items.Index(i).Addr().Interface(), "    ", "  ")
		switch {
		case err != nil && !isWritten:
			return s.Serializer.Encode(obj, w) // it fails, and says of what
		case err != nil:
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(item)
		if b.Len() >= largePretty {
			isWritten = true
			if _, err := b.WriteTo(w); err != nil {
				return err
			}
		}
	}
	b.WriteString("\n  " + endPretty)
	_, err := b.WriteTo(w)
	return err
}

// object is an item whose JSON may be kept.
type object interface {
	runtime.Object
	metav1.Object
}

var objectType = reflect.TypeFor[object]()

// itemsOf returns the items of a list of objects of one type, or false where obj
// is anything else, or has no items.
func itemsOf(obj runtime.Object) (reflect.Value, bool) {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct || v.Elem().NumField() != 3 {
		return reflect.Value{}, false
	}
	t := v.Elem().Type()
	items := t.Field(2)
	if t.Field(0).Type != reflect.TypeFor[metav1.TypeMeta]() || t.Field(1).Type != reflect.TypeFor[metav1.ListMeta]() ||
		items.Name != "Items" || items.Type.Kind() != reflect.Slice || !reflect.PointerTo(items.Type.Elem()).Implements(objectType) {
		return reflect.Value{}, false
	}
	if _, ok := obj.(json.Marshaler); ok {
		return reflect.Value{}, false
	}
	return v.Elem().Field(2), v.Elem().Field(2).Len() > 0
}

// identify returns the identity of an item, without fields where it has none.
// In a list of the API an item has no kind and version of its own: one that
// does is not what others with its managed fields are.
func identify(item reflect.Value) identity {
	o := item.Addr().Interface().(object)
	fields := o.GetManagedFields()
	if len(fields) == 0 || o.GetUID() == "" || o.GetResourceVersion() == "" || !o.GetObjectKind().GroupVersionKind().Empty() {
		return identity{}
	}
	return identity{item.Type(), &fields[0], o.GetResourceVersion()}
}
