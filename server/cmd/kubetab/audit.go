package main

import (
	"fmt"
	"io"
	"os"

	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	auditlog "k8s.io/apiserver/plugin/pkg/audit/log"
)

// openAudit returns upstream's log backend writing JSON lines to the file path (nil without one) and the policy in
// policyFile (nil without one, for the engine's default). The file is readable by its owner alone: events hold request
// bodies when the policy says so. The caller closes what is returned last, after the engine.
func openAudit(path, policyFile string) (audit.Backend, *auditinternal.Policy, io.Closer, error) {
	if path == "" {
		return nil, nil, io.NopCloser(nil), nil
	}
	var rules *auditinternal.Policy
	if policyFile != "" {
		var err error
		if rules, err = policy.LoadPolicyFromFile(policyFile); err != nil {
			return nil, nil, nil, fmt.Errorf("--audit-policy: %w", err)
		}
	}
	out := os.Stdout
	if path != "-" {
		var err error
		if out, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return nil, nil, nil, fmt.Errorf("--audit-log: %w", err)
		}
	}
	return auditlog.NewBackend(out, auditlog.FormatJson, auditv1.SchemeGroupVersion), rules, out, nil
}
