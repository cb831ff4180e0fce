package container

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// agnhostCommands are those of agnhost that are no servers: they run as other
// programs of a container do. Each is given its flags.
var agnhostCommands map[string]func(*call, *pflag.FlagSet) int

func init() {
	agnhostCommands = map[string]func(*call, *pflag.FlagSet) int{
		"mounttest": mounttest, "logs-generator": logsGenerator, "connect": connect, "inclusterclient": inClusterClient,
		"test-service-account-issuer-discovery": issuerDiscovery,
	}
}

// entrypointTester is the command that prints its command line, whatever that is: it has no flags.
const entrypointTester = "entrypoint-tester"

// hasAgnhost is true for a mirror of the image, too, of which nothing is known.
func (i Image) hasAgnhost() bool { return i.kind == "agnhost" || i.unknown }

// isAgnhost reports whether argv is a command of agnhost's that runs as a program.
func (i Image) isAgnhost(argv []string) bool {
	return i.hasAgnhost() && len(argv) > 1 && isAgnhostName(argv[0]) && (argv[1] == entrypointTester || agnhostCommands[argv[1]] != nil)
}

// isAgnhostName knows a copy of the program, too, with which tests replace an image's entrypoint.
func isAgnhostName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name == "agnhost" || name == "agnhost-2"
}

// agnhostCommand runs what isAgnhost knows.
func agnhostCommand(k *call, path string) int {
	if k.Args[0] == entrypointTester {
		fmt.Fprintln(k.Stdout, append([]string{path}, k.Args...))
		return 0
	}
	flags := pflag.NewFlagSet(k.Args[0], pflag.ContinueOnError)
	flags.SetOutput(k.Stderr)
	return agnhostCommands[k.Args[0]](k, flags)
}

// parse reads the command's flags, and says what is wrong with them.
func (k *call) parse(flags *pflag.FlagSet) bool {
	if err := flags.Parse(k.Args[1:]); err != nil {
		fmt.Fprintf(k.Stderr, "Error: %v\n", err)
		return false
	}
	return true
}

// mounttest prints what files are like, in the order in which upstream's does.
func mounttest(k *call, flags *pflag.FlagSet) int {
	code := 0
	fail := func(format string, args ...any) {
		fmt.Fprintf(k.Stdout, format, args...)
		code = 1
	}
	content := func(name string) {
		data, err := k.Files.ReadFile(k.Path(name))
		if err != nil {
			fail("error reading file content for %q: %v\n", name, err)
			return
		}
		fmt.Fprintf(k.Stdout, "content of file %q: %s\n", name, data)
	}
	write := func(perm fs.FileMode) func(string) {
		return func(name string) {
			err := k.Files.WriteFile(k.Path(name), []byte(mounttestContent), perm)
			if err == nil {
				err = k.Files.Chmod(k.Path(name), perm)
			}
			if err != nil {
				fail("error writing new file %q: %v\n", name, err)
				return
			}
			content(name)
		}
	}
	stat := func(f func(string, fs.FileInfo)) func(string) {
		return func(name string) {
			info, err := k.Files.Stat(k.Path(name), true)
			if err != nil {
				fail("error from Stat(%q): %v\n", name, err)
				return
			}
			f(name, info)
		}
	}
	steps := []struct {
		flag string
		run  func(string)
	}{
		{"fs_type", func(name string) {
			kind, err := k.session.c.tree().FileSystem(k.Path(name))
			if err != nil {
				fail("error from statfs(%q): %v\n", name, err)
				return
			}
			fmt.Fprintf(k.Stdout, "mount type of %q: %s\n", name, kind)
		}},
		{"new_file_0644", write(0o644)}, {"new_file_0666", write(0o666)}, {"new_file_0660", write(0o660)}, {"new_file_0777", write(0o777)},
		{"file_mode", stat(func(name string, info fs.FileInfo) { fmt.Fprintf(k.Stdout, "mode of file %q: %v\n", name, info.Mode()) })},
		{"file_perm", stat(func(name string, info fs.FileInfo) {
			fmt.Fprintf(k.Stdout, "perms of file %q: %v\n", name, info.Mode().Perm())
		})},
		{"file_owner", stat(func(name string, info fs.FileInfo) {
			uid, gid := coreutils.Owner(info)
			fmt.Fprintf(k.Stdout, "owner UID of %q: %d\nowner GID of %q: %d\n", name, uid, name, gid)
		})},
		{"file_content", content},
	}
	names := make([]*string, len(steps))
	for i, step := range steps {
		names[i] = flags.String(step.flag, "", "")
	}
	loop := flags.String("file_content_in_loop", "", "")
	seconds := flags.Int("retry_time", 180, "")
	breaks := flags.Bool("break_on_expected_content", true, "")
	if !k.parse(flags) {
		return 1
	}
	for i, step := range steps {
		if *names[i] != "" {
			step.run(*names[i])
		}
	}
	if *loop != "" && !k.readInLoop(*loop, time.Duration(*seconds)*time.Second, *breaks) {
		code = 1
	}
	return code
}

const mounttestContent = "mount-tester new file\n"

// readInLoop prints a file every two seconds. It reports whether it could be read the last time.
func (k *call) readInLoop(name string, d time.Duration, breaks bool) bool {
	clock := k.System.Clock()
	var err error
	for started := clock.Now(); clock.Since(started) < d; {
		var data []byte
		if data, err = k.Files.ReadFile(k.Path(name)); err != nil {
			fmt.Fprintf(k.Stdout, "Error reading file %s: %v, retrying\n", name, err)
		} else {
			fmt.Fprintf(k.Stdout, "content of file %q: %s\n", name, data)
			if breaks {
				if string(data) == mounttestContent {
					return true
				}
				fmt.Fprintf(k.Stdout, "Unexpected content. Expected: %s. Retrying\n", mounttestContent)
			}
		}
		if k.System.Pause(k.Call, 2*time.Second) != 0 {
			return false
		}
	}
	return err == nil
}

// logsGenerator prints lines as an API server logs them, over a time.
func logsGenerator(k *call, flags *pflag.FlagSet) int {
	lines := flags.IntP("log-lines-total", "t", 0, "")
	d := flags.DurationP("run-duration", "d", 0, "")
	if !k.parse(flags) {
		return 1
	}
	if *lines <= 0 || *d <= 0 {
		fmt.Fprintf(k.Stderr, "Invalid total number of lines: %d, or duration: %v\n", *lines, *d)
		return 255
	}
	pick := func(of ...string) string { return of[rand.IntN(len(of))] }
	for id := range *lines {
		name := strconv.FormatInt(1296+rand.Int64N(36*1296-1296), 36)
		fmt.Fprintf(k.Stderr, "I%s       1 logs_generator.go:76] %d %s /api/v1/namespaces/%s/pods/%s %d\n", k.System.Clock().Now().UTC().Format("0102 15:04:05.000000"),
			id, pick("GET", "POST", "PUT"), pick("kube-system", "default", "ns"), name, 200+rand.IntN(400))
		if k.System.Pause(k.Call, *d/time.Duration(*lines)) != 0 {
			return 143
		}
	}
	return 0
}

// connect tries to connect to host:port, and says in a word why it could not.
func connect(k *call, flags *pflag.FlagSet) int {
	limit := flags.Duration("timeout", 0, "")
	protocol := flags.String("protocol", "tcp", "")
	if !k.parse(flags) {
		return 1
	}
	if flags.NArg() != 1 || *protocol != "tcp" && *protocol != "udp" {
		fmt.Fprintf(k.Stderr, "UNKNOWN: accepts 1 address of TCP or UDP, received %v over %s\n", flags.Args(), *protocol)
		return 1
	}
	host, port, err := net.SplitHostPort(flags.Arg(0))
	number, numberErr := strconv.Atoi(port)
	if err = errors.Join(err, numberErr); err != nil {
		fmt.Fprintf(k.Stderr, "UNKNOWN: %v\n", err)
		return 1
	}
	ctx, cancel := k.within(*limit)
	defer cancel()
	if _, err := k.session.c.cfg.Network.Connect(ctx, host, Port{Number: number, UDP: *protocol == "udp"}); err != nil {
		word := "REFUSED"
		if isDNS, _ := coreutils.Lost(err); isDNS {
			word = "DNS: " + err.Error()
		} else if isTimeout(err) {
			word = "TIMEOUT"
		}
		fmt.Fprintln(k.Stderr, word)
		return 1
	}
	return 0
}

// inClusterClient asks the API server whether it is healthy, again and again, with its ServiceAccount's token.
func inClusterClient(k *call, flags *pflag.FlagSet) int {
	every := flags.Int("poll-interval", 30, "")
	if !k.parse(flags) {
		return 1
	}
	log := func(format string, args ...any) {
		fmt.Fprintf(k.Stderr, "I%s       1 main.go:90] %s\n", k.System.Clock().Now().UTC().Format("0102 15:04:05.000000"), fmt.Sprintf(format, args...))
	}
	log("started")
	for k.System.Pause(k.Call, time.Duration(max(*every, 1))*time.Second) == 0 {
		log("calling /healthz")
		token, err := k.Files.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/token")
		if err == nil {
			sum := sha256.Sum256([]byte("salt|Bearer " + string(token)))
			log("authz_header=%s", base64.RawURLEncoding.EncodeToString(sum[:]))
			var response *http.Response
			header := http.Header{"Authorization": {"Bearer " + string(token)}}
			if response, err = k.Request(http.MethodGet, "https://"+net.JoinHostPort(lookupEnv(k.session.c.env, "KUBERNETES_SERVICE_HOST"), lookupEnv(k.session.c.env, "KUBERNETES_SERVICE_PORT"))+"/healthz", nil, header, false, 0); err == nil {
				_ = response.Body.Close() // of some bytes
			}
		}
		if err != nil {
			log("status=failed")
			log("error checking /healthz: %v", err)
		}
	}
	return 143
}
