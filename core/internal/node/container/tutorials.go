package container

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// What images of Kubernetes' tutorials have in them.

const guestbookPage = `<html ng-app="redis">
  <head>
    <title>Guestbook</title>
  </head>
  <body ng-controller="RedisCtrl">
    <div style="width: 50%; margin-left: 20px">
      <h2>Guestbook</h2>
    </div>
  </body>
</html>
`

// bootcampSource is what `cat server.js` shows in the tutorial of the basics.
const bootcampSource = `var http = require('http');
var requests=0;
var podname= process.env.HOSTNAME;
var startTime;
var host;
var handleRequest = function(request, response) {
  response.setHeader('Content-Type', 'text/plain');
  response.writeHead(200);
  response.write("Hello Kubernetes bootcamp! | Running on: ");
  response.write(host);
  response.end(" | v=1\n");
  console.log("Running On:" ,host, "| Total Requests:", ++requests,"| App Uptime:", (new Date() - startTime)/1000 , "seconds", "| Log Time:",new Date());
}
var www = http.createServer(handleRequest);
www.listen(8080,function () {
    startTime = new Date();;
    host = process.env.HOSTNAME;
    console.log ("Kubernetes Bootcamp App Started At:",startTime, "| Running On: " ,host, "\n" );
});
`

// bootcampImage is known by two names: the tutorial updates one to the other.
var bootcampImage = known{Image: Image{Size: 80 << 20, kind: "bootcamp", Ports: []int{8080}, Argv: []string{"node", "server.js"}, Bash: true,
	files: map[string]string{"/server.js": bootcampSource}}, tags: regexp.MustCompile(`^(latest|v[12])$`)}

// bootcamp is the program of that tutorial.
func (c *Container) bootcamp(ports []int) *Server {
	const layout = "2006-01-02T15:04:05.000Z"
	version := "1"
	if c.cfg.Image.tag() == "v2" {
		version = "2"
	}
	var requests atomic.Int64
	started := c.cfg.Clock.Now()
	return &Server{
		Lines: []string{fmt.Sprintf("Kubernetes Bootcamp App Started At: %s | Running On:  %s ", c.stamp(layout), c.cfg.Hostname), ""},
		Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "Hello Kubernetes bootcamp! | Running on: "+c.cfg.Hostname+" | v="+version+"\n")
			fmt.Fprintf(c.Log.Writer(Stdout), "Running On: %s | Total Requests: %d | App Uptime: %.3f seconds | Log Time: %s\n", c.cfg.Hostname, requests.Add(1), c.cfg.Clock.Since(started).Seconds(), c.stamp(layout))
		}), ports...),
	}
}

// echoed answers with what was asked, as the image echoserver does: 1.4 in other words than those after it.
func (c *Container) echoed() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := coreutils.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		text := string(body)
		if text == "" {
			text = "-no body in request-"
		}
		headers := map[string]string{"host": r.Host}
		for name, values := range r.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
		client, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			client = r.RemoteAddr
		}
		address := "http://" + r.Host + ":8080" + r.URL.RequestURI()
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			address = "http://" + host + ":8080" + r.URL.RequestURI()
		}
		list := func(indent string) {
			for _, name := range slices.Sorted(maps.Keys(headers)) {
				fmt.Fprintf(w, "%s%s=%s\n", indent, name, headers[name])
			}
		}
		w.Header().Set("Content-Type", "text/plain")
		if c.cfg.Image.tag() == "1.4" {
			query := r.URL.RawQuery
			if query == "" {
				query = "nil"
			}
			fmt.Fprintf(w, "CLIENT VALUES:\nclient_address=%s\ncommand=%s\nreal path=%s\nquery=%s\nrequest_version=1.1\nrequest_uri=%s\n\n", client, r.Method, r.URL.RequestURI(), query, address)
			fmt.Fprint(w, "SERVER VALUES:\nserver_version=nginx: 1.10.0 - lua: 10001\n\nHEADERS RECEIVED:\n")
			list("")
			fmt.Fprint(w, "BODY:\n"+text)
			return
		}
		fmt.Fprintf(w, "\n\nHostname: %s\n\nPod Information:\n\t-no pod information available-\n\nServer values:\n\tserver_version=nginx: 1.13.3 - lua: 10008\n\n", c.cfg.Hostname)
		fmt.Fprintf(w, "Request Information:\n\tclient_address=%s\n\tmethod=%s\n\treal path=%s\n\tquery=%s\n\trequest_version=1.1\n\trequest_scheme=http\n\trequest_uri=%s\n\nRequest Headers:\n",
			client, r.Method, r.URL.RequestURI(), r.URL.RawQuery, address)
		list("\t")
		fmt.Fprintf(w, "\nRequest Body:\n\t%s\n\n", text)
	})
}
