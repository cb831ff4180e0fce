package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/kubernetes/pkg/util/parsers"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/internal/node/container"
)

const (
	backOffMin = 10 * time.Second
	backOffMax = 5 * time.Minute
)

// NewBackOff returns a back-off for Cluster.Restarts or Cluster.Pulls, as long as a
// kubelet's.
func NewBackOff(c *clock.Clock) *flowcontrol.Backoff {
	b := flowcontrol.NewBackOff(backOffMin, backOffMax)
	b.Clock = c
	return b
}

// showFailure is how long a container says ErrImagePull before it says
// ImagePullBackOff. A real kubelet takes until its next sync.
const showFailure = 2 * time.Second

// askRegistry is how long it takes to learn that an image has not changed.
const askRegistry = 100 * time.Millisecond

// pull brings a container's image to the node. It reports whether it is there.
// Reasons, messages and back-off are those of upstream's image manager.
func (r *record) pull(obj *v1.Pod, now time.Time) bool {
	p, name := r.pod, r.spec.Image
	warn := func(reason, message string) { p.event(obj, r.spec, v1.EventTypeWarning, reason, message) }
	if _, _, _, err := parsers.ParseImageName(name); err != nil {
		message := fmt.Sprintf("Failed to apply default image tag %q: %v", name, err)
		if r.waiting == nil || r.waiting.Reason != "InvalidImageName" {
			warn(events.FailedToInspectImage, message)
			warn(events.FailedToCreateContainer, "Error: InvalidImageName")
		}
		r.wait("InvalidImageName", message, time.Time{})
		return false
	}
	key := string(p.UID) + "_" + name
	if r.pulls() {
		if now.Before(r.pullUntil) {
			p.at(r.pullUntil)
			return false
		}
		return r.pulled(obj, now, key)
	}

	present := p.Node.Kubelet.HasImage(name)
	if present && r.spec.ImagePullPolicy != v1.PullAlways {
		image, err := container.Resolve(name)
		if err == nil {
			p.event(obj, r.spec, v1.EventTypeNormal, events.PulledImage, fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", name))
			r.image = image
			return true
		}
	}
	if r.spec.ImagePullPolicy == v1.PullNever {
		message := fmt.Sprintf("Container image %q is not present with pull policy of Never", name)
		if r.waiting == nil || r.waiting.Reason != events.ErrImageNeverPullPolicy {
			warn(events.ErrImageNeverPullPolicy, message)
			warn(events.FailedToCreateContainer, "Error: ErrImageNeverPull")
		}
		r.wait(events.ErrImageNeverPullPolicy, message, now.Add(backOffMin))
		return false
	}
	if p.cluster.Pulls.IsInBackOffSinceUpdate(key, now) {
		message := fmt.Sprintf("Back-off pulling image %q", name)
		p.event(obj, r.spec, v1.EventTypeNormal, events.BackOffPullImage, message)
		warn(events.FailedToCreateContainer, "Error: ImagePullBackOff")
		if r.pullError != "" {
			message += ": ErrImagePull: " + r.pullError
		}
		r.wait("ImagePullBackOff", message, r.failedAt.Add(p.cluster.Pulls.Get(key)))
		return false
	}
	r.pullSecrets(obj)
	p.event(obj, r.spec, v1.EventTypeNormal, events.PullingImage, fmt.Sprintf("Pulling image %q", name))
	r.pulling = now
	took := pullTime(obj, r.spec.Name, name)
	if present {
		took = min(took, askRegistry) // its layers are there
	}
	r.pullUntil = now.Add(took)
	p.at(r.pullUntil)
	return false
}

// pulls reports whether the container's image is being pulled.
func (r *record) pulls() bool { return !r.pullUntil.IsZero() }

// pullSecrets tells of imagePullSecrets that are not there, as upstream's
// getPullSecretsForPod does: the pull is tried all the same.
func (r *record) pullSecrets(obj *v1.Pod) {
	var missing []string
	for _, ref := range obj.Spec.ImagePullSecrets {
		if _, err := r.pod.cluster.Secrets.Secrets(obj.Namespace).Get(ref.Name); err != nil && ref.Name != "" {
			missing = append(missing, ref.Name)
		}
	}
	if len(missing) > 0 {
		r.pod.event(obj, nil, v1.EventTypeWarning, "FailedToRetrieveImagePullSecret",
			fmt.Sprintf("Unable to retrieve some image pull secrets (%s); attempting to pull the image may not succeed.", strings.Join(missing, ", ")))
	}
}

// pulled is how a pull ends.
func (r *record) pulled(obj *v1.Pod, now time.Time, key string) bool {
	p, name := r.pod, r.spec.Image
	took := r.pullUntil.Sub(r.pulling)
	r.pulling, r.pullUntil = time.Time{}, time.Time{}
	image, err := container.Resolve(name)
	if Annotation(obj, AnnotationImagePull, r.spec.Name) == "fail" {
		err = container.PullError{Message: fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: unexpected status: 500 Internal Server Error", name, name)}
	}
	if err != nil {
		r.pullError, r.failedAt = err.Error(), now
		p.event(obj, r.spec, v1.EventTypeWarning, events.FailedToPullImage, fmt.Sprintf("Failed to pull image %q: %v", name, err))
		p.event(obj, r.spec, v1.EventTypeWarning, events.FailedToCreateContainer, "Error: ErrImagePull")
		p.cluster.Pulls.Next(key, now)
		r.wait("ErrImagePull", err.Error(), now.Add(showFailure))
		return false
	}
	p.event(obj, r.spec, v1.EventTypeNormal, events.PulledImage, fmt.Sprintf("Successfully pulled image %q in %v (%v including waiting). Image size: %v bytes.",
		name, took.Truncate(time.Millisecond), took.Truncate(time.Millisecond), image.Size))
	p.Node.Kubelet.KeepImage(name)
	r.image = image
	return true
}

// pullTime is how long a pull takes: what the Pod asks for, or what the image
// takes. An image that cannot exist is known not to after a round trip.
func pullTime(obj *v1.Pod, c, name string) time.Duration {
	if d, err := time.ParseDuration(Annotation(obj, AnnotationImagePull, c)); err == nil && d >= 0 {
		return d
	}
	image, err := container.Resolve(name)
	if err != nil {
		return 300 * time.Millisecond
	}
	return image.PullTime()
}

// runAsRoot refuses a container that must not run as root and would.
func runAsRoot(obj *v1.Pod, c *v1.Container, image container.Image) error {
	nonRoot := obj.Spec.SecurityContext != nil && obj.Spec.SecurityContext.RunAsNonRoot != nil && *obj.Spec.SecurityContext.RunAsNonRoot
	if c.SecurityContext != nil && c.SecurityContext.RunAsNonRoot != nil {
		nonRoot = *c.SecurityContext.RunAsNonRoot
	}
	if !nonRoot {
		return nil
	}
	full := fmt.Sprintf("%s_%s(%s)", obj.Name, obj.Namespace, obj.UID)
	if given, ok := runAsUser(obj, c); ok {
		if given == 0 {
			return fmt.Errorf("container's runAsUser breaks non-root policy (pod: %q, container: %s)", full, c.Name)
		}
		return nil
	}
	if image.Root() {
		return fmt.Errorf("container has runAsNonRoot and image will run as root (pod: %q, container: %s)", full, c.Name)
	}
	return nil
}

func runAsUser(obj *v1.Pod, c *v1.Container) (int64, bool) {
	switch {
	case c.SecurityContext != nil && c.SecurityContext.RunAsUser != nil:
		return *c.SecurityContext.RunAsUser, true
	case obj.Spec.SecurityContext != nil && obj.Spec.SecurityContext.RunAsUser != nil:
		return *obj.Spec.SecurityContext.RunAsUser, true
	}
	return 0, false
}

// userOf is as whom a container runs.
func userOf(obj *v1.Pod, c *v1.Container, image container.Image) container.User {
	uid, _ := runAsUser(obj, c)
	u := container.User{UID: uid}
	var inImage []int64
	u.GID, inImage = image.Groups(uid)
	if pod := obj.Spec.SecurityContext; pod != nil {
		u.GID = ptr.Deref(pod.RunAsGroup, u.GID)
		if ptr.Deref(pod.SupplementalGroupsPolicy, v1.SupplementalGroupsPolicyMerge) != v1.SupplementalGroupsPolicyMerge {
			inImage = nil
		}
		u.Groups = slices.Clone(pod.SupplementalGroups)
		if pod.FSGroup != nil {
			u.Groups = append(u.Groups, *pod.FSGroup)
		}
	}
	u.Groups = append(u.Groups, inImage...)
	if own := c.SecurityContext; own != nil {
		u.GID = ptr.Deref(own.RunAsGroup, u.GID)
	}
	return u
}

// capabilitiesOf is what a container's processes may do.
func capabilitiesOf(c *v1.Container) uint64 {
	own := c.SecurityContext
	if own == nil {
		return container.Capabilities(false, nil, nil)
	}
	var add, drop []string
	if own.Capabilities != nil {
		for _, name := range own.Capabilities.Add {
			add = append(add, string(name))
		}
		for _, name := range own.Capabilities.Drop {
			drop = append(drop, string(name))
		}
	}
	return container.Capabilities(optional(own.Privileged), add, drop)
}
