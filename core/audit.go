package core

import (
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// applyAudit sends audit events to the caller's sink and to the log of requests,
// as far as the caller's policy says; without a policy, the metadata of every
// request, or for the log alone what its reader chooses. Without both there is no
// audit, as in kube-apiserver.
func applyAudit(g *genericapiserver.Config, cfg Config) {
	var backends []audit.Backend
	if cfg.Audit.Sink != nil {
		backends = append(backends, cfg.Audit.Sink)
	}
	if cfg.Requests != nil {
		backends = append(backends, cfg.Requests.Audit())
	}
	if len(backends) == 0 {
		return
	}
	g.AuditBackend = audit.Union(backends...)
	p := cfg.Audit.Policy
	if p == nil && cfg.Audit.Sink == nil {
		g.AuditPolicyRuleEvaluator = cfg.Requests.AuditPolicy()
		return
	}
	if p == nil {
		p = &auditinternal.Policy{Rules: []auditinternal.PolicyRule{{Level: auditinternal.LevelMetadata}}}
	}
	g.AuditPolicyRuleEvaluator = policy.NewPolicyRuleEvaluator(p)
}
