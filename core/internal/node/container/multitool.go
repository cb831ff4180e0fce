package container

import (
	"fmt"
	"strconv"
)

// multitoolImage is the Network MultiTool: tools, and an nginx with a page that says which container it is.
var multitoolImage = known{Image: Image{Size: 24 << 20, kind: "multitool", release: "1.24.0", Ports: []int{80, 443}, Entry: []string{"/docker/entrypoint.sh"}, Argv: []string{"/usr/sbin/nginx", "-g", "daemon off;"}, Bash: true}}

// multitool is its server. The one for TLS shows no certificate, as if its client would take any.
func (c *Container) multitool(env []string) *Server {
	plain, secure := portIn(env, "HTTP_PORT", 80), portIn(env, "HTTPS_PORT", 443)
	text := fmt.Sprintf("WBITT Network MultiTool (with NGINX) - $hostname - $server_addr - HTTP: %d , HTTPS: %d . (Formerly praqma/network-multitool)\n", plain, secure)
	site := &nginxPort{servers: []*nginxBlock{{nginx: c.newNginx(nil), block: []directive{
		{name: "default_type", args: []string{"text/html"}}, {name: "return", args: []string{"200", text}},
	}}}}
	return &Server{Ports: map[int]Listener{plain: {HTTP: site}, secure: {HTTP: site, Any: true}}}
}

// portIn is the port that a variable says, or another one.
func portIn(env []string, name string, otherwise int) int {
	if port, err := strconv.Atoi(lookupEnv(env, name)); err == nil {
		return port
	}
	return otherwise
}
