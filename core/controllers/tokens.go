package controllers

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/serviceaccount"
)

// loop is an app.Controller: upstream's own is not exported.
type loop struct {
	name string
	run  func(context.Context)
}

func (l loop) Name() string            { return l.name }
func (l loop) Run(ctx context.Context) { l.run(ctx) }

// serviceAccountTokens fills Secrets of the type
// kubernetes.io/service-account-token, as newServiceAccountTokenController in
// kube-controller-manager, which reads the key and the root CA from files.
func (c *Controllers) serviceAccountTokens() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		if c.ServiceAccountKey == nil {
			return nil, nil
		}
		generator, err := serviceaccount.JWTTokenGenerator(serviceaccount.LegacyIssuer, c.ServiceAccountKey)
		if err != nil {
			return nil, fmt.Errorf("service account key: %w", err)
		}
		// It uses no identity of its own: in other clusters, too, this
		// controller acts as kube-controller-manager itself.
		tokens, err := serviceaccountcontroller.NewTokensController(klog.FromContext(ctx),
			shared.InformerFactory.Core().V1().ServiceAccounts(),
			shared.InformerFactory.Core().V1().Secrets(),
			c.root, serviceaccountcontroller.TokensControllerOptions{TokenGenerator: generator, RootCA: c.RootCA})
		if err != nil {
			return nil, err
		}
		workers := int(shared.ComponentConfig.SAController.ConcurrentSATokenSyncs)
		return loop{name, func(ctx context.Context) { tokens.Run(ctx, workers) }}, nil
	}
}
