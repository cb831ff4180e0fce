package network

import (
	"io"
	"net/http"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// web are the sites outside of the cluster that Pods of Kubernetes' documentation ask for, by their names. There are no
// others: a tab has no network.
var web = map[string]website{
	// Of the page on init containers.
	"info.cern.ch": {"188.184.67.127", "<html>\n<head><title>http://info.cern.ch</title></head>\n<body><h1>http://info.cern.ch - home of the first website</h1></body>\n</html>\n"},
}

// website is a site of one page.
type website struct{ address, page string }

// listens returns what listens at an address of the web.
func listens(address string, port container.Port) (container.Listener, bool) {
	for _, site := range web {
		if site.address == address && port.Number == 80 && !port.UDP {
			return container.Listener{HTTP: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = io.WriteString(w, site.page)
			})}, true
		}
	}
	return container.Listener{}, false
}
