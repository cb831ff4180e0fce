package requestlog

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/plugin/pkg/audit/truncate"

	"github.com/kubetab/kubetab/internal/state"
	"github.com/kubetab/kubetab/internal/status"
)

// AuditPath is where Handler tells and takes the level of audit events.
const AuditPath = Prefix + "/audit"

var auditLevels = []auditinternal.Level{auditinternal.LevelMetadata, auditinternal.LevelRequest, auditinternal.LevelRequestResponse}

// auditing is what a Log needs for audit events.
type auditing struct {
	chosen   atomic.Pointer[chosenLevel] // nil until AuditPolicy is called
	truncate audit.Backend
}

type chosenLevel struct {
	level     auditinternal.Level
	evaluator audit.PolicyRuleEvaluator
}

// Audit returns an audit backend that keeps the events of each request with its record, one for each stage. What it is
// told depends on the audit policy of the server. An event whose objects are larger than Options.BodyBytes is kept
// without them, as upstream's truncating backend does. It never fails.
func (l *Log) Audit() audit.Backend {
	config := truncate.Config{MaxEventSize: int64(l.options.BodyBytes), MaxBatchSize: math.MaxInt64}
	l.auditing.truncate = truncate.NewBackend(auditBackend{log: l, measured: true}, config, auditv1.SchemeGroupVersion)
	return auditBackend{log: l}
}

// AuditPolicy returns the policy whose level PUT of AuditPath chooses, Metadata at first. Events of components have
// Metadata at any level, and none for the stage RequestReceived.
func (l *Log) AuditPolicy() audit.PolicyRuleEvaluator {
	l.chooseAudit(auditinternal.LevelMetadata)
	return auditPolicy{l}
}

type auditPolicy struct{ log *Log }

func (p auditPolicy) EvaluatePolicyRule(a authorizer.Attributes) audit.RequestAuditConfig {
	return p.log.auditing.chosen.Load().evaluator.EvaluatePolicyRule(a)
}

func (l *Log) chooseAudit(level auditinternal.Level) {
	components := auditinternal.PolicyRule{
		Level:      auditinternal.LevelMetadata,
		OmitStages: []auditinternal.Stage{auditinternal.StageRequestReceived},
	}
	byName, byGroup := components, components
	byName.Users = []string{user.APIServerUser, user.KubeControllerManager, user.KubeScheduler}
	byGroup.UserGroups = []string{user.NodesGroup, "system:serviceaccounts:kube-system"}
	rules := []auditinternal.PolicyRule{byName, byGroup, {Level: level}}
	l.auditing.chosen.Store(&chosenLevel{level, policy.NewPolicyRuleEvaluator(&auditinternal.Policy{Rules: rules})})
}

// auditBackend gives events with objects to upstream's truncating backend first, which encodes an event to know its size.
type auditBackend struct {
	log      *Log
	measured bool // no event is too large
}

func (auditBackend) Run(<-chan struct{}) error { return nil }
func (auditBackend) Shutdown()                 {}
func (auditBackend) String() string            { return "requestlog" }

func (b auditBackend) ProcessEvents(events ...*auditinternal.Event) bool {
	for _, event := range events {
		if !b.measured && hasObjects(event) {
			b.log.auditing.truncate.ProcessEvents(event)
		} else {
			b.log.keepAudit(event)
		}
	}
	return true
}

func hasObjects(event *auditinternal.Event) bool {
	return event.RequestObject != nil || event.ResponseObject != nil
}

func (l *Log) keepAudit(event *auditinternal.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.audited(event)
	if e == nil {
		return
	}
	e.audit = append(e.audit, event.DeepCopy()) // upstream goes on to write to its own
	n := 0
	for _, object := range []*runtime.Unknown{event.RequestObject, event.ResponseObject} {
		if object != nil {
			n += len(object.Raw)
		}
	}
	e.auditBytes += n
	l.hold(e, n)
	l.touch(e)
}

// audited returns the entry of the request that event is of, nil when it is not in the log. The caller holds the lock.
// A client may give several requests one audit ID: it gets the events of the newest that is under way.
func (l *Log) audited(event *auditinternal.Event) *entry {
	for i := len(l.entries) - 1; i >= 0; i-- {
		if e := l.entries[i]; e.auditing != nil && e.auditing.AuditID() == event.AuditID {
			return e
		}
	}
	return nil
}

// releaseAudit gives up the events of e with objects in them, and returns how many bytes these had.
func (e *entry) releaseAudit() int {
	n := e.auditBytes
	e.auditBytes = 0
	e.audit = slices.DeleteFunc(e.audit, hasObjects)
	return n
}

// auditYAML is events as an audit log in YAML has them, the last first.
func auditYAML(events []*auditinternal.Event) string {
	info, ok := runtime.SerializerInfoForMediaType(audit.Codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	if !ok {
		return "" // upstream's codecs always have YAML
	}
	encoder := audit.Codecs.EncoderForVersion(info.Serializer, auditv1.SchemeGroupVersion)
	texts := make([]string, 0, len(events))
	for _, event := range slices.Backward(events) {
		text, err := runtime.Encode(encoder, event)
		if err != nil {
			text = fmt.Appendf(nil, "# The event could not be written as YAML: %v\n", err)
		}
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "---\n")
}

// serveAudit tells the level of audit events, and changes it for requests that come after.
func (l *Log) serveAudit(w http.ResponseWriter, r *http.Request) {
	if l.auditing.chosen.Load() == nil {
		status.Refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the audit policy of this server cannot be changed")
		return
	}
	level := state.Handler{
		Name:   "audit",
		Method: http.MethodPut,
		State:  func() any { return AuditLevel{string(l.auditing.chosen.Load().level)} },
		Change: l.setAudit,
	}
	level.ServeHTTP(w, r)
}

func (l *Log) setAudit(body io.Reader) error {
	var want AuditLevel
	if err := state.Decode(body, &want); err != nil {
		return err
	}
	level := auditinternal.Level(want.Level)
	if !slices.Contains(auditLevels, level) {
		return fmt.Errorf("there is no level %q: choose one of %q", level, auditLevels)
	}
	l.chooseAudit(level)
	return nil
}
