package transcripts

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// protobufScheme holds the few kinds that transcripts exchange in protobuf: a protobuf message cannot be shown
// without its type.
var protobufScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(appsv1.AddToScheme(s))
	utilruntime.Must(coordinationv1.AddToScheme(s))
	utilruntime.Must(metav1.AddMetaToScheme(s))
	metav1.AddToGroupVersion(s, metav1.SchemeGroupVersion)
	metav1.AddToGroupVersion(s, corev1.SchemeGroupVersion)
	return s
}()

var protobufCodec = protobuf.NewSerializer(protobufScheme, protobufScheme)

// encodeProtobuf turns the YAML of an object into Kubernetes' protobuf envelope: the four bytes "k8s\x00" and an
// Unknown message that holds kind, version and the object.
func encodeProtobuf(body []byte) ([]byte, error) {
	data, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, err
	}
	obj, _, err := serializer.NewCodecFactory(protobufScheme).UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(protobufCodec, obj)
}

// decodeProtobuf is the reverse, as the value that encoding/json makes of the object.
func decodeProtobuf(data []byte) (any, error) {
	obj, kind, err := protobufCodec.Decode(data, nil, nil)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(*kind)
	return asJSON(obj)
}

// decodeProtobufEvent decodes one frame of a watch stream: a WatchEvent without an envelope, whose object has one.
func decodeProtobufEvent(frame []byte) (any, error) {
	event := &metav1.WatchEvent{}
	if err := event.Unmarshal(frame); err != nil {
		return nil, err
	}
	object, err := decodeProtobuf(event.Object.Raw)
	return map[string]any{"type": event.Type, "object": object}, err
}

func asJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return decodeJSON(data)
}
