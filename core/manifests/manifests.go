// Package manifests makes YAML of the objects of a cluster: of what people made, for kubectl apply in any cluster.
//
// It is not a backup. What the API server, controllers, the scheduler and kubelets make again is left out, and so is what
// belongs to one cluster: UIDs, resource versions, status, owners, allocated addresses. Package bundle keeps those.
//
//	objects of a cluster ──▶ Made by a person? ──▶ without what a server sets ──▶ files, in the order of kubectl apply -f
package manifests

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// File is one file of manifests.
type File struct {
	Name string // without folders; in the order of names they can be applied
	Data []byte
}

const (
	definitionsFile = "0-definitions.yaml"
	clusterFile     = "1-cluster.yaml"
	namespacePrefix = "2-"
)

// order is that of kinds in a file: what others refer to comes first. The others follow, by name.
var order = []string{
	"CustomResourceDefinition", "Namespace", "PriorityClass", "StorageClass", "ClusterRole", "ClusterRoleBinding", "PersistentVolume",
	"ResourceQuota", "LimitRange", "ServiceAccount", "Secret", "ConfigMap", "PersistentVolumeClaim", "Role", "RoleBinding", "Service",
}

// Files returns the manifests of what people made: definitions of custom resources, the other objects that are in no
// namespace, and a file for each namespace. Objects are those of one cluster, as its store has them; they stay as they are.
// The error is that of a value that YAML cannot say.
func Files(objects []*unstructured.Unstructured) ([]File, error) {
	c := newCluster(objects)
	in := map[string][]*unstructured.Unstructured{}
	for _, object := range objects {
		if !c.isMade(object) {
			continue
		}
		name := clusterFile
		switch {
		case object.GetNamespace() != "":
			name = namespacePrefix + object.GetNamespace() + ".yaml"
		case object.GetKind() == "CustomResourceDefinition":
			name = definitionsFile
		}
		in[name] = append(in[name], c.stripped(object))
	}
	var files []File
	for name, objects := range in {
		slices.SortFunc(objects, compare)
		var b bytes.Buffer
		for i, object := range objects {
			text, err := yamlOf(object)
			if err != nil {
				return nil, fmt.Errorf("%s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
			}
			if i > 0 {
				b.WriteString("---\n")
			}
			b.Write(text)
		}
		files = append(files, File{name, b.Bytes()})
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// yamlOf is an object as YAML. yaml.Marshal reads its JSON as YAML, whose reader refuses characters that an object may hold
// and JSON does not spell out.
func yamlOf(object *unstructured.Unstructured) ([]byte, error) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		return nil, err
	}
	if bytes.ContainsFunc(text, isRefused) {
		var spelled bytes.Buffer
		for _, char := range string(text) {
			if isRefused(char) {
				fmt.Fprintf(&spelled, `\u%04x`, char)
			} else {
				spelled.WriteRune(char)
			}
		}
		text = spelled.Bytes()
	}
	return yaml.JSONToYAML(text)
}

// isRefused reports whether YAML takes a character for itself only when it is spelled out: DEL, C1 with NEL, which ends a
// line, and the two of the first plane that are no characters. See https://yaml.org/spec/1.2.2/#51-character-set.
func isRefused(char rune) bool {
	return char >= 0x7f && char <= 0x9f || char == 0xfffe || char == 0xffff
}

func compare(a, b *unstructured.Unstructured) int {
	rank := func(o *unstructured.Unstructured) int {
		if i := slices.Index(order, o.GetKind()); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()), cmp.Compare(a.GetName(), b.GetName()))
}

// Zip writes files as an archive, in a folder of that name. Times in it are those of now. The errors are w's.
func Zip(w io.Writer, folder string, files []File, now time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: folder + "/" + f.Name, Method: zip.Deflate, Modified: now})
		if err != nil {
			return err
		}
		if _, err := entry.Write(f.Data); err != nil {
			return err
		}
	}
	return archive.Close()
}
