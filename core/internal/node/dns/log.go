package dns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coredns/caddy/caddyfile"
)

// logRule is a line of the plugin log.
type logRule struct {
	zone    string
	format  string
	classes []string // success, denial, error; empty: all
}

const commonLog = `{remote}:{port} - {>id} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration}`

func (s *site) setupLog(c *caddyfile.Dispenser) error {
	for c.Next() {
		args := c.RemainingArgs()
		format := commonLog
		if n := len(args); n > 1 && strings.Contains(args[n-1], "{") {
			format = strings.NewReplacer("{common}", commonLog, "{combined}", commonLog+` "{>opcode}"`).Replace(args[n-1])
			args = args[:n-1]
		}
		if len(args) == 0 {
			args = []string{"."}
		}
		var classes []string
		for c.NextBlock() {
			if c.Val() != "class" {
				return c.Errf("unknown property '%s'", c.Val())
			}
			more := c.RemainingArgs()
			if len(more) == 0 {
				return c.ArgErr()
			}
			for _, class := range more {
				if !slices.Contains([]string{"all", "success", "denial", "error"}, class) {
					return fmt.Errorf("invalid Class: %s", class)
				}
			}
			classes = append(classes, more...)
		}
		if slices.Contains(classes, "all") {
			classes = nil
		}
		for _, zone := range args {
			s.logs = append(s.logs, logRule{zoneOf(zone), format, classes})
		}
	}
	return nil
}

// log writes the line of the first rule that is for a question.
func (s *site) log(from string, q Question, a Answer, took time.Duration) {
	class := "error"
	switch {
	case a.Code == NameError || a.Code == Success && len(a.Records) == 0:
		class = "denial"
	case a.Code == Success:
		class = "success"
	}
	for _, rule := range s.logs {
		if !Within(q.Name, rule.zone) || len(rule.classes) > 0 && !slices.Contains(rule.classes, class) {
			continue
		}
		flags := "qr,rd"
		switch {
		case a.Authoritative:
			flags = "qr,aa,rd"
		case a.Code != ServerFailure && a.Code != Refused:
			flags = "qr,rd,ra"
		}
		size := 12 + len(q.Name) + 2 + 4
		answered := size
		for _, r := range a.Records {
			answered += len(r.Name) + 1 + 10 + dataSize(r)
		}
		if a.Authoritative && class == "denial" { // the zone's SOA
			answered += len("cluster.local") + 2 + 10 + len("ns.dns.cluster.local") + 2 + len("hostmaster.cluster.local") + 2 + 20
		}
		s.d.printf("[INFO] %s", strings.NewReplacer(
			"{remote}", from, "{port}", strconv.Itoa(32768+rand.IntN(28232)), "{>id}", strconv.Itoa(rand.IntN(1<<16)), "{type}", q.Type, "{class}", "IN",
			"{name}", q.Name+".", "{proto}", "udp", "{size}", strconv.Itoa(size), "{>do}", "false", "{>bufsize}", "512", "{>opcode}", "0",
			"{rcode}", string(a.Code), "{>rflags}", flags, "{rsize}", strconv.Itoa(answered), "{duration}", strconv.FormatFloat(took.Seconds(), 'f', -1, 64)+"s",
		).Replace(rule.format))
		return
	}
}

// dataSize is how many bytes the data of a record take on the line.
func dataSize(r Record) int {
	switch r.Type {
	case "A":
		return 4
	case "AAAA":
		return 16
	case "SRV":
		return 6 + len(r.Data[strings.LastIndexByte(r.Data, ' ')+1:]) + 1
	}
	return len(r.Data) + 1
}
