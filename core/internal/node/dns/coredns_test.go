package dns_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubetab/kubetab/core/internal/node/dns"
)

// files are those of a container, by their names.
type files map[string]string

func (f files) ReadFile(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (f files) Names(folder string) []string {
	var all []string
	for name := range f {
		if path.Dir(name) == folder {
			all = append(all, path.Base(name))
		}
	}
	slices.Sort(all)
	return all
}

// machine is one that CoreDNS runs on.
type machine struct {
	files
	clock  *testclock.FakePassiveClock
	log    strings.Builder
	looped int
}

const corefile = "/etc/coredns/Corefile"

func newMachine(text string) *machine {
	return &machine{files: files{corefile: text}, clock: testclock.NewFakePassiveClock(time.Unix(1800000000, 0))}
}

// start starts CoreDNS. The cluster has the Service web in the namespace shop; 10.9.9.9 knows example.org alone, and nothing
// listens at other addresses, or, at 10.9.9.8, nobody answers.
func (m *machine) start() (*dns.CoreDNS, error) {
	return dns.New(dns.Config{
		Version: "1.14.6", Clock: m.clock, Files: m, File: corefile, Log: &m.log,
		Env: func(name string) string {
			return map[string]string{"ZONE": "env.test", "NESTED": "{$ZONE}", "HOME": "/root"}[name]
		},
		Cluster: func(q dns.Question) ([]dns.Record, bool) {
			switch q.Name {
			case "web.shop.svc.cluster.local":
				if q.Type != "A" {
					return nil, true
				}
				return []dns.Record{{Name: q.Name + ".", Type: "A", Data: "10.0.0.77"}}, true
			case "10-244-0-5.shop.pod.cluster.local":
				return []dns.Record{{Name: q.Name + ".", Type: "A", Data: "10.244.0.5"}}, true
			case "one.pod.svc.svc.cluster.local":
				return []dns.Record{{Name: q.Name + ".", Type: "A", Data: "10.244.0.6"}}, true
			case "77.0.0.10.in-addr.arpa":
				return []dns.Record{{Name: q.Name + ".", Type: "PTR", Data: "web.shop.svc.cluster.local."}}, true
			}
			return nil, false
		},
		Ask: func(_ context.Context, server string, q dns.Question) (dns.Answer, error) {
			switch {
			case server == "10.9.9.8":
				return dns.Answer{}, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
			case server == "10.9.9.9:5353":
				return dns.Answer{Code: dns.Success, Records: []dns.Record{{Name: "example.org.", Type: "A", Data: "192.0.2.53", TTL: 60}}}, nil
			case server != "10.9.9.9":
				return dns.Answer{}, errors.New("connection refused")
			case q.Name == "example.org":
				return dns.Answer{Code: dns.Success, Records: []dns.Record{{Name: "example.org.", Type: "A", Data: "192.0.2.1", TTL: 60}}}, nil
			}
			return dns.Answer{Code: dns.NameError}, nil
		},
		Servers: func() []string { return []string{"10.9.9.9"} },
		Looped:  func() { m.looped++ },
	})
}

// said is an answer in a line.
func said(a dns.Answer) string {
	text := string(a.Code)
	if a.Authoritative {
		text += " aa"
	}
	for _, r := range a.Records {
		text += fmt.Sprintf(" %s %d %s %s", r.Name, r.TTL, r.Type, r.Data)
	}
	return text
}

// TestCorefiles has each in the words of CoreDNS 1.14.6, started with it as /etc/coredns/Corefile.
func TestCorefiles(t *testing.T) {
	for text, want := range map[string]string{
		".:53 {\n errors\n readi\n}\n":                        corefile + ":3 - Error during parsing: Unknown directive 'readi'",
		".:53 {\n forward . 10.9.9.9 {\n max_conc 3\n }\n}\n": "plugin/forward: " + corefile + ":3 - Error during parsing: unknown property 'max_conc'",
		".:53 {\n kubernetes cluster.local {\n podz a\n }\n}": "plugin/kubernetes: " + corefile + ":3 - Error during parsing: unknown property 'podz'",
		".:53 {\n health {\n lameduck x\n }\n}\n":             "plugin/health: unable to parse lameduck duration value: 'x' : time: invalid duration \"x\"",
		".:53 {\n rewrite name suffux a b\n}\n":               "plugin/rewrite: name rule supports only exact, prefix, suffix, substring, and regex name matching, received: suffux",
		".:53 {\n reload 1s\n}\n":                             "plugin/reload: interval value must be greater or equal to 2s",
		".:53 {\n errors\nexample.org {\n whoami\n}\n":        corefile + ":3 - Error during parsing: Unknown directive 'example.org'",
		".:53 {\n forward .\n}\n":                             "plugin/forward: " + corefile + ":2 - Error during parsing: Wrong argument count or unexpected line ending after '.'",
		".:53 {\n import other\n}\n":                          corefile + ":2 - Error during parsing: File to import not found: other",
		".:53 {\n import " + corefile + "\n}\n":               strings.Repeat(corefile+":2 - Error during parsing: ", 9) + "maximum file import depth exceeded",
		".:53 {\n hosts \"import\"\n}\n":                      corefile + ":2: import can only begin a line",
		".:53 {\n im\rport /etc/hosts\n}\n":                   corefile + ":2: import can only begin a line",
		".:53 {\n forward {\r$PATH}\n}\n":                     corefile + ":2: a variable can only have its name in braces",
	} {
		_, err := newMachine(text).start()
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n%v, want\n%s", text, err, want)
		}
	}
	m := newMachine("")
	delete(m.files, corefile)
	if _, err := m.start(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

// TestSumOfACorefile has what CoreDNS prints for this one, which is in many people's logs: that of kubeadm up to 1.30.
func TestSumOfACorefile(t *testing.T) {
	m := newMachine(`.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`)
	d, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	if want := ".:53\n[INFO] plugin/reload: Running configuration SHA512 = 591cf328cccc12bc490481273e738df59329c62c0b729d94e8b61db9961c2fa5f046dd37f1cf888b953814040d180f52594972691cd6ff41be96639138a43908\nCoreDNS-1.14.6\n"; !strings.HasPrefix(m.log.String(), want) {
		t.Errorf("it prints\n%s, want\n%s", m.log.String(), want)
	}
	questions, requests := d.Ports()
	if diff := cmp.Diff(fmt.Sprint([]int{53}, map[int][]string{8080: {"/health"}, 8181: {"/ready"}, 9153: {"/metrics"}}), fmt.Sprint(questions, requests)); diff != "" || d.Lameduck() != 5*time.Second {
		t.Errorf("%s %s", diff, d.Lameduck())
	}
}

func TestAnswers(t *testing.T) {
	const kubernetes = " kubernetes cluster.local in-addr.arpa {\n  pods insecure\n  fallthrough in-addr.arpa\n  ttl 30\n }\n"
	for _, test := range []struct{ corefile, question, want string }{
		{kubernetes, "web.shop.svc.cluster.local A", "NOERROR aa web.shop.svc.cluster.local. 30 A 10.0.0.77"},
		{kubernetes, "web.shop.svc.cluster.local AAAA", "NOERROR aa"},
		{kubernetes, "nothing.shop.svc.cluster.local A", "NXDOMAIN aa"},
		{kubernetes, "cluster.local A", "NOERROR aa"},
		{kubernetes, "10-244-0-5.shop.pod.cluster.local A", "NOERROR aa 10-244-0-5.shop.pod.cluster.local. 30 A 10.244.0.5"},
		{kubernetes, "77.0.0.10.in-addr.arpa PTR", "NOERROR aa 77.0.0.10.in-addr.arpa. 30 PTR web.shop.svc.cluster.local."},
		{kubernetes, "78.0.0.10.in-addr.arpa PTR", "SERVFAIL"},
		{kubernetes, "example.org A", "SERVFAIL"},
		{" kubernetes cluster.local 10.0.0.0/24", "web.shop.svc.cluster.local A", "NOERROR aa web.shop.svc.cluster.local. 5 A 10.0.0.77"},
		{" kubernetes cluster.local 10.0.0.0/24", "78.0.0.10.in-addr.arpa PTR", "NXDOMAIN aa"},
		{" kubernetes cluster.local 10.0.0.0/24", "10-244-0-5.shop.pod.cluster.local A", "NXDOMAIN aa"},
		{" kubernetes cluster.local {\n namespaces other\n }", "web.shop.svc.cluster.local A", "NXDOMAIN aa"},
		{" kubernetes cluster.local {\n namespaces svc\n }", "one.pod.svc.svc.cluster.local A", "NOERROR aa one.pod.svc.svc.cluster.local. 5 A 10.244.0.6"},
		{kubernetes + " forward . /etc/resolv.conf", "example.org A", "NOERROR example.org. 60 A 192.0.2.1"},
		{kubernetes + " forward . /etc/resolv.conf", "example.net A", "NXDOMAIN"},
		{" forward . 10.9.9.1 dns://10.9.9.9:53", "example.org A", "NOERROR example.org. 60 A 192.0.2.1"},
		{" forward . 10.9.9.9 {\n except example.org\n }", "example.org A", "SERVFAIL"},
		{" forward . 10.9.9.9:5353 10.9.9.9", "example.org A", "NOERROR example.org. 60 A 192.0.2.53"},
		{" forward example.org 10.9.9.9", "example.net A", "SERVFAIL"},
		{" hosts {\n 10.1.1.1 a.test b.test # c.test\n fd00::1 a.test\n fallthrough\n }\n forward . 10.9.9.9", "b.test A", "NOERROR aa b.test. 3600 A 10.1.1.1"},
		{" hosts {\n 10.1.1.1 a.test\n fd00::1 a.test\n fallthrough\n }\n forward . 10.9.9.9", "a.test AAAA", "NOERROR aa a.test. 3600 AAAA fd00::1"},
		{" hosts {\n 10.1.1.1 a.test\n fallthrough\n }\n forward . 10.9.9.9", "a.test AAAA", "NOERROR aa"},
		{" hosts {\n 10.1.1.1 a.test\n fallthrough\n }\n forward . 10.9.9.9", "1.1.1.10.in-addr.arpa PTR", "NOERROR aa 1.1.1.10.in-addr.arpa. 3600 PTR a.test."},
		{" hosts {\n 10.1.1.1 a.test\n fallthrough\n }\n forward . 10.9.9.9", "example.org A", "NOERROR example.org. 60 A 192.0.2.1"},
		{" hosts {\n ttl 7\n 10.1.1.1 *.test\n }\n forward . 10.9.9.9", "any.test A", "NOERROR aa any.test. 7 A 10.1.1.1"},
		{" hosts {\n 10.1.1.1 *.test\n }\n forward . 10.9.9.9", "deep.any.test A", "SERVFAIL"},
		{" hosts /etc/more test", "more.test A", "NOERROR aa more.test. 3600 A 10.1.1.2"},
		{" rewrite name old.test web.shop.svc.cluster.local\n" + kubernetes, "old.test A", "NOERROR aa old.test. 30 A 10.0.0.77"},
		{" rewrite name suffix .old.test .svc.cluster.local\n" + kubernetes, "web.shop.old.test A", "NOERROR aa web.shop.svc.cluster.local. 30 A 10.0.0.77"},
		{" rewrite name suffix .old.test .svc.cluster.local answer auto\n" + kubernetes, "web.shop.old.test A", "NOERROR aa web.shop.old.test. 30 A 10.0.0.77"},
		{" rewrite stop {\n name regex (.*)-(.*)\\.test {1}.{2}.svc.cluster.local\n answer name (.*)\\.(.*)\\.svc\\.cluster\\.local {1}-{2}.test\n }\n" + kubernetes, "web-shop.test A", "NOERROR aa web-shop.test. 30 A 10.0.0.77"},
		{" rewrite name prefix www- web\n rewrite name substring shopping shop\n" + kubernetes, "web.shopping.svc.cluster.local A", "NOERROR aa web.shop.svc.cluster.local. 30 A 10.0.0.77"},
		{" rewrite continue name prefix w- w\n rewrite name exact web.test web.shop.svc.cluster.local\n" + kubernetes, "w-eb.test A", "NOERROR aa web.test. 30 A 10.0.0.77"},
		{" rewrite name first.test next.test\n rewrite name next.test web.shop.svc.cluster.local\n" + kubernetes, "first.test A", "SERVFAIL"},
		{" rewrite type ANY A\n" + kubernetes, "web.shop.svc.cluster.local ANY", "NOERROR aa web.shop.svc.cluster.local. 30 A 10.0.0.77"},
		{" errors\n loadbalance", "example.org A", "REFUSED"},
		{" import snip\n}\nexample.net {\n import custom/*.override", "a.example.net A", "NOERROR aa a.example.net. 3600 A 10.1.1.3"},
		{" hosts /none {$ZONE} {\n 10.1.1.4 env.test\n }", "env.test A", "NOERROR aa env.test. 3600 A 10.1.1.4"},
		{" hosts /none {$NESTED} {\n 10.1.1.4 env.test\n }", "env.test A", "NOERROR aa env.test. 3600 A 10.1.1.4"},
	} {
		m := newMachine("(snip) {\n errors\n}\n. {\n" + test.corefile + "\n}\n")
		m.files["/etc/more"] = "10.1.1.2 more.test\n"
		m.files["/etc/coredns/custom/a.override"] = "hosts {\n 10.1.1.3 a.example.net\n}\n"
		d, err := m.start()
		if err != nil {
			t.Errorf("%s: %v", test.corefile, err)
			continue
		}
		name, kind, _ := strings.Cut(test.question, " ")
		if got := said(d.Answer(t.Context(), 53, "10.244.0.9", dns.Question{Name: name, Type: kind})); got != test.want {
			t.Errorf("%s\n%s: %s, want %s", test.corefile, test.question, got, test.want)
		}
	}
}

// TestTheLongestZoneAnswers is the use of a stub domain. Zones that nobody serves are refused, and so is another port.
func TestTheLongestZoneAnswers(t *testing.T) {
	d, err := newMachine("test, sub.test:53 {\n prometheus :9153\n forward . 10.9.9.1\n}\nown.sub.test {\n prometheus :9153\n hosts {\n  10.1.1.1 a.own.sub.test\n }\n}\nquiet.test {\n hosts {\n  10.1.1.2 a.quiet.test\n }\n}\n").start()
	if err != nil {
		t.Fatal(err)
	}
	if _, requests := d.Ports(); len(requests[9153]) != 1 {
		t.Errorf("what is in several server blocks is at port 9153 as %q", requests[9153])
	}
	for name, want := range map[string]string{"a.own.sub.test": "NOERROR aa a.own.sub.test. 3600 A 10.1.1.1", "b.sub.test": "SERVFAIL", "a.quiet.test": "NOERROR aa a.quiet.test. 3600 A 10.1.1.2", "example.org": "REFUSED"} {
		if got := said(d.Answer(t.Context(), 53, "10.244.0.9", dns.Question{Name: name, Type: "A"})); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for line, want := range map[string]bool{
		`coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",view="",zone="own.sub.test.",type="A"} 1`: true,
		`coredns_dns_responses_total{plugin="",rcode="SERVFAIL",server="dns://:53",view="",zone="sub.test."} 1`:         true,
		`coredns_dns_requests_total{family="1",proto="udp",server="dns://:53",view="",zone="quiet.test.",type="A"} 1`:   false,
	} {
		if strings.Contains(d.Metrics(), line+"\n") != want {
			t.Errorf("counted %v: %s in\n%s", !want, line, d.Metrics())
		}
	}
	if got := said(d.Answer(t.Context(), 5353, "10.244.0.9", dns.Question{Name: "a.own.sub.test", Type: "A"})); got != "REFUSED" {
		t.Errorf("another port: %s", got)
	}
	if _, err := newMachine("a.test {\n}\na.test:53 {\n}\n").start(); err == nil || err.Error() != "cannot serve dns://a.test.:53 - it is already defined" {
		t.Errorf("a zone twice: %v", err)
	}
}

// TestLog has lines as CoreDNS writes them but for ports, numbers and times; their sizes are those on the line.
func TestLog(t *testing.T) {
	m := newMachine(".:53 {\n errors\n log\n kubernetes cluster.local {\n  ttl 30\n }\n forward . 10.9.9.8 10.9.9.1\n}\nquiet.test {\n log . {\n  class denial error\n }\n log other.test \"{name} {combined}\"\n hosts {\n  10.1.1.1 a.quiet.test\n }\n}\n")
	d, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	m.log.Reset()
	for _, q := range []dns.Question{{"web.shop.svc.cluster.local", "A"}, {"web.shop.svc.cluster.local", "AAAA"}, {"kubernetes.default.default.svc.cluster.local", "A"}, {"example.org", "A"}, {"a.quiet.test", "A"}, {"b.quiet.test", "A"}} {
		d.Answer(t.Context(), 53, "10.244.0.9", q)
	}
	got := regexp.MustCompile(`:\d+ - \d+ `).ReplaceAllString(m.log.String(), ":PORT - ID ")
	got = regexp.MustCompile(` 0\.\d+s`).ReplaceAllString(got, " TIME")
	want := `[INFO] 10.244.0.9:PORT - ID "A IN web.shop.svc.cluster.local. udp 44 false 512" NOERROR qr,aa,rd 86 TIME
[INFO] 10.244.0.9:PORT - ID "AAAA IN web.shop.svc.cluster.local. udp 44 false 512" NOERROR qr,aa,rd 137 TIME
[INFO] 10.244.0.9:PORT - ID "A IN kubernetes.default.default.svc.cluster.local. udp 62 false 512" NXDOMAIN qr,aa,rd 155 TIME
[INFO] 10.244.0.9:PORT - ID "A IN example.org. udp 29 false 512" SERVFAIL qr,rd 29 TIME
[ERROR] plugin/errors: 2 example.org. A: read udp 10.9.9.1:53: read: connection refused
[INFO] 10.244.0.9:PORT - ID "A IN b.quiet.test. udp 30 false 512" SERVFAIL qr,rd 30 TIME
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestPluginsWithoutAnEffect are told where one would wait for an effect.
func TestPluginsWithoutAnEffect(t *testing.T) {
	m := newMachine("a.test {\n cache 30\n loadbalance\n acl {\n  block type AXFR\n }\n template IN A {\n  answer \"{{ .Name }} 60 IN A 10.1.1.1\"\n }\n hosts\n}\n")
	if _, err := m.start(); err != nil {
		t.Fatal(err)
	}
	const want = `[WARNING] plugin/acl: not simulated, it has no effect here
[WARNING] plugin/template: not simulated, it has no effect here
a.test.:53
`
	if !strings.HasPrefix(m.log.String(), want) {
		t.Errorf("the log is\n%s", m.log.String())
	}
}

// TestReload has the Corefile read again after the interval, once told what is wrong with it, and not without the plugin.
func TestReload(t *testing.T) {
	site := func(address, more string) string {
		return ".:53 {\n hosts {\n  " + address + " a.test\n }\n reload 10s\n" + more + "}\n"
	}
	m := newMachine(site("10.1.1.1", ""))
	d, err := m.start()
	if err != nil {
		t.Fatal(err)
	}
	answers := func(want string) {
		t.Helper()
		if got := said(d.Answer(t.Context(), 53, "10.244.0.9", dns.Question{Name: "a.test", Type: "A"})); got != "NOERROR aa a.test. 3600 A "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	m.files[corefile] = site("10.1.1.2", "")
	if d.Refresh() {
		t.Error("it is read at once")
	}
	answers("10.1.1.1")
	m.clock.SetTime(m.clock.Now().Add(10 * time.Second))
	m.log.Reset()
	if !d.Refresh() || !strings.HasPrefix(m.log.String(), "[INFO] Reloading\n[INFO] plugin/reload: Running configuration SHA512 = ") || !strings.HasSuffix(m.log.String(), "\n[INFO] Reloading complete\n") {
		t.Errorf("it prints %s", m.log.String())
	}
	answers("10.1.1.2")
	m.files[corefile] = site("10.1.1.3", " loop\n looop\n")
	m.log.Reset()
	for range 2 {
		m.clock.SetTime(m.clock.Now().Add(10 * time.Second))
		if d.Refresh() {
			t.Error("it takes what is wrong")
		}
	}
	const wrong = corefile + ":7 - Error during parsing: Unknown directive 'looop'"
	if want := "[INFO] Reloading\n[ERROR] Restart failed: " + wrong + "\n[ERROR] plugin/reload: Corefile changed but reload failed: starting with listener file descriptors: " + wrong + "\n"; m.log.String() != want {
		t.Errorf("it prints\n%s, want\n%s", m.log.String(), want)
	}
	answers("10.1.1.2")
	m.files[corefile] = strings.Replace(site("10.1.1.4", ""), " reload 10s\n", "", 1)
	m.clock.SetTime(m.clock.Now().Add(10 * time.Second))
	if !d.Refresh() {
		t.Error("what is mended is not read")
	}
	answers("10.1.1.4")
	m.files[corefile] = site("10.1.1.5", "")
	m.clock.SetTime(m.clock.Now().Add(time.Hour))
	if d.Refresh() {
		t.Error("it is read without the plugin")
	}
}

// TestQuestionsThatComeBack has one that sends its questions to itself end with the plugin loop, and fail without it.
func TestQuestionsThatComeBack(t *testing.T) {
	for _, loop := range []bool{true, false} {
		text := ".:53 {\n forward . 10.9.9.7\n}\n"
		if loop {
			text = ".:53 {\n loop\n forward . 10.9.9.7\n}\n"
		}
		m := newMachine(text)
		var d *dns.CoreDNS
		d, err := dns.New(dns.Config{
			Clock: m.clock, Files: m, File: corefile, Log: &m.log, Env: func(string) string { return "" }, Looped: func() { m.looped++ },
			Ask: func(ctx context.Context, _ string, q dns.Question) (dns.Answer, error) {
				return d.Answer(ctx, 53, "10.244.0.2", q), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := said(d.Answer(t.Context(), 53, "10.244.0.9", dns.Question{Name: "example.org", Type: "A"}))
		if got != "SERVFAIL" || (m.looped == 1) != loop || strings.Contains(m.log.String(), `[FATAL] plugin/loop: Loop (10.244.0.2 -> :53) detected for zone "."`) != loop {
			t.Errorf("with loop %v: %s, ended %d times, %s", loop, got, m.looped, m.log.String())
		}
	}
}
