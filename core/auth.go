package core

import (
	"fmt"
	"maps"
	"net/http"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	tokencache "k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	authorizerunion "k8s.io/apiserver/pkg/authorization/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	"k8s.io/kubernetes/pkg/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"

	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/internal/goroutine"
)

// tokenCacheTTL is how long a token that was good stays good, as in
// kube-apiserver's BuiltInAuthenticationOptions.
const tokenCacheTTL = 10 * time.Second

// newAuthenticator puts together what kubeapiserver/authenticator.Config.New
// would, from values instead of files and without what needs a network (OIDC,
// webhooks): first clients in this process, then client certificates, static
// and service account tokens, and last the default user or anonymous. A token that is wrong is refused and never
// falls through to the default. own is for client certificates where clientCA is nil.
func newAuthenticator(cfg Config, sa *serviceAccountTokens, clientCA dynamiccertificates.CAContentProvider, own *clientAuthority, client clientset.Interface, inf informers.SharedInformerFactory) (authenticator.Request, error) {
	audiences := authenticator.Audiences{sa.issuer}

	static := map[string]*user.DefaultInfo{}
	for token, u := range cfg.Tokens {
		static[token] = &user.DefaultInfo{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
	}
	getter := serviceaccountcontroller.NewGetterFromClient(client,
		inf.Core().V1().Secrets().Lister(),
		inf.Core().V1().ServiceAccounts().Lister(),
		inf.Core().V1().Pods().Lister(),
		inf.Core().V1().Nodes().Lister(),
		inf.Admissionregistration().V1().ValidatingWebhookConfigurations().Lister(),
		inf.Admissionregistration().V1().MutatingWebhookConfigurations().Lister(),
	)
	legacy, err := serviceaccount.NewLegacyValidator(true, getter, client.CoreV1())
	if err != nil {
		return nil, fmt.Errorf("legacy service account tokens: %w", err)
	}
	token := tokencache.New(tokenunion.New(
		authenticator.WrapAudienceAgnosticToken(audiences, tokenfile.New(static)),
		serviceaccount.JWTTokenAuthenticator([]string{serviceaccount.LegacyIssuer}, sa, audiences, legacy),
		serviceaccount.JWTTokenAuthenticator([]string{sa.issuer}, sa, audiences, serviceaccount.NewValidator(getter)),
	), true, tokenCacheTTL, 0)

	requests := []authenticator.Request{authenticator.WrapAudienceAgnosticRequest(audiences, authenticator.RequestFunc(authenticateInProcess))}
	verify := own.verifyOptions
	if clientCA != nil {
		verify = clientCA.VerifyOptions
	}
	certificates := x509.NewDynamic(verify, x509.CommonNameUserConversion)
	presented := authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
			return nil, false, nil // without a call, of which a page's first request would need the code
		}
		return certificates.AuthenticateRequest(r)
	})
	requests = append(requests, presented, bearertoken.New(token), websocket.NewProtocolAuthenticator(token))

	known := group.NewAuthenticatedGroupAdder(union.New(requests...))
	unknown := anonymous.NewAuthenticator(nil)
	if cfg.DefaultUser != nil {
		nobody := unknown
		unknown = group.NewAuthenticatedGroupAdder(authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
			if people.IsWithoutDefault(r.Context()) {
				return nobody.AuthenticateRequest(r)
			}
			auds, _ := authenticator.AudiencesFrom(r.Context())
			return &authenticator.Response{User: cfg.DefaultUser, Audiences: auds}, true, nil
		}))
	}
	either := union.NewFailOnError(known, unknown)
	return authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
		goroutine.Room() // upstream's filter for timeouts has begun one, and most of the work comes after this
		return either.AuthenticateRequest(r)
	}), nil
}

// authenticateInProcess knows the requests of clients in this process. One that
// brings a token of its own means that token.
func authenticateInProcess(r *http.Request) (*authenticator.Response, bool, error) {
	u, ok := r.Context().Value(identityKey{}).(user.Info)
	if !ok || r.Header.Get("Authorization") != "" {
		return nil, false, nil
	}
	return &authenticator.Response{User: u}, true, nil
}

// newAuthorizer is RBAC, with system:masters above it, in the order in which
// kubeapiserver/authorizer puts them.
func newAuthorizer(inf informers.SharedInformerFactory) (authorizer.Authorizer, authorizer.RuleResolver, error) {
	r := rbac.New(
		&rbac.RoleGetter{Lister: inf.Rbac().V1().Roles().Lister()},
		&rbac.RoleBindingLister{Lister: inf.Rbac().V1().RoleBindings().Lister()},
		&rbac.ClusterRoleGetter{Lister: inf.Rbac().V1().ClusterRoles().Lister()},
		&rbac.ClusterRoleBindingLister{Lister: inf.Rbac().V1().ClusterRoleBindings().Lister()},
	)
	chain, err := authorizerunion.New(
		authorizerunion.NamedAuthorizer{AuthorizerName: "kubernetes.io/system-privileged-group", Authorizer: authorizerfactory.NewPrivilegedGroups(user.SystemPrivilegedGroup)},
		authorizerunion.NamedAuthorizer{AuthorizerName: "rbac", Authorizer: r},
	)
	if err != nil {
		return nil, nil, fmt.Errorf("authorizers: %w", err)
	}
	return chain, r, nil
}

// Admit adds [people.All] with their tokens, by name, to those the engine knows, and
// gives them their roles when it starts.
func (c *Config) Admit(tokens map[string]string) {
	c.Tokens = maps.Clone(c.Tokens)
	if c.Tokens == nil {
		c.Tokens = map[string]user.Info{}
	}
	for _, p := range people.All {
		c.Tokens[tokens[p.Name]] = p.User()
		if p.ClusterRole != "" {
			c.ClusterRoleBindings = append(c.ClusterRoleBindings, rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: p.Name},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: p.Name}},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: p.ClusterRole},
			})
		}
	}
}
