package requestlog

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// kept is a body as it was copied out of the log.
type kept struct {
	data []byte
	size int64
}

func (b *body) copy() kept { return kept{bytes.Clone(b.kept), b.size} }

// pairs lists headers by name, one pair for each value.
func pairs(h http.Header) [][2]string {
	list := [][2]string{}
	for name, values := range h {
		for _, value := range values {
			list = append(list, [2]string{name, value})
		}
	}
	slices.SortStableFunc(list, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return list
}

// decode turns a body into text by what its headers say. It is nil for no body.
func decode(b kept, h http.Header) *Body {
	if b.size == 0 {
		return nil
	}
	out := &Body{Size: b.size, Kept: len(b.data)}
	data, whole := b.data, int64(len(b.data)) == b.size
	if len(data) == 0 {
		out.Language, out.Note = "text", "Given up for newer requests."
		return out
	}
	var notes []string
	if h.Get("Content-Encoding") == "gzip" {
		data = gunzip(data)
		notes = append(notes, "It travelled compressed with gzip.")
	}
	text, language, note := decodeData(data, h.Get("Content-Type"), whole)
	out.Text, out.Language = text, language
	if note != "" {
		notes = append(notes, note)
	}
	if !whole {
		notes = append(notes, fmt.Sprintf("Only its first %d bytes are in the log.", len(b.data)))
	}
	out.Note = strings.Join(notes, " ")
	return out
}

func decodeEvent(data []byte, contentType string) Body {
	if data == nil {
		return Body{Language: "text", Note: "Too large for the log."}
	}
	text, language, note := "", "", ""
	if strings.Contains(contentType, "protobuf") {
		text, language, note = decodeWatchEvent(data)
	} else {
		text, language, note = decodeData(data, contentType, true)
	}
	return Body{Text: text, Language: language, Size: int64(len(data)), Kept: len(data), Note: note}
}

func decodeData(data []byte, contentType string, whole bool) (text, language, note string) {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && media == runtime.ContentTypeProtobuf:
		if !whole {
			return "", "text", "Protobuf can only be shown when all of it was kept."
		}
		decoded, err := decodeProtobuf(data)
		if err != nil {
			return "", "text", "Protobuf that could not be read: " + err.Error()
		}
		return decoded, "json", "It travelled as protobuf."
	case !utf8.Valid(trimRune(data)):
		return "", "text", "Binary data."
	case strings.Contains(media, "json"):
		language = "json"
	case strings.Contains(media, "yaml"):
		language = "yaml"
	default:
		language = "text"
	}
	return string(trimRune(data)), language, ""
}

// trimRune drops a last character that was cut in two.
func trimRune(data []byte) []byte {
	for cut := 0; cut < utf8.UTFMax && cut < len(data); cut++ {
		if r, size := utf8.DecodeLastRune(data[:len(data)-cut]); r != utf8.RuneError || size != 1 {
			return data[:len(data)-cut]
		}
	}
	return data
}

// gunzip reads as far as it can: the end may be missing.
func gunzip(data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	plain, _ := io.ReadAll(io.LimitReader(r, 4<<20)) // a cut stream ends in an error after what there is
	return plain
}

// schemes know the types that this server speaks protobuf for.
var schemes = []*runtime.Scheme{legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme, metainternalversion.Scheme}

// decodeProtobuf reads upstream's envelope and what is in it, and returns it as JSON.
func decodeProtobuf(data []byte) (string, error) {
	var first error
	for _, scheme := range schemes {
		object, _, err := protobuf.NewSerializer(scheme, scheme).Decode(data, nil, nil)
		if err == nil {
			return toJSON(object)
		}
		if first == nil {
			first = err
		}
	}
	// Metadata of any kind travels as the type itself, not as its kind.
	for _, into := range []runtime.Object{&metav1.PartialObjectMetadataList{}, &metav1.PartialObjectMetadata{}} {
		gvk := schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1"}
		if object, _, err := protobuf.NewSerializer(metainternalversion.Scheme, metainternalversion.Scheme).Decode(data, &gvk, into); err == nil {
			return toJSON(object)
		}
	}
	return "", first
}

// decodeWatchEvent reads one event: a metav1.WatchEvent without an envelope, with an object in one.
func decodeWatchEvent(data []byte) (text, language, note string) {
	var event metav1.WatchEvent
	if err := event.Unmarshal(data); err != nil {
		return "", "text", "Protobuf that could not be read: " + err.Error()
	}
	object, err := decodeProtobuf(event.Object.Raw)
	if err != nil {
		return "", "text", "Protobuf that could not be read: " + err.Error()
	}
	shown, err := json.Marshal(struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}{event.Type, json.RawMessage(object)})
	if err != nil {
		return "", "text", err.Error()
	}
	return string(shown), "json", "It travelled as protobuf."
}

func toJSON(object runtime.Object) (string, error) {
	text, err := json.Marshal(object)
	return string(text), err
}
