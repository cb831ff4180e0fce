package lifecycle

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/secret"
	volumeutil "k8s.io/kubernetes/pkg/volume/util"
	volumevalidation "k8s.io/kubernetes/pkg/volume/validation"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/locks"
)

// volumes are a Pod's volumes by name. What a volume shows is computed when the
// Pod is mounted only as far as it can fail; files are made when a process
// first looks, so that a thousand servers that read none cost none.
type volumes struct {
	pod *Pod

	mu       locks.Mutex[locks.Part]
	roots    map[string]*container.File
	messages map[*record]*container.File // the files at terminationMessagePath
	trees    map[*record]*container.Tree
	filled   bool
	shown    *v1.Pod // the Pod as the files tell of it

	storage    *container.Quota             // of the Pod's ephemeral storage
	containers map[*record]*container.Quota // of the containers' layers and logs
	layers     map[*record]*container.Quota // of the writable layers of the containers' last runs
	memory     map[*record]*container.Quota // of what the containers have written to volumes in memory
	empty      map[string]*container.Quota  // of volumes of the type emptyDir, on the node's disk
}

// prepare checks the Pod's volumes. It returns the volumes, or a message for
// each that cannot be mounted.
func (p *Pod) prepare(obj *v1.Pod) (*volumes, []string) {
	v := &volumes{pod: p, roots: map[string]*container.File{}, messages: map[*record]*container.File{}, trees: map[*record]*container.Tree{}, containers: map[*record]*container.Quota{}, layers: map[*record]*container.Quota{}, memory: map[*record]*container.Quota{}, empty: map[string]*container.Quota{}}
	v.storage = p.cluster.Disk.NewQuota(nil, 0, storageLimit(obj), p.overStorage)
	var failed []string
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		if _, err := v.payload(obj, vol, false); err != nil {
			failed = append(failed, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", vol.Name, err))
			continue
		}
		if claim := claimOf(obj, vol); claim != "" {
			pvc, err := p.cluster.Claims.PersistentVolumeClaims(p.Namespace).Get(claim)
			switch {
			case err != nil:
				failed = append(failed, fmt.Sprintf("Unable to attach or mount volumes: unmounted volumes=[%s], unattached volumes=[], failed to process volumes=[%s]: error processing PVC %s/%s: failed to fetch PVC from API server: %v", vol.Name, vol.Name, p.Namespace, claim, err))
				continue
			case pvc.Spec.VolumeName == "" || pvc.Status.Phase != v1.ClaimBound:
				failed = append(failed, fmt.Sprintf("Unable to attach or mount volumes: unmounted volumes=[%s], unattached volumes=[], failed to process volumes=[%s]: error processing PVC %s/%s: PVC is not bound", vol.Name, vol.Name, p.Namespace, claim))
				continue
			}
			if v.roots[vol.Name], err = p.persistent(obj, pvc.Spec.VolumeName); err != nil {
				failed = append(failed, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", pvc.Spec.VolumeName, err))
			}
			continue
		}
		var err error
		switch {
		case vol.HostPath != nil:
			v.roots[vol.Name], err = p.hostPath(vol.HostPath.Path, vol.HostPath.Type)
		case vol.GitRepo != nil: // in the words of pkg/volume/git_repo
			err = errors.New("git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`")
		case vol.CSI != nil:
			err = fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name %s not found in the list of registered CSI drivers", vol.CSI.Driver)
		}
		if err != nil {
			failed = append(failed, fmt.Sprintf("MountVolume.SetUp failed for volume %q : %v", vol.Name, err))
		}
	}
	if len(failed) > 0 {
		return nil, failed
	}
	return v, nil
}

// allocatable gives upstream's downward API the one thing that it asks a volume
// host for.
type allocatable struct {
	volume.VolumeHost
	of v1.ResourceList
}

func (a allocatable) GetNodeAllocatable() (v1.ResourceList, error) { return a.of, nil }

// payload is what a volume shows, nil if that does not come from the API. With
// tokens unset, service account tokens are left out, which cost a request.
func (v *volumes) payload(obj *v1.Pod, vol *v1.Volume, tokens bool) (map[string]container.Content, error) {
	switch {
	case vol.ConfigMap != nil:
		return v.configMap(vol.ConfigMap.Name, vol.ConfigMap.Items, vol.ConfigMap.DefaultMode, vol.ConfigMap.Optional)
	case vol.Secret != nil:
		return v.secret(vol.Secret.SecretName, vol.Secret.Items, vol.Secret.DefaultMode, vol.Secret.Optional)
	case vol.DownwardAPI != nil:
		return v.downward(obj, vol.DownwardAPI.Items, vol.DownwardAPI.DefaultMode)
	case vol.Projected != nil:
		all := map[string]container.Content{}
		for _, s := range vol.Projected.Sources {
			var some map[string]container.Content
			var err error
			switch {
			case s.ConfigMap != nil:
				some, err = v.configMap(s.ConfigMap.Name, s.ConfigMap.Items, vol.Projected.DefaultMode, s.ConfigMap.Optional)
			case s.Secret != nil:
				some, err = v.secret(s.Secret.Name, s.Secret.Items, vol.Projected.DefaultMode, s.Secret.Optional)
			case s.DownwardAPI != nil:
				some, err = v.downward(obj, s.DownwardAPI.Items, vol.Projected.DefaultMode)
			case s.ServiceAccountToken != nil && tokens:
				some = map[string]container.Content{s.ServiceAccountToken.Path: v.privateFile(obj, vol.Projected, container.Content{Make: v.token(obj, s.ServiceAccountToken)})}
			case s.ClusterTrustBundle != nil:
				var anchors []byte
				anchors, err = v.trustAnchors(s.ClusterTrustBundle)
				some = map[string]container.Content{s.ClusterTrustBundle.Path: v.privateFile(obj, vol.Projected, container.Content{Data: anchors})}
			case s.PodCertificate != nil:
				err = errors.New("simulated nodes do not issue certificates to Pods")
			}
			if err != nil {
				return nil, err
			}
			for name, content := range some {
				all[name] = content
			}
		}
		return all, nil
	}
	return nil, nil
}

func contents(payload map[string]volumeutil.FileProjection) map[string]container.Content {
	all := map[string]container.Content{}
	for name, f := range payload {
		all[name] = container.Content{Data: f.Data, Mode: fs.FileMode(f.Mode), UID: ptr.Deref(f.FsUser, 0)}
	}
	return all
}

func modeOr(mode *int32) *int32 {
	if mode == nil {
		return ptr.To(v1.ConfigMapVolumeSourceDefaultMode)
	}
	return mode
}

func (v *volumes) configMap(name string, items []v1.KeyToPath, mode *int32, opt *bool) (map[string]container.Content, error) {
	m, err := v.pod.cluster.ConfigMaps.ConfigMaps(v.pod.Namespace).Get(name)
	if err != nil {
		if !optional(opt) || !apierrors.IsNotFound(err) {
			return nil, err
		}
		m = &v1.ConfigMap{}
	}
	payload, err := configmap.MakePayload(items, m, modeOr(mode), nil, optional(opt))
	return contents(payload), err
}

func (v *volumes) secret(name string, items []v1.KeyToPath, mode *int32, opt *bool) (map[string]container.Content, error) {
	s, err := v.pod.cluster.Secrets.Secrets(v.pod.Namespace).Get(name)
	if err != nil {
		if !optional(opt) || !apierrors.IsNotFound(err) {
			return nil, err
		}
		s = &v1.Secret{}
	}
	payload, err := secret.MakePayload(items, s, modeOr(mode), nil, optional(opt))
	return contents(payload), err
}

func (v *volumes) downward(obj *v1.Pod, items []v1.DownwardAPIVolumeFile, mode *int32) (map[string]container.Content, error) {
	payload, err := downwardapi.CollectData(items, obj, allocatable{of: v.pod.Node.Capacity}, modeOr(mode), nil)
	return contents(payload), err
}

// privateFile gives a file of a projected volume the mode that it has if it is a token or the like: it is the user's as
// whom all of the Pod's containers run, if there is one, and nobody else's then (pkg/volume/projected, collectData).
func (v *volumes) privateFile(obj *v1.Pod, vol *v1.ProjectedVolumeSource, file container.Content) container.Content {
	file.Mode = fs.FileMode(ptr.Deref(vol.DefaultMode, v1.ProjectedVolumeSourceDefaultMode))
	user := volumeutil.FsUserFrom(obj)
	if user != nil || fsGroup(obj) != nil {
		file.Mode = 0o600
	}
	file.UID = ptr.Deref(user, 0)
	return file
}

// trustAnchors are those of a ClusterTrustBundle, or of all of a signer.
func (v *volumes) trustAnchors(s *v1.ClusterTrustBundleProjection) ([]byte, error) {
	ctx, trust := v.pod.cluster.Context, v.pod.cluster.Trust
	if s.Name != nil {
		return trust.GetTrustAnchorsByName(ctx, *s.Name, optional(s.Optional))
	}
	return trust.GetTrustAnchorsBySigner(ctx, ptr.Deref(s.SignerName, ""), s.LabelSelector, optional(s.Optional))
}

// fsGroup is the group that a Pod's volumes are to be of, if any.
func fsGroup(obj *v1.Pod) *int64 {
	if obj.Spec.SecurityContext == nil {
		return nil
	}
	return obj.Spec.SecurityContext.FSGroup
}

// token returns what makes a service account token when it is read: one that is
// kept until four fifths of its life are over, as a kubelet does.
func (v *volumes) token(obj *v1.Pod, s *v1.ServiceAccountTokenProjection) func() []byte {
	p := v.pod
	var mu sync.Mutex
	var text []byte
	var renew time.Time
	return func() []byte {
		mu.Lock()
		defer mu.Unlock()
		if text != nil && p.cluster.Clock.Now().Before(renew) {
			return text
		}
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: s.ExpirationSeconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: obj.Name, UID: obj.UID},
		}}
		if s.Audience != "" {
			request.Spec.Audiences = []string{s.Audience}
		}
		got, err := p.cluster.Client.CoreV1().ServiceAccounts(p.Namespace).CreateToken(p.cluster.Context, obj.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			klog.FromContext(p.cluster.Context).Error(err, "Failed to get a service account token", "pod", klog.KObj(obj))
			return text
		}
		text = []byte(got.Status.Token)
		renew = p.cluster.Clock.Now().Add(time.Until(got.Status.ExpirationTimestamp.Time) * 4 / 5)
		return text
	}
}

// fill makes the files of all volumes. The Pod has been mounted: what can fail
// has been checked, and what has gone since shows what it showed, or nothing.
func (v *volumes) fillLocked(obj *v1.Pod) {
	if v.filled {
		return
	}
	v.filled, v.shown = true, obj
	disk := v.pod.cluster.Disk
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		if v.roots[vol.Name] != nil {
			continue
		}
		dir := disk.NewDir(0o777)
		if vol.Secret != nil || vol.DownwardAPI != nil || vol.Projected != nil { // and ConfigMaps are on the node's disk
			v.own(obj, vol.Name, &v1.EmptyDirVolumeSource{Medium: v1.StorageMediumMemory}, dir)
		}
		if files, err := v.payload(obj, vol, true); err == nil && files != nil {
			disk.Project(dir, files, fsGroup(obj))
		}
		if vol.EmptyDir != nil {
			v.own(obj, vol.Name, vol.EmptyDir, dir)
			if group := fsGroup(obj); group != nil {
				disk.Share(dir, *group, false)
			}
		}
		v.roots[vol.Name] = dir
	}
}

// refresh shows what has changed: in the Pod, and with sources in ConfigMaps and Secrets.
func (v *volumes) refresh(obj *v1.Pod, sources bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.filled || !sources && v.shows(obj) {
		return
	}
	v.shown = obj
	for i := range obj.Spec.Volumes {
		vol := &obj.Spec.Volumes[i]
		if vol.ConfigMap == nil && vol.Secret == nil && vol.DownwardAPI == nil && vol.Projected == nil {
			continue
		}
		if files, err := v.payload(obj, vol, true); err == nil {
			v.pod.cluster.Disk.Project(v.roots[vol.Name], files, fsGroup(obj))
		}
	}
}

// shows reports whether what the downward API tells of the Pod is what the volumes show.
func (v *volumes) shows(obj *v1.Pod) bool {
	return v.shown.Generation == obj.Generation && maps.Equal(v.shown.Labels, obj.Labels) && maps.Equal(v.shown.Annotations, obj.Annotations)
}

// tree is the file system of a container's next run: the image's files, fresh,
// with the Pod's volumes in it.
// subPaths say which part of its volume each of the container's mounts shows.
func (v *volumes) tree(c *v1.Container, image container.Image, subPaths []string) *container.Tree {
	v.mu.Lock()
	defer v.mu.Unlock()
	obj := v.pod.Latest() // with the addresses that the status has by now
	v.fillLocked(obj)
	disk := v.pod.cluster.Disk
	t := image.Tree(disk)
	rec := v.pod.containers[c.Name]
	if last := v.trees[rec]; last != nil {
		last.Discard()
	}
	v.layers[rec] = disk.NewQuota(v.countedLocked(rec), 0, 0, nil)
	full := v.pod.kernelName(obj)
	_ = t.WriteFile("/etc/hosts", []byte(v.pod.hostsFile(obj)), 0o644) // the tree is new and writable
	_ = t.WriteFile("/etc/hostname", []byte(full+"\n"), 0o644)
	_ = t.WriteFile("/etc/resolv.conf", []byte(resolver(obj).String()), 0o644)
	t.Own(v.layers[rec]) // what has been there until now is not the container's
	frozen := c.SecurityContext != nil && optional(c.SecurityContext.ReadOnlyRootFilesystem)
	for i, m := range c.VolumeMounts {
		root := v.roots[m.Name]
		if root == nil {
			continue
		}
		if subPaths[i] != "" {
			if root = disk.Sub(root, subPaths[i]); root == nil {
				continue
			}
		}
		readOnly := m.ReadOnly
		for _, vol := range obj.Spec.Volumes {
			if vol.Name == m.Name && (vol.ConfigMap != nil || vol.Secret != nil || vol.DownwardAPI != nil || vol.Projected != nil) {
				readOnly = true
			}
		}
		t.Mount(m.MountPath, root, readOnly)
		if frozen && !readOnly {
			t.MountWritable(root)
		}
	}
	if at := c.TerminationMessagePath; at != "" {
		file := disk.NewFile(0o666, v.layers[rec])
		t.Mount(at, file, false)
		if frozen {
			t.MountWritable(file)
		}
		v.messages[rec] = file
	}
	if frozen {
		t.Freeze()
	}
	v.trees[rec] = t
	return t
}

// subPaths returns for each of a container's mounts which part of its volume it shows, "" for all of it. It fails
// as upstream's makeMounts does: for a variable that is not there, and for what leads out of the volume.
func subPaths(c *v1.Container, env []v1.EnvVar) ([]string, error) {
	paths := make([]string, len(c.VolumeMounts))
	for i, m := range c.VolumeMounts {
		paths[i] = m.SubPath
		if m.SubPathExpr != "" {
			var err error
			if paths[i], err = kubecontainer.ExpandContainerVolumeMounts(m, variables(env)); err != nil {
				return nil, err
			}
		}
		if paths[i] == "" {
			continue
		}
		if path.IsAbs(paths[i]) {
			return nil, fmt.Errorf("error SubPath `%s` must not be an absolute path", paths[i])
		}
		if err := volumevalidation.ValidatePathNoBacksteps(paths[i]); err != nil {
			return nil, fmt.Errorf("unable to provision SubPath `%s`: %w", paths[i], err)
		}
	}
	return paths, nil
}

// readFile returns what a volume has at a path.
func (v *volumes) readFile(obj *v1.Pod, volume, at string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fillLocked(obj)
	root := v.roots[volume]
	if root == nil {
		return nil, fmt.Errorf("cannot find the volume %q referenced by FileKeyRef", volume)
	}
	file, mode := v.pod.cluster.Disk.Find(root, at)
	if file == nil || !mode.IsRegular() {
		return nil, fmt.Errorf("failed to open environment variable file %q: %w", at, fs.ErrNotExist)
	}
	return v.pod.cluster.Disk.Data(file), nil
}

// message is what a run left at its terminationMessagePath.
func (v *volumes) message(i *instance) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	file := v.messages[i.of]
	if file == nil {
		return ""
	}
	delete(v.messages, i.of)
	return string(v.pod.cluster.Disk.Data(file))
}
