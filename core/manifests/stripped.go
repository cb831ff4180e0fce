package manifests

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kept are the fields of metadata that a person writes.
var kept = []string{"name", "namespace", "labels", "annotations", "finalizers"}

// set are annotations, labels and finalizers that a part of the cluster writes.
var set = map[string][]string{
	"annotations": {
		"kubectl.kubernetes.io/last-applied-configuration", "deployment.kubernetes.io/revision",
		"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node",
		"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner",
		"endpoints.kubernetes.io/last-change-trigger-time", "deprecated.daemonset.template.generation",
		"batch.kubernetes.io/cronjob-scheduled-timestamp",
	},
	"labels":     {"kubernetes.io/metadata.name", "kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since"},
	"finalizers": {"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection", "foregroundDeletion", "orphan", "customresourcecleanup.apiextensions.k8s.io"},
}

// jobLabels are those that the API server gives to the Pods of a Job.
var jobLabels = []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"}

// stripped returns an object without what the API server, controllers and the scheduler set.
func (c cluster) stripped(object *unstructured.Unstructured) *unstructured.Unstructured {
	o := object.DeepCopy()
	owned := func(field string) bool { return ownedBySomebody(object, field) }
	delete(o.Object, "status")
	metadata, _ := o.Object["metadata"].(map[string]any)
	for name := range metadata {
		if !slices.Contains(kept, name) {
			delete(metadata, name)
		}
	}
	for field, names := range set {
		drop(metadata, field, names)
	}
	spec, _ := o.Object["spec"].(map[string]any)
	switch {
	case is(o, "", "Namespace"):
		delete(o.Object, "spec")
	case is(o, "", "Pod"):
		stripPod(spec)
	case is(o, "", "Service"):
		stripService(spec, owned)
	case is(o, "", "PersistentVolumeClaim"):
		if _, bound := object.GetAnnotations()["pv.kubernetes.io/bound-by-controller"]; bound {
			delete(spec, "volumeName")
		}
	case is(o, "", "PersistentVolume"):
		if claim, ok := spec["claimRef"].(map[string]any); ok {
			if _, bound := object.GetAnnotations()["pv.kubernetes.io/bound-by-controller"]; bound {
				delete(spec, "claimRef")
			} else {
				delete(claim, "uid")
				delete(claim, "resourceVersion")
			}
		}
	case is(o, "rbac.authorization.k8s.io", "ClusterRole"):
		if o.Object["aggregationRule"] != nil {
			delete(o.Object, "rules")
		}
	case is(o, "batch", "Job"):
		stripJob(o.Object)
	case is(o, "batch", "CronJob"):
		if template, ok := spec["jobTemplate"].(map[string]any); ok {
			stripJob(template)
		}
	case is(o, "apps", "StatefulSet"):
		claims, _ := spec["volumeClaimTemplates"].([]any)
		for _, claim := range claims {
			if claim, ok := claim.(map[string]any); ok {
				delete(claim, "status")
			}
		}
	case is(o, "", "Secret"):
		if o.Object["type"] == "kubernetes.io/service-account-token" {
			delete(o.Object, "data")
			annotations, _ := metadata["annotations"].(map[string]any)
			delete(annotations, "kubernetes.io/service-account.uid")
		}
	case is(o, "", "ServiceAccount"):
		delete(o.Object, "secrets")
	}
	dropTimes(o.Object)
	return o
}

// ownedBySomebody reports whether somebody has sent a field, by its name in fieldsV1: what the API server chose for a field
// that nobody sent is nobody's.
func ownedBySomebody(o *unstructured.Unstructured, field string) bool {
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.String(), `"f:`+field+`"`) {
			return true
		}
	}
	return false
}

// stripPod takes back what the scheduler and admission have done to a Pod.
func stripPod(spec map[string]any) {
	for _, field := range []string{"nodeName", "priority", "preemptionPolicy", "serviceAccount"} {
		delete(spec, field)
	}
	const token = "kube-api-access-"
	isToken := func(item any) bool {
		volume, _ := item.(map[string]any)
		name, _ := volume["name"].(string)
		return strings.HasPrefix(name, token)
	}
	filter(spec, "volumes", isToken)
	for _, field := range []string{"containers", "initContainers"} {
		containers, _ := spec[field].([]any)
		for _, container := range containers {
			if container, ok := container.(map[string]any); ok {
				filter(container, "volumeMounts", isToken)
			}
		}
	}
	filter(spec, "tolerations", func(item any) bool {
		toleration, _ := item.(map[string]any)
		key, _ := toleration["key"].(string)
		seconds, _ := toleration["tolerationSeconds"].(int64)
		return (key == "node.kubernetes.io/not-ready" || key == "node.kubernetes.io/unreachable") && seconds == 300
	})
	delete(spec, "ephemeralContainers") // these are added to a Pod that runs
}

// stripService leaves addresses and ports to the other cluster, unless a person chose them.
func stripService(spec map[string]any, owned func(string) bool) {
	if spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	if spec["ipFamilyPolicy"] == "SingleStack" && !owned("ipFamilyPolicy") {
		delete(spec, "ipFamilyPolicy")
		delete(spec, "ipFamilies")
	}
	if !owned("healthCheckNodePort") {
		delete(spec, "healthCheckNodePort")
	}
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok && !owned("nodePort") {
			delete(port, "nodePort")
		}
	}
}

// stripJob takes out the selector that the API server makes for a Job, and the labels that go with it.
func stripJob(job map[string]any) {
	spec, _ := job["spec"].(map[string]any)
	if manual, _ := spec["manualSelector"].(bool); manual {
		return
	}
	delete(spec, "selector")
	if template, ok := spec["template"].(map[string]any); ok {
		if metadata, ok := template["metadata"].(map[string]any); ok {
			drop(metadata, "labels", jobLabels)
		}
	}
	if metadata, ok := job["metadata"].(map[string]any); ok {
		drop(metadata, "labels", jobLabels)
	}
}

// drop takes names out of the map or list in a field, and the field if nothing is left.
func drop(of map[string]any, field string, names []string) {
	switch value := of[field].(type) {
	case map[string]any:
		for _, name := range names {
			delete(value, name)
		}
		if len(value) == 0 {
			delete(of, field)
		}
	case []any:
		filter(of, field, func(item any) bool {
			name, _ := item.(string)
			return slices.Contains(names, name)
		})
	}
}

// filter takes items out of the list in a field, and the field if nothing is left.
func filter(of map[string]any, field string, out func(any) bool) {
	items, ok := of[field].([]any)
	if !ok {
		return
	}
	if left := slices.DeleteFunc(slices.Clone(items), out); len(left) > 0 {
		of[field] = left
	} else {
		delete(of, field)
	}
}

// dropTimes takes out the creationTimestamp of templates, which says nothing.
func dropTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		if time, ok := value["creationTimestamp"]; ok && time == nil {
			delete(value, "creationTimestamp")
		}
		for _, field := range value {
			dropTimes(field)
		}
	case []any:
		for _, item := range value {
			dropTimes(item)
		}
	}
}
