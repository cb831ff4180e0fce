package container

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// admissionReview is that of admission.k8s.io, as far as agnhost's webhook reads it.
type admissionReview struct {
	APIVersion string             `json:"apiVersion"`
	Kind       string             `json:"kind"`
	Request    *admissionRequest  `json:"request,omitempty"`
	Response   *admissionResponse `json:"response,omitempty"`
}

type admissionRequest struct {
	UID         string          `json:"uid"`
	Name        string          `json:"name"`
	SubResource string          `json:"subResource"`
	Operation   string          `json:"operation"`
	Resource    groupResource   `json:"resource"`
	Object      admissionObject `json:"object"`
	OldObject   admissionObject `json:"oldObject"`
}

type groupResource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
}

// admissionObject is what the webhook reads of the objects that it is asked about.
type admissionObject struct {
	Metadata struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Data map[string]any `json:"data"`
	Spec struct {
		Containers     []struct{ Name string } `json:"containers"`
		InitContainers []struct{ Name string } `json:"initContainers"`
	} `json:"spec"`
	Stdin     bool   `json:"stdin"`     // of PodAttachOptions
	Container string `json:"container"` // of PodAttachOptions
}

type admissionResponse struct {
	UID       string           `json:"uid"`
	Allowed   bool             `json:"allowed"`
	Result    *admissionStatus `json:"status,omitempty"`
	Patch     []byte           `json:"patch,omitempty"`
	PatchType string           `json:"patchType,omitempty"`
}

type admissionStatus struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Code    int    `json:"code,omitempty"`
}

var allowedResponse = admissionResponse{Allowed: true}

func denied(message string) admissionResponse {
	return admissionResponse{Result: &admissionStatus{Message: message}}
}

// patched allows, and changes the object by a JSON patch if it is not empty.
func patched(patch string) admissionResponse {
	if patch == "" {
		return allowedResponse
	}
	return admissionResponse{Allowed: true, Patch: []byte(patch), PatchType: "JSONPatch"}
}

// webhook answers admission reviews at paths that try what a webhook can do.
func (a agnhost) webhook(args []string) (*Server, error) {
	port := a.flags.Int("port", 443, "")
	sidecar := a.flags.String("sidecar-image", "", "")
	own, err := a.secured(args)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/readyz", text("ok"))
	for path, admit := range map[string]func(context.Context, *admissionRequest) admissionResponse{
		"/always-allow-delay-5s": a.allowLate,
		"/always-deny": func(context.Context, *admissionRequest) admissionResponse {
			return denied("this webhook denies all requests")
		},
		"/add-label":                addLabel,
		"/pods":                     admitPods,
		"/pods/attach":              admitAttach,
		"/mutating-pods":            mutatePods,
		"/mutating-pods-sidecar":    mutatePodsSidecar(*sidecar),
		"/configmaps":               admitData("the configmap contains unwanted key and value", "the configmap cannot be deleted because it contains unwanted key and value"),
		"/mutating-configmaps":      mutateData,
		"/custom-resource":          admitData("the custom resource contains unwanted data", "the custom resource cannot be deleted because it contains unwanted key and value"),
		"/mutating-custom-resource": mutateData,
		"/crd":                      admitCRD,
	} {
		mux.Handle(path, review(admit))
	}
	return &Server{Ports: secured(listen(mux, *port), own)}, nil
}

// review answers an AdmissionReview.
func review(admit func(context.Context, *admissionRequest) admissionResponse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in admissionReview
		if !decode(w, r, &in) {
			return
		}
		if in.Kind != "AdmissionReview" || in.Request == nil {
			http.Error(w, fmt.Sprintf("Unsupported group version kind: %s, Kind=%s", in.APIVersion, in.Kind), http.StatusBadRequest)
			return
		}
		out := admit(r.Context(), in.Request)
		out.UID = in.Request.UID
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(admissionReview{APIVersion: in.APIVersion, Kind: in.Kind, Response: &out}) // fails when the client is gone
	})
}

// decode reads JSON from a request. It answers the request itself when that is none.
func decode(w http.ResponseWriter, r *http.Request, to any) bool {
	body, err := coreutils.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, to)
	}
	if err != nil {
		http.Error(w, "Request could not be decoded: "+err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func (a agnhost) allowLate(ctx context.Context, _ *admissionRequest) admissionResponse {
	timer := a.c.cfg.Clock.NewTimer(5 * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
	return admissionResponse{Allowed: true, Result: &admissionStatus{Message: "this webhook allows all requests"}}
}

func addLabel(_ context.Context, r *admissionRequest) admissionResponse {
	labels := r.Object.Metadata.Labels
	value, has := labels["added-label"]
	switch {
	case len(labels) == 0:
		return patched(`[{"op": "add", "path": "/metadata/labels", "value": {"added-label": "yes"}}]`)
	case !has:
		return patched(`[{"op": "add", "path": "/metadata/labels/added-label", "value": "yes"}]`)
	case value != "yes":
		return patched(`[{"op": "replace", "path": "/metadata/labels/added-label", "value": "yes"}]`)
	}
	return allowedResponse
}

func admitPods(ctx context.Context, r *admissionRequest) admissionResponse {
	if r.Resource.Resource != "pods" {
		return denied("expect resource to be /v1, Resource=pods")
	}
	var why []string
	switch r.Object.Metadata.Labels["webhook-e2e-test"] {
	case "webhook-disallow":
		why = append(why, "the pod contains unwanted label;")
	case "wait-forever":
		<-ctx.Done()
		why = append(why, "the pod response should not be sent;")
	}
	for _, c := range r.Object.Spec.Containers {
		if strings.Contains(c.Name, "webhook-disallow") {
			why = append(why, "the pod contains unwanted container name;")
		}
	}
	if len(why) > 0 {
		return denied(strings.Join(why, " "))
	}
	return allowedResponse
}

func admitAttach(_ context.Context, r *admissionRequest) admissionResponse {
	if r.Name == "to-be-attached-pod" && r.SubResource == "attach" && r.Object.Stdin && r.Object.Container == "container1" {
		return denied("attaching to pod 'to-be-attached-pod' is not allowed")
	}
	return allowedResponse
}

func mutatePods(_ context.Context, r *admissionRequest) admissionResponse {
	const name = "webhook-added-init-container"
	if r.Object.Metadata.Name != "webhook-to-be-mutated" || slices.ContainsFunc(r.Object.Spec.InitContainers, func(c struct{ Name string }) bool { return c.Name == name }) {
		return allowedResponse
	}
	return patched(`[{"op":"add","path":"/spec/initContainers","value":[{"image":"webhook-added-image","name":"` + name + `","resources":{}}]}]`)
}

func mutatePodsSidecar(image string) func(context.Context, *admissionRequest) admissionResponse {
	return func(_ context.Context, r *admissionRequest) admissionResponse {
		const name = "webhook-added-sidecar"
		switch {
		case image == "":
			return admissionResponse{Result: &admissionStatus{Status: "Failure", Message: "No image specified by the sidecar-image parameter", Code: 500}}
		case slices.ContainsFunc(r.Object.Spec.Containers, func(c struct{ Name string }) bool { return c.Name == name }):
			return allowedResponse
		}
		return patched(fmt.Sprintf(`[{"op":"add", "path":"/spec/containers/-","value":{"image":%q,"name":%q,"resources":{}}}]`, image, name))
	}
}

// admitData refuses objects with certain data, and to delete those with other.
func admitData(unwanted, kept string) func(context.Context, *admissionRequest) admissionResponse {
	return func(_ context.Context, r *admissionRequest) admissionResponse {
		const key = "webhook-e2e-test"
		switch {
		case r.Operation == "DELETE" && r.OldObject.Data[key] == "webhook-nondeletable":
			return admissionResponse{Result: &admissionStatus{Reason: kept}}
		case (r.Operation == "CREATE" || r.Operation == "UPDATE") && r.Object.Data[key] == "webhook-disallow":
			return admissionResponse{Result: &admissionStatus{Reason: unwanted}}
		}
		return allowedResponse
	}
}

func mutateData(_ context.Context, r *admissionRequest) admissionResponse {
	switch {
	case r.Object.Data["mutation-stage-1"] == "yes":
		return patched(`[{"op": "add", "path": "/data/mutation-stage-2", "value": "yes"}]`)
	case r.Object.Data["mutation-start"] == "yes":
		return patched(`[{"op": "add", "path": "/data/mutation-stage-1", "value": "yes"}]`)
	}
	return allowedResponse
}

func admitCRD(_ context.Context, r *admissionRequest) admissionResponse {
	if r.Object.Metadata.Labels["webhook-e2e-test"] == "webhook-disallow" {
		return denied("the crd contains unwanted label")
	}
	return allowedResponse
}

// conversionReview is that of apiextensions.k8s.io.
type conversionReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Request    *struct {
		UID               string           `json:"uid"`
		DesiredAPIVersion string           `json:"desiredAPIVersion"`
		Objects           []map[string]any `json:"objects"`
	} `json:"request,omitempty"`
	Response *conversionResponse `json:"response,omitempty"`
}

type conversionResponse struct {
	UID              string           `json:"uid"`
	ConvertedObjects []map[string]any `json:"convertedObjects"`
	Result           admissionStatus  `json:"result"`
}

// conversionWebhook converts objects of stable.example.com between v1, which has hostPort, and v2, which has host and port.
func (a agnhost) conversionWebhook(args []string) (*Server, error) {
	port := a.flags.Int("port", 443, "")
	own, err := a.secured(args)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/readyz", text("ok"))
	mux.HandleFunc("/crdconvert", func(w http.ResponseWriter, r *http.Request) {
		var in conversionReview
		if !decode(w, r, &in) {
			return
		}
		if in.Kind != "ConversionReview" || in.Request == nil {
			http.Error(w, fmt.Sprintf("Unsupported group version kind: %s, Kind=%s", in.APIVersion, in.Kind), http.StatusBadRequest)
			return
		}
		out := conversionResponse{UID: in.Request.UID, ConvertedObjects: []map[string]any{}, Result: admissionStatus{Status: "Success"}}
		for _, obj := range in.Request.Objects {
			if err := convertExample(obj, in.Request.DesiredAPIVersion); err != nil {
				out.ConvertedObjects, out.Result = nil, admissionStatus{Status: "Failure", Message: err.Error()}
				break
			}
			out.ConvertedObjects = append(out.ConvertedObjects, obj)
		}
		w.Header().Set("Content-Type", cmp.Or(r.Header.Get("Content-Type"), "application/json"))
		_ = json.NewEncoder(w).Encode(conversionReview{APIVersion: in.APIVersion, Kind: in.Kind, Response: &out}) // fails when the client is gone
	})
	return &Server{Ports: secured(listen(mux, *port), own)}, nil
}

// convertExample changes an object to another version.
func convertExample(obj map[string]any, to string) error {
	from, _ := obj["apiVersion"].(string)
	switch {
	case from == to:
		return fmt.Errorf("conversion from a version to itself should not call the webhook: %s", to)
	case from == "stable.example.com/v1" && to == "stable.example.com/v2":
		if both, ok := obj["hostPort"].(string); ok {
			host, port, ok := strings.Cut(both, ":")
			if !ok || strings.Contains(port, ":") {
				return fmt.Errorf("invalid hostPort value `%v`", both)
			}
			delete(obj, "hostPort")
			obj["host"], obj["port"] = host, port
		}
	case from == "stable.example.com/v2" && to == "stable.example.com/v1":
		host, hasHost := obj["host"].(string)
		port, hasPort := obj["port"].(string)
		if hasHost || hasPort {
			obj["hostPort"] = host + ":" + port
			delete(obj, "host")
			delete(obj, "port")
		}
	case from == "stable.example.com/v1" || from == "stable.example.com/v2":
		return fmt.Errorf("unexpected conversion version %q", to)
	default:
		return fmt.Errorf("unexpected conversion version %q", from)
	}
	obj["apiVersion"] = to
	return nil
}
