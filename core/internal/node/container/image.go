package container

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/distribution/reference"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Image says what a container of an image is made of.
type Image struct {
	Name    string   // as it was asked for, with a tag
	ID      string   // repository@digest, as container runtimes report it
	Size    int64    // bytes
	Argv    []string // entrypoint and command
	Entry   []string // the entrypoint alone, which args are appended to
	Env     []string
	Dir     string
	Bare    bool // has no shell and no tools
	Bash    bool
	Ports   []int  // that its server listens on
	kind    string // which server it holds; empty: none, or an unknown one
	release string // of that server, where the tag is not its version
	unknown bool   // nothing is known of it but its name
	files   map[string]string
}

// PullError is why an image cannot be pulled, in a container runtime's words.
type PullError struct{ Message string }

func (e PullError) Error() string { return e.Message }

func (i Image) hasShell(name string) bool {
	switch {
	case i.Bare:
		return false
	case name == "bash":
		return i.Bash || i.unknown
	}
	return shells[name]
}

// userland is whose programs the image has: those beside Debian's sh are GNU's.
func (i Image) userland() coreutils.Userland {
	if i.dialect("sh") == bash.Ash {
		return coreutils.Busybox
	}
	return coreutils.GNU
}

// dialect is what the image's shell of a name prints like: sh is Debian's dash in images that have bash, and busybox's in
// others.
func (i Image) dialect(name string) bash.Dialect {
	switch {
	case name == "bash":
		return bash.Bash
	case i.unknown, !i.Bash, strings.Contains(i.Name, "alpine"), strings.Contains(i.Name, "/bash:"): // which is made from alpine
		return bash.Ash
	}
	return bash.Dash
}

// PullTime is how long pulling the image takes: longer for larger ones, always
// the same for the same image, and never so long that one waits for it.
func (i Image) PullTime() time.Duration {
	return 150*time.Millisecond + time.Duration(i.Size/(1<<20))*3*time.Millisecond + time.Duration(hashOf(i.Name)%97)*time.Millisecond
}

func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// known is what is known of one repository.
type known struct {
	Image
	tags   *regexp.Regexp // tags that exist; nil: any that look like one
	newest string         // version of which there are tags, those of the next years as well; empty: no version is too new
}

const shellEntry = "/bin/sh"

// coreDNSImage has several names.
var coreDNSImage = known{Image: Image{Size: 18 << 20, kind: "coredns", Entry: []string{"/coredns"}, Argv: []string{"/coredns"}, Bare: true}}

// knownImages by familiar name, with a tag where an image is not like others of its repository.
var knownImages = map[string]known{
	"nginx": {Image: Image{Size: 72 << 20, Bash: true, kind: "nginx", Ports: []int{80}, Entry: []string{"/docker-entrypoint.sh"}, Argv: []string{"nginx", "-g", "daemon off;"},
		Env: []string{"NGINX_VERSION=1.29.4"}, files: nginxFiles}, tags: versionTag, newest: "1.33"},
	"bprashanth/nginxhttps": {Image: Image{Size: 72 << 20, Bash: true, kind: "nginx", Ports: []int{80}, Argv: []string{"nginx", "-g", "daemon off;"}, files: map[string]string{"/usr/share/nginx/html/index.html": nginxWelcome}}},
	"httpd": {Image: Image{Size: 58 << 20, Bash: true, kind: "httpd", Ports: []int{80}, Argv: []string{"httpd-foreground"}, Dir: "/usr/local/apache2",
		files: map[string]string{"/usr/local/apache2/htdocs/index.html": "<html><body><h1>It works!</h1></body></html>\n"}}, tags: versionTag, newest: "2.4"},
	"redis":       {Image: Image{Size: 52 << 20, kind: "redis", Ports: []int{6379}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"redis-server"}, Dir: "/data", Bash: true}, tags: versionTag, newest: "9"},
	"memcached":   {Image: Image{Size: 30 << 20, kind: "tcp", Ports: []int{11211}, Argv: []string{"memcached"}}, tags: versionTag, newest: "1.8"},
	"postgres":    {Image: Image{Size: 160 << 20, kind: "postgres", Ports: []int{5432}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"postgres"}, Bash: true}, tags: versionTag, newest: "20"},
	"mysql":       {Image: Image{Size: 230 << 20, kind: "mysql", Ports: []int{3306}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"mysqld"}, Bash: true}, tags: versionTag, newest: "10"},
	"mariadb":     {Image: Image{Size: 120 << 20, kind: "mysql", Ports: []int{3306}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"mariadbd"}, Bash: true}, tags: versionTag, newest: "13"},
	"mongo":       {Image: Image{Size: 260 << 20, kind: "tcp", Ports: []int{27017}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"mongod"}, Bash: true}, tags: versionTag, newest: "9"},
	"cassandra":   {Image: Image{Size: 150 << 20, kind: "cassandra", Ports: []int{cassandraGossip, cassandraJMX, cassandraCQL}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"cassandra", "-f"}, Bash: true}, tags: versionTag, newest: "6"},
	"rabbitmq":    {Image: Image{Size: 100 << 20, kind: "tcp", Ports: []int{5672, 15672}, Entry: []string{"docker-entrypoint.sh"}, Argv: []string{"rabbitmq-server"}, Bash: true}, tags: versionTag, newest: "5"},
	"busybox":     {Image: Image{Size: 2 << 20, Argv: []string{"sh"}}, tags: versionTag, newest: "1.39"},
	"alpine":      {Image: Image{Size: 3 << 20, Argv: []string{shellEntry}}, tags: versionTag, newest: "3.26"},
	"debian":      {Image: Image{Size: 48 << 20, Argv: []string{"bash"}, Bash: true}, tags: debianTag, newest: "14"},
	"ubuntu":      {Image: Image{Size: 29 << 20, Argv: []string{"/bin/bash"}, Bash: true}, tags: debianTag, newest: "27.10"},
	"bash":        {Image: Image{Size: 6 << 20, Argv: []string{"bash"}, Bash: true}, tags: versionTag, newest: "5.5"},
	"perl":        {Image: Image{Size: 350 << 20, Argv: []string{"perl", "-de0"}, Bash: true}, tags: versionTag, newest: "5.46"},
	"python":      {Image: Image{Size: 380 << 20, Argv: []string{"python3"}, Bash: true}, tags: versionTag, newest: "3.16"},
	"node":        {Image: Image{Size: 390 << 20, Argv: []string{"node"}, Bash: true}, tags: versionTag, newest: "28"},
	"golang":      {Image: Image{Size: 300 << 20, Argv: []string{"bash"}, Bash: true, Dir: "/go"}, tags: versionTag, newest: "1.28"},
	"hello-world": {Image: Image{Size: 13 << 10, kind: "hello-world", Argv: []string{"/hello"}, Bare: true}},
	"traefik":     {Image: Image{Size: 50 << 20, kind: "http", Ports: []int{80, 8080}, Argv: []string{"traefik"}}, tags: versionTag, newest: "4"},
	"haproxy":     {Image: Image{Size: 40 << 20, kind: "http", Ports: []int{80}, Argv: []string{"haproxy", "-f", "/usr/local/etc/haproxy/haproxy.cfg"}}, tags: versionTag, newest: "3.6"},

	"curlimages/curl":                                 {Image: Image{Size: 9 << 20, Entry: []string{"/entrypoint.sh"}, Argv: []string{"curl"}}},
	"hashicorp/http-echo":                             {Image: Image{Size: 5 << 20, kind: "http-echo", Ports: []int{5678}, Entry: []string{"/http-echo"}, Bare: true}},
	"traefik/whoami":                                  {Image: Image{Size: 3 << 20, kind: "whoami", Ports: []int{80}, Entry: []string{"/whoami"}, Bare: true}},
	"stefanprodan/podinfo":                            {Image: Image{Size: 30 << 20, kind: "whoami", Ports: []int{9898}, Argv: []string{"./podinfo"}}},
	"polinux/stress":                                  {Image: Image{Size: 4 << 20, Argv: []string{"stress"}}},
	"vish/stress":                                     {Image: Image{Size: 2 << 20, Entry: []string{"stress"}}},
	"fluent/fluentd":                                  {Image: Image{Size: 20 << 20, kind: "tcp", Ports: []int{24224}, Argv: []string{"fluentd"}}},
	"nginxinc/nginx-unprivileged":                     {Image: Image{Size: 72 << 20, kind: "nginx", Ports: []int{8080}, Entry: []string{"/docker-entrypoint.sh"}, Argv: []string{"nginx", "-g", "daemon off;"}, Bash: true, files: unprivilegedFiles}, tags: versionTag, newest: "1.33"},
	"registry.k8s.io/pause":                           {Image: Image{Size: 300 << 10, kind: "pause", Argv: []string{"/pause"}, Bare: true}},
	"registry.k8s.io/echoserver":                      {Image: Image{Size: 40 << 20, kind: "echoserver", Ports: []int{8080}, Argv: []string{"nginx", "-g", "daemon off;"}, Bash: true}},
	"registry.k8s.io/hpa-example":                     {Image: Image{Size: 180 << 20, kind: "hpa-example", Ports: []int{80}, Argv: []string{"apache2-foreground"}, Bash: true}},
	"registry.k8s.io/nginx-slim":                      {Image: Image{Size: 70 << 20, kind: "nginx", Ports: []int{80}, Argv: []string{"nginx", "-g", "daemon off;"}, Bash: true, files: map[string]string{"/usr/share/nginx/html/index.html": nginxWelcome}}},
	"registry.k8s.io/serve_hostname":                  {Image: Image{Size: 5 << 20, kind: "serve-hostname", Ports: []int{9376}, Argv: []string{"/serve_hostname"}, Bare: true}},
	"kubernetes/serve_hostname":                       {Image: Image{Size: 5 << 20, kind: "serve-hostname", Ports: []int{9376}, Argv: []string{"/serve_hostname"}, Bare: true}},
	"registry.k8s.io/redis":                           {Image: Image{Size: 52 << 20, kind: "redis", Ports: []int{6379}, Argv: []string{"redis-server"}, Dir: "/data", Bash: true}},
	"registry.k8s.io/kubernetes-zookeeper":            {Image: Image{Size: 90 << 20, kind: "zookeeper", Ports: []int{2181, 2888, 3888}, Argv: []string{"start-zookeeper"}, Bash: true, files: zookeeperFiles}},
	"gcr.io/google-samples/cassandra":                 {Image: Image{Size: 140 << 20, kind: "cassandra", release: "3.11.2", Ports: []int{cassandraGossip, cassandraJMX, cassandraCQL}, Argv: []string{"/run.sh"}, Bash: true, files: cassandraFiles}},
	"gcr.io/google-samples/xtrabackup":                {Image: Image{Size: 80 << 20, kind: "xtrabackup", Argv: []string{"bash"}, Bash: true}},
	"gcr.io/google-samples/gb-frontend":               {Image: Image{Size: 180 << 20, kind: "gb-frontend", Ports: []int{80}, Argv: []string{"apache2-foreground"}, Dir: "/var/www/html", Bash: true}},
	"gcr.io/google-samples/gb-redis-follower":         {Image: Image{Size: 40 << 20, kind: "redis", Ports: []int{6379}, Argv: []string{"/run.sh"}, Dir: "/data", Bash: true}},
	"registry.k8s.io/busybox":                         {Image: Image{Size: 2 << 20, Argv: []string{"sh"}}},
	"registry.k8s.io/etcd":                            {Image: Image{Size: 60 << 20, kind: "etcd", Ports: []int{2379, 2380}, Argv: []string{"etcd"}}},
	"coredns/coredns":                                 coreDNSImage,
	"registry.k8s.io/coredns/coredns":                 coreDNSImage,
	"registry.k8s.io/kube-proxy":                      {Image: Image{Size: 30 << 20, kind: "kube-proxy", Argv: []string{"kube-proxy"}, Bare: true}},
	"registry.k8s.io/kubernetes-e2e":                  {Image: Image{Size: 40 << 20}},
	"registry.k8s.io/e2e-test-images/agnhost":         {Image: Image{Size: 50 << 20, kind: "agnhost", Entry: []string{"/agnhost"}, Argv: []string{"pause"}}},
	"registry.k8s.io/e2e-test-images/busybox":         {Image: Image{Size: 2 << 20, Argv: []string{"sh"}}},
	"registry.k8s.io/e2e-test-images/nginx":           {Image: Image{Size: 70 << 20, kind: "nginx", release: versions["nginx"], Ports: []int{80}, Argv: []string{"nginx", "-g", "daemon off;"}, Bash: true, files: map[string]string{"/usr/share/nginx/html/index.html": nginxWelcome}}},
	"registry.k8s.io/e2e-test-images/httpd":           {Image: Image{Size: 58 << 20, kind: "httpd", Ports: []int{80}, Argv: []string{"httpd-foreground"}, Bash: true}},
	"registry.k8s.io/e2e-test-images/jessie-dnsutils": {Image: Image{Size: 100 << 20, Argv: []string{"sleep", "infinity"}, Bash: true}},
	"gcr.io/google-samples/hello-go-gke":              {Image: Image{Size: 8 << 20, kind: "hello-go-gke", Ports: []int{80}, Argv: []string{"./hello-go-gke"}}},
	"gcr.io/google-samples/hello-frontend":            {Image: Image{Size: 70 << 20, kind: "nginx", Ports: []int{80}, Argv: []string{"nginx", "-g", "daemon off;"}, Bash: true, files: map[string]string{"/etc/nginx/nginx.conf": nginxConf, "/etc/nginx/conf.d/frontend.conf": helloFrontend}}},
	"gcr.io/google-samples/hello-app":                 {Image: Image{Size: 6 << 20, kind: "hello-app", Ports: []int{8080}, Argv: []string{"./hello-app"}}},
	"gcr.io/google-samples/node-hello":                {Image: Image{Size: 250 << 20, kind: "hello-app", Ports: []int{8080}, Argv: []string{"node", "server.js"}}},
	"gcr.io/google-samples/kubernetes-bootcamp":       bootcampImage,
	"jocatalin/kubernetes-bootcamp":                   bootcampImage,
	"luksa/kubia":                                     kubiaImage("kubia", kubiaTags),
	"luksa/kubia-unhealthy":                           kubiaImage("kubia-unhealthy", onlyLatest),
	"luksa/kubia-pet":                                 kubiaImage("kubia-pet", onlyLatest),
	"luksa/batch-job":                                 {Image: Image{Size: 2 << 20, Entry: []string{shellEntry, "-c", batchJob}}, tags: onlyLatest},
	"luksa/fortune":                                   fortuneImage("mkdir /var/htdocs\n", "10"),
	"luksa/fortune:args":                              fortuneImage("INTERVAL=$1\n"+fortuneInterval, "$INTERVAL", "10"),
	"luksa/fortune:env":                               fortuneImage(fortuneInterval, "$INTERVAL"),
	"wbitt/network-multitool":                         multitoolImage,
	"praqma/network-multitool":                        multitoolImage,
	"ghcr.io/eficode-academy/network-multitool":       multitoolImage,
}

// Resolve returns the image of a name that is a valid reference, or a PullError
// if it cannot exist: a tag that the repository of a well-known program does
// not have, a registry that by its name is nobody's (.invalid), a name that
// says of itself that it is wrong ("no-such-image", "nginx:typo"), or one that is
// misspelt. Any other
// image exists: a server that answers on the ports that its container declares, or else
// where it is asked: see Container.Open.
// A reference that does not parse is reference's error.
func Resolve(name string) (Image, error) {
	ref, err := reference.ParseNormalizedNamed(name)
	if err != nil {
		return Image{}, err
	}
	ref = reference.TagNameOnly(ref)
	familiar := reference.FamiliarName(ref)
	tag := ""
	if tagged, ok := ref.(reference.Tagged); ok {
		tag = tagged.Tag()
	}
	if moved, ok := strings.CutPrefix(familiar, "k8s.gcr.io/"); ok {
		familiar = "registry.k8s.io/" + moved
	}
	if gke, ok := strings.CutPrefix(familiar, "us-docker.pkg.dev/google-samples/containers/gke/"); ok {
		familiar = "gcr.io/google-samples/" + gke
	}
	lookup := strings.TrimPrefix(familiar, "bitnami/")
	lookup = strings.TrimPrefix(lookup, "mirror.gcr.io/library/")
	lookup = strings.TrimPrefix(lookup, "public.ecr.aws/docker/library/")
	have, isKnown := knownImages[lookup+":"+tag]
	if !isKnown {
		have, isKnown = knownImages[lookup]
	}
	image := have.Image
	if !isKnown {
		image = Image{unknown: true, kind: "unknown", Size: int64(20+hashOf(familiar)%80) << 20, Bash: true, Argv: []string{"/entrypoint"}}
	}
	image.Name = ref.String()
	domain := reference.Domain(ref)
	digest := fmt.Sprintf("sha256:%016x%016x%016x%016x", hashOf(image.Name), hashOf(image.Name+"1"), hashOf(image.Name+"2"), hashOf(image.Name+"3"))
	if given, ok := ref.(reference.Digested); ok {
		digest = given.Digest().String()
	}
	image.ID = ref.Name() + "@" + digest
	if image.Entry != nil {
		image.Argv = append(append([]string(nil), image.Entry...), image.Argv...)
	}
	switch {
	case strings.HasSuffix(domain, ".invalid"):
		return Image{}, PullError{fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: failed to do request: Head %q: dial tcp: lookup %s: no such host", image.Name, image.Name, "https://"+domain+"/v2/"+reference.Path(ref)+"/manifests/"+tag, domain)}
	case isKnown && tag != "" && (!have.has(tag)):
		return Image{}, PullError{fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image.Name, image.Name, image.Name)}
	case !isKnown && (wrong.MatchString(familiar) || wrong.MatchString(":"+tag) || misspelt(lookup)):
		if domain == "docker.io" {
			return Image{}, PullError{fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed", image.Name, image.Name)}
		}
		return Image{}, PullError{fmt.Sprintf("rpc error: code = NotFound desc = failed to pull and unpack image %q: failed to resolve reference %q: %s: not found", image.Name, image.Name, image.Name)}
	}
	return image, nil
}

// CommandLine joins an image's command with that of a container, as
// Kubernetes does: command replaces the entrypoint and with it the image's
// arguments, args replace the arguments alone.
func (i Image) CommandLine(command, args []string) []string {
	switch {
	case len(command) > 0:
		return append(append([]string(nil), command...), args...)
	case len(args) > 0:
		return append(append([]string(nil), i.Entry...), args...)
	}
	return i.Argv
}

// started is what a command line comes to. Entrypoint scripts of well-known
// images start their arguments, or the image's program with them if they are
// options.
func (i Image) started(argv []string) []string {
	if len(argv) < 2 || len(i.Entry) == 0 || argv[0] != i.Entry[0] || !strings.HasSuffix(argv[0], "entrypoint.sh") {
		return argv
	}
	if argv = argv[1:]; strings.HasPrefix(argv[0], "-") && len(i.Argv) > len(i.Entry) {
		return append([]string{i.Argv[len(i.Entry)]}, argv...)
	}
	return argv
}

// Users and groups that all images have, as /etc/passwd and /etc/group say it.
const (
	accounts      = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nwww-data:x:33:33:www-data:/var/www:/bin/false\nnobody:x:65534:65534:nobody:/home:/bin/false\n"
	accountGroups = "root:x:0:\ndaemon:x:1:\nwww-data:x:33:\nnogroup:x:65534:\n"
)

// servers are the users that images have for their server, by the image's kind.
var servers = map[string]struct{ name, id string }{
	"nginx": {"nginx", "101"}, "redis": {"redis", "999"}, "postgres": {"postgres", "999"}, "mysql": {"mysql", "999"},
}

// Tree returns a new file system of the image.
func (i Image) Tree(d *Disk) *Tree {
	t := d.NewTree()
	for name, text := range i.files {
		// Into a new tree that is writable: neither can fail.
		_ = t.MkdirAll(name[:strings.LastIndexByte(name, '/')], 0o755)
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		_ = t.WriteFile(name, []byte(text), mode)
	}
	if i.Dir != "" {
		_ = t.MkdirAll(i.Dir, 0o755)
	}
	release := "NAME=\"Alpine Linux\"\nID=alpine\nVERSION_ID=3.22.0\nPRETTY_NAME=\"Alpine Linux v3.22\"\n"
	if i.Bash {
		release = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nID=debian\n"
	}
	if i.repository() == "ubuntu" {
		release = "PRETTY_NAME=\"Ubuntu 24.04.3 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\nVERSION=\"24.04.3 LTS (Noble Numbat)\"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\n"
	}
	users, groups := i.accounts()
	if i.kind == "nginx" {
		i.nginxFolders(t)
	}
	_ = t.WriteFile("/etc/passwd", []byte(users), 0o644)
	_ = t.WriteFile("/etc/group", []byte(groups), 0o644)
	_ = t.WriteFile("/etc/os-release", []byte(release), 0o644)
	i.install(t)
	return t
}

// helloFrontend is the configuration of that image: it asks the Service hello.
const helloFrontend = "server {\n    listen 80;\n    location / {\n        proxy_pass http://hello;\n    }\n}\n"

// Root reports whether the image runs as root unless it is told otherwise.
func (i Image) Root() bool {
	return !strings.Contains(i.Name, "unprivileged") && !strings.Contains(i.Name, "nonroot") && !i.unknown && i.kind != "pause"
}

// repository is the name of the image without its tag and digest.
func (i Image) repository() string {
	name, _, _ := strings.Cut(i.Name, "@")
	return strings.TrimSuffix(name, ":"+i.tag())
}

// tag is the image's, "" for one that is named by its digest.
func (i Image) tag() string {
	name, _, _ := strings.Cut(i.Name, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		return name[at+1:]
	}
	return ""
}
