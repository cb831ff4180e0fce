package lifecycle

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	resourceutil "k8s.io/kubernetes/pkg/api/v1/resource"
	podshelper "k8s.io/kubernetes/pkg/apis/core/pods"
	v1helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/kubernetes/pkg/fieldpath"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/kubelet/envvars"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// environment returns a container's variables, in the order in which later ones
// win, as upstream's makeEnvironmentVariables. The error is what the Pod's
// status shows, when a ConfigMap, a Secret or a key in one is missing.
func (p *Pod) environment(obj *v1.Pod, c *v1.Container) ([]v1.EnvVar, error) {
	var result []v1.EnvVar
	known := map[string]string{}
	services, err := p.serviceVariables(obj)
	if err != nil {
		return nil, err
	}
	for _, from := range c.EnvFrom {
		data := map[string]string{}
		switch {
		case from.ConfigMapRef != nil:
			m, err := p.cluster.ConfigMaps.ConfigMaps(p.Namespace).Get(from.ConfigMapRef.Name)
			if err != nil {
				if optional(from.ConfigMapRef.Optional) && apierrors.IsNotFound(err) {
					continue
				}
				return nil, err
			}
			data = m.Data
		case from.SecretRef != nil:
			s, err := p.cluster.Secrets.Secrets(p.Namespace).Get(from.SecretRef.Name)
			if err != nil {
				if optional(from.SecretRef.Optional) && apierrors.IsNotFound(err) {
					continue
				}
				return nil, err
			}
			for key, value := range s.Data {
				data[key] = string(value)
			}
		}
		for _, key := range sortedKeys(data) {
			name := from.Prefix + key
			known[name] = data[key]
			result = append(result, v1.EnvVar{Name: name, Value: data[key]})
		}
	}
	mapping := expansion.MappingFuncFor(known, services)
	for _, e := range c.Env {
		value, present, err := p.variable(obj, c, e, mapping)
		if err != nil {
			return nil, err
		}
		if !present {
			continue
		}
		known[e.Name] = value
		result = append(result, v1.EnvVar{Name: e.Name, Value: value})
		delete(services, e.Name)
	}
	for _, name := range sortedKeys(services) {
		if _, set := known[name]; !set {
			result = append([]v1.EnvVar{{Name: name, Value: services[name]}}, result...)
		}
	}
	return result, nil
}

func optional(b *bool) bool { return b != nil && *b }

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// variable is the value of one entry of env. present is false where something
// optional is missing.
func (p *Pod) variable(obj *v1.Pod, c *v1.Container, e v1.EnvVar, mapping func(string) string) (value string, present bool, err error) {
	if e.ValueFrom == nil {
		return expansion.Expand(e.Value, mapping), true, nil
	}
	switch from := e.ValueFrom; {
	case from.FieldRef != nil:
		value, err = p.field(obj, from.FieldRef)
		return value, err == nil, err
	case from.ResourceFieldRef != nil:
		if from.ResourceFieldRef.ContainerName != "" && from.ResourceFieldRef.ContainerName != c.Name {
			value, err = resourceutil.ExtractResourceValueByContainerNameAndNodeAllocatable(from.ResourceFieldRef, obj, from.ResourceFieldRef.ContainerName, p.Node.Capacity)
			return value, err == nil, err
		}
		filled := c.DeepCopy()
		resourceutil.MergeContainerResourceLimits(filled, p.Node.Capacity)
		value, err = resourceutil.ExtractContainerResourceValue(from.ResourceFieldRef, filled)
		return value, err == nil, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		m, err := p.cluster.ConfigMaps.ConfigMaps(p.Namespace).Get(ref.Name)
		if err != nil {
			if optional(ref.Optional) && apierrors.IsNotFound(err) {
				return "", false, nil
			}
			return "", false, err
		}
		value, ok := m.Data[ref.Key]
		if !ok && !optional(ref.Optional) {
			return "", false, fmt.Errorf("couldn't find key %v in ConfigMap %v/%v", ref.Key, p.Namespace, ref.Name)
		}
		return value, ok, nil
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		s, err := p.cluster.Secrets.Secrets(p.Namespace).Get(ref.Name)
		if err != nil {
			if optional(ref.Optional) && apierrors.IsNotFound(err) {
				return "", false, nil
			}
			return "", false, err
		}
		value, ok := s.Data[ref.Key]
		if !ok && !optional(ref.Optional) {
			return "", false, fmt.Errorf("couldn't find key %v in Secret %v/%v", ref.Key, p.Namespace, ref.Name)
		}
		return string(value), ok, nil
	case from.FileKeyRef != nil:
		return p.fileKey(obj, from.FileKeyRef)
	}
	return "", false, nil
}

// fileKey is what a file of a volume says of a key, as upstream's makeEnvironmentVariables has it.
func (p *Pod) fileKey(obj *v1.Pod, ref *v1.FileKeySelector) (value string, present bool, err error) {
	text, err := p.mounts.readFile(obj, ref.VolumeName, ref.Path)
	if err == nil {
		value, err = envFileValue(string(text), ref.Key)
	}
	switch {
	case err != nil:
		return "", false, errors.New("couldn't parse env file")
	case value == "" && optional(ref.Optional):
		return "", false, nil
	case value == "":
		return "", false, fmt.Errorf("environment variable key %q not found in file %q", ref.Key, ref.Path)
	}
	return value, true, nil
}

// envFileValue returns the value of a key in a file of variables, "" if it has none. The
// rules are those of k8s.io/kubernetes/pkg/kubelet/util/env, which reads files of the
// machine alone: VAR='value', over several lines if need be, comments, and nothing else.
func envFileValue(text, key string) (string, error) {
	for text != "" {
		text = strings.TrimLeft(text, " \t")
		line, rest, _ := strings.Cut(text, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			text = rest
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok || strings.Contains(name, "\n"):
			return "", errors.New("missing '='")
		case name == "" || strings.TrimRight(name, " \t") != name:
			return "", errors.New("no variable name before '='")
		case strings.HasPrefix(value, " ") || strings.HasPrefix(value, "\t"):
			if name == key {
				return "", nil
			}
			text = rest
			continue
		case !strings.HasPrefix(value, "'"):
			return "", errors.New("value must be enclosed in single quotes")
		}
		value, after, ok := strings.Cut(value[1:], "'")
		if !ok {
			return "", errors.New("unclosed single quote")
		}
		comment, rest, _ := strings.Cut(after, "\n")
		if comment = strings.TrimLeft(comment, " \t"); comment != "" && !strings.HasPrefix(comment, "#") {
			return "", errors.New("unexpected content after closing quote")
		}
		if name == key {
			return value, nil
		}
		text = rest
	}
	return "", nil
}

// field is a field of the Pod for the downward API, as upstream's
// podFieldSelectorRuntimeValue.
func (p *Pod) field(obj *v1.Pod, ref *v1.ObjectFieldSelector) (string, error) {
	path, _, err := podshelper.ConvertDownwardAPIFieldLabel(ref.APIVersion, ref.FieldPath, "")
	if err != nil {
		return "", err
	}
	switch path {
	case "spec.nodeName":
		return obj.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return obj.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return p.Node.IP, nil
	case "status.podIP", "status.podIPs":
		return p.ip, nil
	}
	return fieldpath.ExtractFieldPathAsString(obj, path)
}

// serviceVariables are those of the Service kubernetes and, unless the Pod says
// otherwise, of the namespace's.
func (p *Pod) serviceVariables(obj *v1.Pod) (map[string]string, error) {
	all, err := p.cluster.Services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	links := obj.Spec.EnableServiceLinks == nil || *obj.Spec.EnableServiceLinks
	var mapped []*v1.Service
	for _, s := range all {
		if !v1helper.IsServiceIPSet(s) {
			continue
		}
		if s.Namespace == metav1.NamespaceDefault && s.Name == "kubernetes" || s.Namespace == p.Namespace && links {
			mapped = append(mapped, s)
		}
	}
	slices.SortFunc(mapped, func(a, b *v1.Service) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	m := map[string]string{}
	for _, e := range envvars.FromServices(mapped) {
		m[e.Name] = e.Value
	}
	return m, nil
}

// sysctls are the parameters of the kernel that a Pod sets.
func sysctls(obj *v1.Pod) map[string]string {
	if obj.Spec.SecurityContext == nil {
		return nil
	}
	all := map[string]string{}
	for _, s := range obj.Spec.SecurityContext.Sysctls {
		all[s.Name] = s.Value
	}
	return all
}

// expandCommand replaces $(NAME) in a container's command and args.
func expandCommand(c *v1.Container, env []v1.EnvVar) (command, args []string) {
	return kubecontainer.ExpandContainerCommandAndArgs(c, variables(env))
}

// variables are a container's as upstream's functions want them.
func variables(env []v1.EnvVar) []kubecontainer.EnvVar {
	vars := make([]kubecontainer.EnvVar, len(env))
	for i, e := range env {
		vars[i] = kubecontainer.EnvVar{Name: e.Name, Value: e.Value}
	}
	return vars
}
