package container

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// clients are the programs that images of servers have for talking to them, and others
// that end.
var clients map[string]func(*call) int

func init() {
	// Assigned here because commands run commands.
	clients = map[string]func(*call) int{
		"mysql": mysqlClient, "mariadb": mysqlClient, "mysqladmin": mysqlAdmin, "mariadb-admin": mysqlAdmin, "mysqldump": mysqlDump, "mariadb-dump": mysqlDump,
		"psql": psqlClient, "createdb": createDB, "dropdb": dropDB, "createuser": createUser, "pg_isready": pgIsReady,
		"perl": perl, "ncat": ncat, "xbstream": xbstream, "xtrabackup": xtrabackup,
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
