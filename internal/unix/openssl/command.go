package openssl

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// versionText is what `openssl version` prints: the version that the program follows, and what it is made of.
const versionText = "OpenSSL 3.0.19 27 Jan 2026 (Library: crypto of Go)"

// command is one of the program's.
type command struct {
	usage  string // what stands behind "openssl"
	flags  string // options without a value, separated by blanks
	values string // options with a value
	digest bool   // the name of a digest is an option, too
	cipher bool   // that of a cipher is one of OpenSSL's
	free   bool   // arguments may follow the options
	do     func(*run) error
}

// commands are the program's by name.
var commands map[string]command

func init() {
	// Assigned here because help lists them.
	commands = map[string]command{
		"version": {usage: "version [-a]", flags: "a v b o f p d", do: version},
		"help":    {usage: "help [command]", free: true, do: help},
		"genrsa":  genrsaCommand, "genpkey": genpkeyCommand, "ecparam": ecparamCommand,
		"rsa": rsaCommand, "ec": ecCommand, "pkey": pkeyCommand,
		"req": reqCommand, "x509": x509Command, "verify": verifyCommand,
		"rand": randCommand, "base64": base64Command, "enc": encCommand, "dgst": dgstCommand, "passwd": passwdCommand,
	}
	for name := range digests {
		commands[name] = dgstCommand
	}
}

// missing are commands of OpenSSL that are not here, and what to do instead.
var missing = map[string]string{
	"s_client": "curl -v asks a server",
	"s_server": "a Pod serves", "s_time": "curl -w says how a server answers",
	"ca":     "x509 -req -CA and req -x509 -CA sign",
	"pkcs8":  "pkey writes PKCS#8, and rsa -traditional and ec the formats before it",
	"pkcs12": "certificates and keys are files in PEM", "pkcs7": "certificates are files in PEM",
	"crl2pkcs7": "x509 reads one certificate of a file, and verify all of -CAfile",
	"rsautl":    "dgst -sign and -verify sign", "pkeyutl": "dgst -sign and -verify sign", "mac": "dgst -hmac does",
	"gendsa": "genpkey makes keys", "dsa": "pkey reads keys", "dsaparam": "genpkey makes keys", "dhparam": "servers need none",
	"asn1parse": "x509 -text and req -text show", "cms": "", "crl": "", "ocsp": "", "ciphers": "", "speed": "", "smime": "",
	"ts": "", "kdf": "", "prime": "", "info": "", "list": "help lists", "storeutl": "", "rehash": "", "pkeyparam": "", "errstr": "",
	"nseq": "", "sess_id": "", "spkac": "", "srp": "", "engine": "", "fipsinstall": "", "cmp": "",
}

// run is one run of a command. What it prints is written when it has ended.
type run struct {
	*coreutils.Call
	command
	name   string // the command's
	given  []option
	digest string // the last digest among the options, "" for none
	rest   []string
	out    bytes.Buffer
	secret bool // out has a private key
}

// status is the error of a command that has said all it has to say.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Command is the program openssl. It runs the command of the first argument and returns what that exits with: 0; 1 when it
// fails, as a rule; 2 from verify; 130 when its context has ended.
func Command(k *coreutils.Call) int {
	if len(k.Args) == 0 {
		fmt.Fprint(k.Stdout, helpText())
		return 0
	}
	r := &run{Call: k, name: k.Args[0]}
	var is bool
	if r.command, is = commands[r.name]; !is {
		fmt.Fprintln(k.Stderr, unknown(r.name))
		return 1
	}
	err := r.parse(k.Args[1:])
	if err == nil {
		err = r.do(r)
	}
	said := status(0)
	if k.Err() == nil && (err == nil || errors.As(err, &said)) {
		if failed := r.flush(); failed != nil {
			err = failed
		}
	}
	switch {
	case k.Err() != nil:
		return 130 // and says nothing, as programs that are ended
	case err == nil:
		return 0
	case errors.As(err, &said):
		return int(said)
	}
	fmt.Fprintln(k.Stderr, err)
	return 1
}

// unknown says that there is no such command, and what to do instead.
func unknown(name string) string {
	instead, is := missing[name]
	if !is {
		return fmt.Sprintf("Invalid command '%s'; type \"help\" for a list.", name)
	}
	if instead != "" {
		instead = ": " + instead
	}
	return fmt.Sprintf("openssl %s is not there%s; type \"openssl help\" for a list.", name, instead)
}

func version(r *run) error {
	fmt.Fprintln(&r.out, versionText)
	return nil
}

// help lists the commands, or shows one's options.
func help(r *run) error {
	if len(r.rest) == 0 {
		r.out.WriteString(helpText())
		return nil
	}
	c, is := commands[r.rest[0]]
	if !is {
		return errors.New(unknown(r.rest[0]))
	}
	r.out.WriteString(c.summary())
	return nil
}

func helpText() string {
	var standard []string
	for name := range maps.Keys(commands) {
		if digests[name].new == nil {
			standard = append(standard, name)
		}
	}
	slices.Sort(standard)
	return "help:\n\nStandard commands\n" + columns(standard) + "\nMessage Digest commands (see the `dgst' command for more details)\n" +
		columns(slices.Sorted(maps.Keys(digests))) + "\nCommands of OpenSSL that are not there\n" + columns(slices.Sorted(maps.Keys(missing)))
}

// columns sets names in four columns.
func columns(names []string) string {
	var b strings.Builder
	for row := range slices.Chunk(names, 4) {
		for _, name := range row {
			fmt.Fprintf(&b, "%-18s", name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
