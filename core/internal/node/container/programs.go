package container

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// programsOf are the programs that images have beside those of their command line, by
// the image's kind.
var programsOf = map[string][]string{
	"nginx":      {"nginx"},
	"httpd":      {"httpd", "httpd-foreground", "apachectl"},
	"redis":      {"redis-server", "redis-cli", "redis-sentinel"},
	"postgres":   {"postgres", "psql", "pg_isready", "createdb", "dropdb", "createuser"},
	"mysql":      {"mysqld", "mysql", "mysqladmin", "mysqldump", "mariadbd", "mariadb", "mariadb-admin", "mariadb-dump"},
	"etcd":       {"etcd", "etcdctl"},
	"zookeeper":  {"start-zookeeper", "zookeeper-ready", "zkCli.sh", "zkServer.sh", "zkGenConfig.sh", "java"},
	"cassandra":  {"cassandra", "nodetool", "cqlsh"},
	"xtrabackup": {"ncat", "xbstream", "xtrabackup", "mysql", "mysqladmin"},
}

// programsOfImages are the interpreters of languages that are not interpreted here, but
// for what package python understands, by the image's first program: they run, print nothing
// and answer on the ports that the container declares. Without ports, they say that they are
// given what cannot be simulated.
var programsOfImages = map[string][]string{
	"python3": {"python", "python3", "pip", "pip3", "flask", "gunicorn", "uvicorn"},
	"node":    {"node", "npm", "npx", "yarn"},
	"bash":    {}, // a shell
	"perl":    {"perl"},
}

// holds reports whether the image has a program that is neither a shell nor a tool,
// as far as that is known.
func (i Image) holds(name string) bool {
	if shells[name] || name == "" {
		return false
	}
	own := i.own()
	return own == name || slices.Contains(programsOf[i.kind], name) || slices.Contains(programsOfImages[own], name) || i.isGo() && name == "go"
}

// programs returns the names of all that holds knows.
func (i Image) programs() []string {
	names := slices.Concat(programsOf[i.kind], programsOfImages[i.own()])
	if own := i.own(); i.holds(own) && !slices.Contains(names, own) && !isTool(own) {
		names = append(names, own)
	}
	if i.isGo() {
		names = append(names, "go")
	}
	return slices.DeleteFunc(names, isTool)
}

func (i Image) isGo() bool { return i.Dir == "/go" }

// own is the name of the program that the image is made for.
func (i Image) own() string {
	argv := i.started(i.Argv)
	if len(argv) == 0 || i.unknown || strings.HasSuffix(argv[0], "entrypoint.sh") {
		return ""
	}
	return path.Base(argv[0])
}

// where is the file of a program that the image holds.
func (i Image) where(name string) string {
	switch {
	case i.kind == "nginx" || name == "mysqld" || name == "mariadbd":
		return "/usr/sbin/" + name
	case i.kind == "mysql", i.kind == "xtrabackup", i.kind == "postgres", name == "mongod", name == "mongosh":
		return "/usr/bin/" + name
	case i.kind == "zookeeper" && name != "java":
		return zookeeperBin + name
	case i.kind == "httpd":
		return "/usr/local/apache2/bin/" + name
	}
	if argv := i.started(i.Argv); len(argv) > 0 && path.Base(argv[0]) == name && path.IsAbs(argv[0]) {
		return argv[0]
	}
	return "/usr/local/bin/" + name
}

// holds reports whether a program may be run by an exec: the image has it, or the
// container itself was started with it.
func (c *Container) holds(argv []string) bool {
	image := c.cfg.Image
	if len(argv) == 0 {
		return false
	}
	name := path.Base(argv[0])
	if _, ok := c.fileServer(argv, "/"); ok {
		return true
	}
	if isTool(name) || shells[name] {
		return false
	}
	if image.unknown {
		own := image.started(c.root().argv)
		return len(own) > 0 && path.Base(own[0]) == name
	}
	return image.holds(name)
}

// versions are those of the newest images, by kind.
var versions = map[string]string{"nginx": "1.29.4", "httpd": "2.4.66", "redis": "8.4.0", "postgres": "18.1", "mysql": "9.5.0", "cassandra": "5.0.6", "coredns": "1.14.6"}

var tagVersion = regexp.MustCompile(`:v?(\d+(?:\.\d+){0,2})(?:[-@]|$)`)

// version is that of the image's server: what its tag says, and of a tag that does not
// say all of it the first one.
func (i Image) version() string {
	newest := versions[i.kind]
	found := tagVersion.FindStringSubmatch(i.Name)
	switch {
	case i.release != "":
		return i.release
	case found == nil:
		return newest
	}
	parts := strings.Count(newest, ".") - strings.Count(found[1], ".")
	if newest == found[1] || strings.HasPrefix(newest, found[1]+".") || parts < 0 {
		return newest
	}
	return found[1] + strings.Repeat(".0", parts)
}

// interpreters are the versions of interpreters that tell it.
var interpreters = map[string]string{"python": "Python 3.14.2", "python3": "Python 3.14.2", "node": "v25.2.1", "npm": "11.6.2", "go": "go version go1.25.5 linux/amd64"}

// tellsVersion reports whether an interpreter is asked for its version alone.
func tellsVersion(name string, args []string) bool {
	return len(args) > 0 && interpreters[name] != "" && slices.Contains([]string{"--version", "-V", "-v", "version"}, args[0])
}

// serves reports whether a command line of an interpreter is taken for a server: it has a program, and the container ports.
// One without a program does nothing for ever.
func serves(argv []string, ports []int) bool {
	args := argv[1:]
	return !tellsVersion(path.Base(argv[0]), args) && (len(ports) > 0 || len(args) == 0)
}

// interpreter is what an interpreter of a language does that is no server: it tells its
// version. A program would never end, as nothing is known of it.
func (k *call) interpreter() int {
	if tellsVersion(k.Name, k.Args) {
		fmt.Fprintln(k.Stdout, interpreters[k.Name])
		return 0
	}
	if strings.HasPrefix(k.Name, "python") {
		return k.Fail("this container is simulated: it runs simple scripts alone")
	}
	return k.Fail("this container is simulated: it runs no programs of %s", k.Name)
}

func (i Image) interprets(name string) bool {
	return slices.Contains(programsOfImages[i.own()], name) || i.isGo() && name == "go"
}
