package controllers

import (
	"context"
	"sync"

	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// policyStatus type-checks the expressions of ValidatingAdmissionPolicies, as
// newValidatingAdmissionPolicyStatusController in kube-controller-manager; but
// the definitions of all built-in types, 20 ms and 7 MB, are made with the
// first policy and not at the start.
func (c *Controllers) policyStatus() app.ControllerConstructor {
	return func(_ context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		discovery, err := shared.ClientBuilder.DiscoveryClient(name)
		if err != nil {
			return nil, err
		}
		client, err := shared.NewClient(name)
		if err != nil {
			return nil, err
		}
		schemas := lazySchemas(func() resolver.SchemaResolver {
			return resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensionsscheme.Scheme).
				Combine(&resolver.ClientDiscoveryResolver{Discovery: discovery})
		})
		status, err := validatingadmissionpolicystatus.NewController(
			shared.InformerFactory.Admissionregistration().V1().ValidatingAdmissionPolicies(),
			client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
			&validating.TypeChecker{SchemaResolver: schemas, RestMapper: shared.RESTMapper})
		if err != nil {
			return nil, err
		}
		workers := int(shared.ComponentConfig.ValidatingAdmissionPolicyStatusController.ConcurrentPolicySyncs)
		return loop{name, func(ctx context.Context) { status.Run(ctx, workers) }}, nil
	}
}

// lazySchemas is a resolver that is made when it is first asked.
type lazySchemasFunc func() resolver.SchemaResolver

func lazySchemas(makeResolver func() resolver.SchemaResolver) lazySchemasFunc {
	return sync.OnceValue(makeResolver)
}

// ResolveSchema returns the schema of kind, or an error that wraps
// resolver.ErrSchemaNotFound.
func (f lazySchemasFunc) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return f().ResolveSchema(kind)
}
