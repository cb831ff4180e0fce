package dns

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

// hosts is the plugin of that name.
type hosts struct {
	zones, next []string
	file        string
	files       Files
	lines       []string // in the Corefile
	ttl         int
	noReverse   bool
}

func (s *site) setupHosts(c *caddyfile.Dispenser) error {
	h := &hosts{file: "/etc/hosts", files: s.d.cfg.Files, ttl: 3600}
	for c.Next() {
		args := c.RemainingArgs()
		if len(args) > 0 {
			h.file, args = args[0], args[1:]
		}
		h.zones = s.zones(args)
		for c.NextBlock() {
			switch word := c.Val(); word {
			case "fallthrough":
				h.next = fallthroughTo(c)
			case "no_reverse":
				h.noReverse = true
			case "ttl":
				args := c.RemainingArgs()
				if len(args) == 0 {
					return c.Errf("ttl needs a time in second")
				}
				n, err := strconv.Atoi(args[0])
				if err != nil || n <= 0 || n > 65535 {
					return c.Errf("ttl provided is invalid")
				}
				h.ttl = n
			case "reload":
				c.RemainingArgs()
			default:
				h.lines = append(h.lines, word+" "+strings.Join(c.RemainingArgs(), " "))
			}
		}
	}
	s.hosts = h
	return nil
}

// answer returns false for what the next plugin answers.
func (h *hosts) answer(q Question) (Answer, bool) {
	if !among(q.Name, h.zones) {
		return Answer{}, false
	}
	lines := slices.Clone(h.lines)
	if data, err := h.files.ReadFile(h.file); err == nil {
		lines = slices.AppendSeq(lines, strings.Lines(string(data)))
	}
	a := Answer{Authoritative: true}
	known := false
	add := func(kind, data string) {
		known = true
		if q.Type == kind {
			a.Records = append(a.Records, Record{Name: q.Name + ".", Type: kind, Data: data, TTL: h.ttl})
		}
	}
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(strings.ToLower(line))
		if len(words) < 2 || net.ParseIP(words[0]) == nil {
			continue
		}
		kind := "A"
		if strings.Contains(words[0], ":") {
			kind = "AAAA"
		}
		reversed, _ := ReverseName(words[0])
		for _, name := range words[1:] {
			name = strings.TrimSuffix(name, ".")
			if q.Type == "PTR" && !h.noReverse && reversed == q.Name {
				add("PTR", name+".")
			}
			_, parent, _ := strings.Cut(q.Name, ".")
			if name == q.Name || name == "*."+parent {
				add(kind, words[0])
			}
		}
	}
	switch {
	case known:
		return a, true
	case among(q.Name, h.next):
		return Answer{}, false
	}
	return Answer{Code: ServerFailure}, true // as CoreDNS: a hosts file has no SOA
}
