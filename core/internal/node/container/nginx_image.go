package container

import "strings"

// What the images of nginx hold.

const (
	nginxHead  = "<!DOCTYPE html>\n<html>\n<head>\n"
	nginxStyle = `<style>
html { color-scheme: light dark; }
body { width: 35em; margin: 0 auto;
font-family: Tahoma, Verdana, Arial, sans-serif; }
</style>
</head>
<body>
`
	nginxWelcome = nginxHead + "<title>Welcome to nginx!</title>\n" + nginxStyle + `<h1>Welcome to nginx!</h1>
<p>If you see this page, the nginx web server is successfully installed and
working. Further configuration is required.</p>

<p>For online documentation and support please refer to
<a href="http://nginx.org/">nginx.org</a>.<br/>
Commercial support is available at
<a href="http://nginx.com/">nginx.com</a>.</p>

<p><em>Thank you for using nginx.</em></p>
</body>
</html>
`
	nginxConf = `
user  nginx;
worker_processes  auto;

error_log  /var/log/nginx/error.log notice;
pid        /run/nginx.pid;


events {
    worker_connections  1024;
}


http {
    include       /etc/nginx/mime.types;
    default_type  application/octet-stream;

    log_format  main  '$remote_addr - $remote_user [$time_local] "$request" '
                      '$status $body_bytes_sent "$http_referer" '
                      '"$http_user_agent" "$http_x_forwarded_for"';

    access_log  /var/log/nginx/access.log  main;

    sendfile        on;
    #tcp_nopush     on;

    keepalive_timeout  65;

    #gzip  on;

    include /etc/nginx/conf.d/*.conf;
}
`
	nginxDefault = `server {
    listen       80;
    server_name  localhost;

    #access_log  /var/log/nginx/host.access.log  main;

    location / {
        root   /usr/share/nginx/html;
        index  index.html index.htm;
    }

    #error_page  404              /404.html;

    # redirect server error pages to the static page /50x.html
    #
    error_page   500 502 503 504  /50x.html;
    location = /50x.html {
        root   /usr/share/nginx/html;
    }
}
`
	nginxError = nginxHead + "<title>Error</title>\n" + nginxStyle + `<h1>An error occurred.</h1>
<p>Sorry, the page you are looking for is currently unavailable.<br/>
Please try again later.</p>
<p>If you are the system administrator of this resource then you should check
the error log for details.</p>
<p><em>Faithfully yours, nginx.</em></p>
</body>
</html>
`
)

var (
	nginxFiles = map[string]string{"/usr/share/nginx/html/index.html": nginxWelcome, "/usr/share/nginx/html/50x.html": nginxError, nginxFile: nginxConf, nginxPages: nginxDefault}
	// What it takes to run as anybody: no user, another port, and what it writes in /tmp.
	unprivilegedFiles = map[string]string{"/usr/share/nginx/html/index.html": nginxWelcome, "/usr/share/nginx/html/50x.html": nginxError,
		nginxFile: strings.NewReplacer("user  nginx;\n", "", nginxPID, "/tmp/nginx.pid", "http {\n",
			"http {\n    proxy_temp_path /tmp/proxy_temp;\n    client_body_temp_path /tmp/client_temp;\n    fastcgi_temp_path /tmp/fastcgi_temp;\n    uwsgi_temp_path /tmp/uwsgi_temp;\n    scgi_temp_path /tmp/scgi_temp;\n\n").Replace(nginxConf),
		nginxPages: strings.Replace(nginxDefault, "80;", "8080;", 1)}
)

// nginxFolders makes what nginx writes to: its logs go to what the container prints.
func (i Image) nginxFolders(t *Tree) {
	// Into a new tree that is writable: none of this can fail.
	_ = t.MkdirAll("/var/log/nginx", 0o755)
	_ = t.Symlink("/dev/stdout", "/var/log/nginx/access.log")
	_ = t.Symlink("/dev/stderr", "/var/log/nginx/error.log")
	_ = t.MkdirAll(nginxCache, 0o755)
	if i.Root() {
		return
	}
	for _, at := range []string{nginxCache, "/etc/nginx", "/etc/nginx/conf.d", nginxFile, nginxPages} {
		_ = t.Chown(at, 101, 0)
	}
}
