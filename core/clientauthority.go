package core

import (
	"crypto/x509"
	"sync"
	"sync/atomic"

	x509request "k8s.io/apiserver/pkg/authentication/request/x509"

	"github.com/kubetab/kubetab/core/controllers"
)

// clientAuthority verifies the client certificates that the cluster's own authority signs. It is the one of the present identity.
type clientAuthority struct {
	options atomic.Pointer[func() x509.VerifyOptions]
}

// renew makes ca the authority; nil is for an engine that has none. What it takes is made for the first certificate.
func (a *clientAuthority) renew(ca *controllers.Authority) {
	if ca == nil {
		return
	}
	options := sync.OnceValue(func() x509.VerifyOptions {
		options := x509request.DefaultVerifyOptions()
		options.Roots = x509.NewCertPool()
		options.Roots.AddCert(ca.Certificate)
		return options
	})
	a.options.Store(&options)
}

// verifyOptions is an x509request.VerifyOptionFunc.
func (a *clientAuthority) verifyOptions() (x509.VerifyOptions, bool) {
	options := a.options.Load()
	if options == nil {
		return x509.VerifyOptions{}, false
	}
	return (*options)(), true
}
