package core

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestIdentities(t *testing.T) {
	e := sharedEngine(t)
	c := clientFor(t, e)
	token, err := c.CoreV1().ServiceAccounts("kube-system").CreateToken(t.Context(), "namespace-controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) {
		_, err = c.CoreV1().ServiceAccounts("kube-system").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "namespace-controller"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		token, err = c.CoreV1().ServiceAccounts("kube-system").CreateToken(t.Context(), "namespace-controller", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		token, path string
		status      int
	}{
		"anonymous may see the version":  {"", "/version", 200},
		"anonymous may not list":         {"", "/api/v1/namespaces", 403},
		"a wrong token is not anonymous": {"wrong", "/version", 401},
		"a static token without rights":  {testToken, "/api/v1/secrets", 403},
		"a static token may discover":    {testToken, "/api/v1", 200},
		"the token of a bound account":   {token.Status.Token, "/api/v1/namespaces", 200},
	} {
		t.Run(name, func(t *testing.T) {
			if res, body := getAs(t, e, tc.token, tc.path); res.StatusCode != tc.status {
				t.Errorf("GET %s: %d, want %d: %s", tc.path, res.StatusCode, tc.status, body)
			}
		})
	}
}

func TestTheDefaultUser(t *testing.T) {
	e := start(t, Config{DefaultUser: &user.DefaultInfo{Name: "page", Groups: []string{user.SystemPrivilegedGroup}}})
	if res, body := getAs(t, e, "", "/api/v1/namespaces"); res.StatusCode != 200 {
		t.Errorf("without credentials: %d %s", res.StatusCode, body)
	}
	if res, _ := getAs(t, e, "wrong", "/api/v1/namespaces"); res.StatusCode != 401 {
		t.Errorf("with a wrong token: %d, want 401", res.StatusCode)
	}
}

func TestRESTConfigSaysWhoAsks(t *testing.T) {
	e := sharedEngine(t)
	changed := e.RESTConfig()
	changed.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	withToken := e.RESTConfig()
	withToken.BearerToken = testToken
	for name, tc := range map[string]struct {
		config *rest.Config
		want   string
	}{
		"the engine's own":        {e.RESTConfig(), user.APIServerUser},
		"a changed copy":          {changed, "nobody"},
		"one with a token":        {withToken, "vera"},
		"one for a user":          {e.RESTConfigFor(&user.DefaultInfo{Name: "eddy", Groups: []string{user.AllAuthenticated}}), "eddy"},
		"one for an impersonator": {func() *rest.Config { c := e.RESTConfigFor(apiServer); c.Impersonate.UserName = "nobody"; return c }(), "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := kubernetes.NewForConfig(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			review, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := review.Status.UserInfo.Username; got != tc.want {
				t.Errorf("the server sees %q, want %q", got, tc.want)
			}
		})
	}
}
