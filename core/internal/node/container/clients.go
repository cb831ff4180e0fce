package container

import (
	"fmt"
	"math/big"
	"net"
	"regexp"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// clients are the programs that images of servers have for talking to them, and others
// that end.
var clients map[string]func(*call) int

func init() {
	// Assigned here because commands run commands.
	clients = map[string]func(*call) int{
		"mysql": mysqlClient, "mariadb": mysqlClient, "mysqladmin": mysqlAdmin, "mariadb-admin": mysqlAdmin, "psql": psqlClient,
		"perl": perl, "ncat": ncat, "xbstream": nothing, "xtrabackup": nothing,
		"zookeeper-ready": zookeeperReady, "zkCli.sh": zookeeperClient, "zkServer.sh": zookeeperStatus, "zkGenConfig.sh": nothing,
		"nodetool": nodetool, "cqlsh": cqlsh,
	}
}

// reaches reports whether something listens at a port of a host.
func (k *call) reaches(host string, port int) bool {
	if host == "" || host == "localhost" || host == "127.0.0.1" {
		if _, ok := k.session.c.root().Listening(Port{Number: port}); ok {
			return true
		}
		host = "127.0.0.1"
	}
	_, err := k.session.c.cfg.Network.Connect(k, host, Port{Number: port})
	return err == nil
}

// longValue is what the arguments say of an option that is written -hVALUE, -h VALUE,
// --host=VALUE or --host VALUE.
func longValue(args []string, short, long string) string {
	for i, arg := range args {
		switch value, ok := strings.CutPrefix(arg, long+"="); {
		case ok:
			return value
		case (arg == short && short != "" || arg == long) && i+1 < len(args):
			return args[i+1]
		case short != "" && len(arg) > len(short) && strings.HasPrefix(arg, short) && !strings.HasPrefix(arg, "--"):
			return arg[len(short):]
		}
	}
	return ""
}

// mysqlAt is where a client of MySQL is told that the server is. It prints why nothing is
// there.
func mysqlAt(k *call) (reached bool) {
	host, port := longValue(k.Args, "-h", "--host"), 3306
	if n, err := strconv.Atoi(longValue(k.Args, "-P", "--port")); err == nil {
		port = n
	}
	if k.reaches(host, port) {
		return true
	}
	prefix := ""
	if strings.HasSuffix(k.Name, "admin") {
		prefix = k.Name + ": connect to server at '" + host + "' failed\nerror: "
	}
	switch {
	case host == "" || host == "localhost":
		fmt.Fprintf(k.Stderr, "%sERROR 2002 (HY000): Can't connect to local MySQL server through socket '/var/run/mysqld/mysqld.sock' (2)\n", prefix)
	case net.ParseIP(host) == nil && k.unknownHost(host):
		fmt.Fprintf(k.Stderr, "%sERROR 2005 (HY000): Unknown MySQL server host '%s' (-2)\n", prefix, host)
	default:
		fmt.Fprintf(k.Stderr, "%sERROR 2003 (HY000): Can't connect to MySQL server on '%s:%d' (111)\n", prefix, host, port)
	}
	return false
}

func (k *call) unknownHost(host string) bool {
	_, _, err := k.session.c.cfg.Network.Lookup(k, host)
	return err != nil
}

func mysqlAdmin(k *call) int {
	if !mysqlAt(k) {
		return 1
	}
	for _, arg := range k.Args {
		switch arg {
		case "ping":
			fmt.Fprintln(k.Stdout, "mysqld is alive")
		case "version", "--version":
			fmt.Fprintf(k.Stdout, "%s  Ver %s for Linux on x86_64\n", k.Name, k.session.c.cfg.Image.version())
		}
	}
	return 0
}

// simulated is what clients say of what servers here do not do.
const simulated = "this server is simulated: it runs no SQL but SELECT of a number"

var selectsNumber = regexp.MustCompile(`(?i)^\s*select\s+(\d+)\s*;?\s*$`)

// mysqlClient asks for numbers, as probes do.
func mysqlClient(k *call) int {
	if len(k.Args) == 1 && (k.Args[0] == "--version" || k.Args[0] == "-V") {
		fmt.Fprintf(k.Stdout, "%s  Ver %s for Linux on x86_64 (MySQL Community Server - GPL)\n", k.Name, k.session.c.cfg.Image.version())
		return 0
	}
	if !mysqlAt(k) {
		return 1
	}
	number, code := k.selected(longValue(k.Args, "-e", "--execute"))
	if number == "" {
		return code
	}
	fmt.Fprintf(k.Stdout, "%s\n%s\n", number, number)
	return 0
}

// selected returns the number that a client's query selects: the query is given, or what
// comes on standard input. Without a number, the client ends with the exit code.
func (k *call) selected(query string) (number string, code int) {
	if query == "" {
		text, err := coreutils.ReadAll(k.Stdin)
		if err != nil {
			return "", k.Fail("%v", err)
		}
		query = string(text)
	}
	if strings.TrimSpace(query) == "" {
		return "", 0
	}
	found := selectsNumber.FindStringSubmatch(query)
	if found == nil {
		return "", k.Fail("%s", simulated)
	}
	return found[1], 0
}

// psqlClient asks for numbers, as probes do.
func psqlClient(k *call) int {
	version := k.session.c.cfg.Image.version()
	if len(k.Args) == 1 && (k.Args[0] == "--version" || k.Args[0] == "-V") {
		fmt.Fprintf(k.Stdout, "psql (PostgreSQL) %s\n", version)
		return 0
	}
	host := longValue(k.Args, "-h", "--host")
	if !k.reaches(host, 5432) {
		if host == "" {
			host = "localhost"
		}
		fmt.Fprintf(k.Stderr, "psql: error: connection to server at \"%s\", port 5432 failed: Connection refused\n\tIs the server running on that host and accepting TCP/IP connections?\n", host)
		return 2
	}
	number, code := k.selected(longValue(k.Args, "-c", "--command"))
	if number == "" {
		return code
	}
	fmt.Fprintf(k.Stdout, " ?column? \n----------\n%9s\n(1 row)\n\n", number)
	return 0
}

// ncatPort is the port that ncat is to listen at.
func ncatPort(args []string) int {
	for _, arg := range args {
		if port, err := strconv.Atoi(arg); err == nil && port > 0 && port < 1<<16 {
			return port
		}
	}
	return 31337
}

// ncat connects, and has nothing to read there.
func ncat(k *call) int {
	var words []string
	for _, arg := range k.Args {
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
		}
	}
	if len(words) < 2 || !k.reaches(words[0], ncatPort(words[1:])) {
		fmt.Fprintln(k.Stderr, "Ncat: Connection refused.")
		return 1
	}
	return 0
}

var printsPi = regexp.MustCompile(`print\s+bpi\((\d{1,5})\)`)

// perl calculates pi, as the Job of Kubernetes' documentation does.
func perl(k *call) int {
	script := strings.Join(k.Args, " ")
	switch digits := printsPi.FindStringSubmatch(script); {
	case digits != nil:
		n, _ := strconv.Atoi(digits[1]) // the expression admits numbers alone
		fmt.Fprintln(k.Stdout, pi(min(max(n, 2), mostDigits)))
		return 0
	case strings.HasPrefix(script, "-v"):
		fmt.Fprintf(k.Stdout, "\nThis is perl 5, version 42, subversion 0 (v5.42.0) built for x86_64-linux-gnu\n\n")
		return 0
	}
	return k.Fail("this container is simulated: it runs no Perl but print bpi(n)")
}

// mostDigits is how many digits of pi take no time.
const mostDigits = 20000

// pi returns pi with n digits, of which the last one is rounded (Machin's formula).
func pi(n int) string {
	const guard = 10
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n-1+guard)), nil)
	arctan := func(inverse int64) *big.Int {
		term := new(big.Int).Div(unit, big.NewInt(inverse))
		sum, square, part := new(big.Int).Set(term), big.NewInt(inverse*inverse), new(big.Int)
		for i := int64(3); term.Sign() != 0; i += 2 {
			term.Div(term, square)
			part.Div(term, big.NewInt(i))
			if i%4 == 3 {
				sum.Sub(sum, part)
			} else {
				sum.Add(sum, part)
			}
		}
		return sum
	}
	sum := new(big.Int).Mul(big.NewInt(16), arctan(5))
	sum.Sub(sum, new(big.Int).Mul(big.NewInt(4), arctan(239)))
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(guard), nil)
	sum.Add(sum, new(big.Int).Div(ten, big.NewInt(2))).Div(sum, ten)
	text := sum.String()
	return text[:1] + "." + text[1:]
}
