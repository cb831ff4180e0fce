package container

import (
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"

	"github.com/kubetab/kubetab/core/internal/node/dns"
)

// oldBusybox matches images whose nslookup has another layout.
var oldBusybox = regexp.MustCompile(`busybox:1\.([0-9]|1[0-9]|2[0-8])(\.|-|$)`)

// question is what a program asks the DNS.
type question struct {
	name, kind, server string
}

// ask returns the answer to a question, and the name in full that it is for. With search, the Pod's search path is gone through.
func (k *call) ask(q question, search bool) ([]dns.Record, string, error) {
	network := k.session.c.cfg.Network
	names := []string{strings.TrimSuffix(q.name, ".")}
	if search {
		names = network.Resolver().Candidates(q.name)
	}
	var missing error
	for _, name := range names {
		asked := dns.Question{Name: strings.ToLower(strings.TrimSuffix(name, ".")), Type: q.kind}
		answer, err := network.Ask(k, q.server, asked)
		var records []dns.Record
		if err == nil {
			records, err = answer.Result(asked, q.server)
		}
		switch {
		case err == nil && (len(records) > 0 || name == names[len(names)-1]):
			return records, name, nil
		case err != nil && !dns.IsNotFound(err):
			return nil, name, err
		case err != nil:
			missing = err
		}
	}
	return nil, q.name, missing
}

// codeOf returns the code of the answer that led to err, false if there was none.
func codeOf(err error) (dns.Code, bool) {
	var code dns.Code
	switch {
	case err == nil:
		return dns.Success, true
	case dns.IsNotFound(err):
		return dns.NameError, true
	}
	return code, errors.As(err, &code)
}

// unreached prints what programs of bind say of a server that does not answer: they try three times.
func (k *call) unreached(q question, err error) {
	reason := "timed out"
	if !dns.IsTimeout(err) {
		reason = "connection refused"
	}
	fmt.Fprint(k.Stdout, strings.Repeat(fmt.Sprintf(";; communications error to %s#53: %s\n", k.server(q), reason), 3))
}

// server returns the address of the server that a question goes to.
func (k *call) server(q question) string {
	if q.server != "" {
		return q.server
	}
	if servers := k.session.c.cfg.Network.Resolver().Servers; len(servers) > 0 {
		return servers[0]
	}
	return "127.0.0.1"
}

// serverNamed resolves the server that a command names, and reports whether that is possible.
func (k *call) serverNamed(name string) (string, bool) {
	if name == "" {
		return "", true
	}
	addresses, _, err := k.session.c.cfg.Network.Lookup(k, name)
	if err != nil {
		return "", false
	}
	return addresses[0], true
}

// nslookup asks the DNS, and prints as bind's or busybox' does.
func nslookup(k *call) int {
	q := question{kind: "A"}
	var rest []string
	for _, arg := range k.Args {
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
			rest = append(rest, arg)
		case hasValue && strings.HasPrefix("querytype", strings.ToLower(name)) || hasValue && strings.EqualFold(name, "type"):
			q.kind = strings.ToUpper(value)
		}
	}
	if len(rest) == 0 {
		return k.Fail("missing name")
	}
	q.name = rest[0]
	if len(rest) > 1 {
		var ok bool
		if q.server, ok = k.serverNamed(rest[1]); !ok {
			return k.Fail("couldn't get address for '%s': not found", rest[1])
		}
	}
	asked := q.name
	search := true
	if reversed, ok := dns.ReverseName(q.name); ok {
		q.name, q.kind, search = reversed, "PTR", false
	}
	records, full, err := k.ask(q, search)
	image := k.session.c.cfg.Image
	isBind := image.Bash || image.hasAgnhost()
	code, isAnswered := codeOf(err)
	switch {
	case oldBusybox.MatchString(image.Name):
		return k.oldLookup(q, asked, records, err)
	case !isAnswered && isBind:
		k.unreached(q, err)
		fmt.Fprint(k.Stdout, ";; no servers could be reached\n\n")
		return 1
	case !isAnswered:
		if !dns.IsTimeout(err) {
			fmt.Fprintf(k.Stderr, "nslookup: write to '%s': Connection refused\n", k.server(q))
		}
		fmt.Fprint(k.Stdout, ";; connection timed out; no servers could be reached\n\n")
		return 1
	case isBind:
		fmt.Fprintf(k.Stdout, "Server:\t\t%s\nAddress:\t%s#53\n\n", k.server(q), k.server(q))
	default:
		fmt.Fprintf(k.Stdout, "Server:\t\t%s\nAddress:\t%s:53\n\n", k.server(q), k.server(q))
	}
	switch {
	case err != nil:
		fmt.Fprintf(k.Stdout, "** server can't find %s: %s\n\n", strings.TrimSuffix(q.name, "."), code)
		return 1
	case len(records) == 0:
		fmt.Fprintf(k.Stdout, "*** Can't find %s: No answer\n\n", full)
		return 0
	}
	for _, r := range records {
		name, data := strings.TrimSuffix(r.Name, "."), r.Data
		switch r.Type {
		case "A", "AAAA":
			fmt.Fprintf(k.Stdout, "Name:\t%s\nAddress: %s\n", name, data)
		case "CNAME":
			fmt.Fprintf(k.Stdout, "%s\tcanonical name = %s\n", name, data)
		case "PTR":
			fmt.Fprintf(k.Stdout, "%s\tname = %s\n", name, data)
		case "SRV":
			fmt.Fprintf(k.Stdout, "%s\tservice = %s\n", name, data)
		default:
			fmt.Fprintf(k.Stdout, "%s\t%s = %s\n", name, strings.ToLower(r.Type), data)
		}
	}
	fmt.Fprintln(k.Stdout)
	return 0
}

// oldLookup prints as busybox' did up to 1.28, which documentation uses.
func (k *call) oldLookup(q question, asked string, records []dns.Record, err error) int {
	fmt.Fprintf(k.Stdout, "Server:    %s\nAddress 1: %s\n\n", k.server(q), k.server(q))
	var addresses []string
	for _, r := range records {
		if r.Type == "A" || r.Type == "AAAA" {
			addresses = append(addresses, r.Data)
		}
	}
	if q.kind == "PTR" && err == nil {
		addresses = []string{asked}
	}
	if len(addresses) == 0 {
		fmt.Fprintf(k.Stderr, "nslookup: can't resolve '%s'\n", asked)
		return 1
	}
	fmt.Fprintf(k.Stdout, "Name:      %s\n", asked)
	for i, a := range addresses {
		fmt.Fprintf(k.Stdout, "Address %d: %s", i+1, a)
		if reversed, ok := dns.ReverseName(a); ok {
			if names, _, err := k.ask(question{name: reversed, kind: "PTR", server: q.server}, false); err == nil && len(names) > 0 {
				fmt.Fprint(k.Stdout, " "+strings.TrimSuffix(names[0].Data, "."))
			}
		}
		fmt.Fprintln(k.Stdout)
	}
	return 0
}

// dnsTypes are the types that dig and host take.
var dnsTypes = map[string]bool{"A": true, "AAAA": true, "ANY": true, "CNAME": true, "MX": true, "NS": true, "PTR": true, "SOA": true, "SRV": true, "TXT": true}

// dig asks the DNS, and prints the answer as a zone's file has it. It is long because each option changes what is asked or
// printed.
func dig(k *call) int {
	q := question{kind: "A"}
	// What is printed: the comments and the question, the answer, the statistics. Short is the data alone.
	comments, answers, statistics, short, search := true, true, true, false, false
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		next := func() string {
			if i+1 < len(k.Args) {
				i++
				return k.Args[i]
			}
			return ""
		}
		option, isOn := strings.CutPrefix(arg, "+")
		option, isOff := strings.CutPrefix(option, "no")
		switch {
		case isOn && option == "all":
			comments, answers, statistics = !isOff, !isOff, !isOff
		case isOn && option == "short":
			short = !isOff
		case isOn && option == "search":
			search = !isOff
		case isOn && option == "answer":
			answers = !isOff
		case isOn && (option == "comments" || option == "cmd" || option == "question"):
			comments = comments && !isOff
		case isOn && option == "stats":
			statistics = !isOff
		case isOn:
		case strings.HasPrefix(arg, "@"):
			var ok bool
			if q.server, ok = k.serverNamed(arg[1:]); !ok {
				fmt.Fprintf(k.Stderr, "dig: couldn't get address for '%s': not found\n", arg[1:])
				return 10
			}
		case arg == "-t":
			q.kind = strings.ToUpper(next())
		case arg == "-x":
			q.name, _ = dns.ReverseName(next())
			q.kind = "PTR"
		case arg == "-p" || arg == "-b" || arg == "-c":
			next()
		case strings.HasPrefix(arg, "-"):
		case dnsTypes[strings.ToUpper(arg)]:
			q.kind = strings.ToUpper(arg)
		case strings.EqualFold(arg, "in"):
		default:
			q.name = arg
		}
	}
	if q.name == "" {
		q.name, q.kind = ".", "NS"
	}
	records, full, err := k.ask(q, search)
	status, isAnswered := codeOf(err)
	if !isAnswered {
		k.unreached(q, err)
		fmt.Fprint(k.Stdout, ";; no servers could be reached\n")
		return 9
	}
	if short {
		for _, r := range records {
			fmt.Fprintln(k.Stdout, r.Data)
		}
		return 0
	}
	if comments {
		h := fnv.New32a()
		_, _ = h.Write([]byte(full))
		fmt.Fprintf(k.Stdout, "\n; <<>> DiG 9.18.33 <<>> %s\n;; global options: +cmd\n;; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: %s, id: %d\n;; flags: qr aa rd; QUERY: 1, ANSWER: %d, AUTHORITY: 0, ADDITIONAL: 1\n\n;; QUESTION SECTION:\n;%s.\t\tIN\t%s\n\n",
			strings.Join(k.Args, " "), status, h.Sum32()%65536, len(records), strings.TrimSuffix(full, "."), q.kind)
	}
	if answers && len(records) > 0 {
		if comments {
			fmt.Fprintln(k.Stdout, ";; ANSWER SECTION:")
		}
		for _, r := range records {
			fmt.Fprintf(k.Stdout, "%s\t%d\tIN\t%s\t%s\n", r.Name, r.TTL, r.Type, r.Data)
		}
		if comments {
			fmt.Fprintln(k.Stdout)
		}
	}
	if statistics {
		fmt.Fprintf(k.Stdout, ";; Query time: 0 msec\n;; SERVER: %s#53(%s) (UDP)\n;; WHEN: %s\n;; MSG SIZE  rcvd: %d\n\n",
			k.server(q), k.server(q), k.session.Clock().Now().UTC().Format("Mon Jan 02 15:04:05 UTC 2006"), 64+64*len(records))
	}
	return 0
}

// hostCommand asks the DNS, and prints sentences.
func hostCommand(k *call) int {
	f := k.Flags("tcWR")
	if len(f.Rest) == 0 {
		return k.Fail("missing name")
	}
	q := question{name: f.Rest[0], kind: "A"}
	if t := f.Value['t']; t != "" {
		q.kind = strings.ToUpper(t)
	}
	if len(f.Rest) > 1 {
		var ok bool
		if q.server, ok = k.serverNamed(f.Rest[1]); !ok {
			return k.Fail("couldn't get address for '%s': not found", f.Rest[1])
		}
		fmt.Fprintf(k.Stdout, "Using domain server:\nName: %s\nAddress: %s#53\nAliases: \n\n", f.Rest[1], q.server)
	}
	asked, search := q.name, true
	if reversed, ok := dns.ReverseName(q.name); ok {
		q.name, q.kind, search = reversed, "PTR", false
		asked = reversed + "."
	}
	records, full, err := k.ask(q, search)
	switch code, isAnswered := codeOf(err); {
	case !isAnswered:
		k.unreached(q, err)
		fmt.Fprintln(k.Stdout, ";; no servers could be reached")
		return 1
	case err != nil:
		fmt.Fprintf(k.Stdout, "Host %s not found: %d(%s)\n", asked, map[dns.Code]int{dns.ServerFailure: 2, dns.NameError: 3, dns.Refused: 5}[code], code)
		return 1
	case len(records) == 0:
		fmt.Fprintf(k.Stdout, "%s has no %s record\n", full, q.kind)
		return 1
	}
	for _, r := range records {
		says := map[string]string{"A": "has address", "AAAA": "has IPv6 address", "CNAME": "is an alias for", "PTR": "domain name pointer", "SRV": "has SRV record"}[r.Type]
		fmt.Fprintf(k.Stdout, "%s %s %s\n", strings.TrimSuffix(r.Name, "."), says, r.Data)
	}
	return 0
}
