package core

import (
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// applyAudit sends audit events to the caller's sink, as far as its policy
// says; without a policy, the metadata of every request. Without a sink there
// is no audit, as in kube-apiserver.
func applyAudit(g *genericapiserver.Config, cfg Config) {
	if cfg.AuditSink == nil {
		return
	}
	p := cfg.AuditPolicy
	if p == nil {
		p = &auditinternal.Policy{Rules: []auditinternal.PolicyRule{{Level: auditinternal.LevelMetadata}}}
	}
	g.AuditBackend = cfg.AuditSink
	g.AuditPolicyRuleEvaluator = policy.NewPolicyRuleEvaluator(p)
}
