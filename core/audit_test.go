package core

import (
	"context"
	"slices"
	"sync"
	"testing"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
)

// auditLog is an audit.Backend that remembers.
type auditLog struct {
	mu     sync.Mutex
	events []*auditinternal.Event
}

func (l *auditLog) Run(<-chan struct{}) error { return nil }

func (l *auditLog) Shutdown() {}

func (l *auditLog) String() string { return "test" }

func (l *auditLog) ProcessEvents(events ...*auditinternal.Event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, event := range events {
		l.events = append(l.events, event.DeepCopy())
	}
	return true
}

func TestRequestsAreAudited(t *testing.T) {
	e := sharedEngine(t)
	getAs(t, e, testToken, "/api/v1/namespaces/audited")
	eventually(t, "the audit event", func(context.Context) (bool, error) {
		shared.audit.mu.Lock()
		defer shared.audit.mu.Unlock()
		return slices.ContainsFunc(shared.audit.events, func(event *auditinternal.Event) bool {
			return event.Stage == auditinternal.StageResponseComplete && event.RequestURI == "/api/v1/namespaces/audited" &&
				event.User.Username == "vera" && event.ResponseStatus.Code == 403
		}), nil
	})
}
