package conformance

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubetab/kubetab/core/etcd/internal/transcript"
)

var (
	seed     = flag.Uint64("seed", 0, "the seed of the only random session to hold; 0 is a few random ones")
	sessions = flag.Int("sessions", 4, "how many random sessions to hold")
)

// TestRandomSessions plays random operations to both stores. Each answer must be
// the same, and so must be what the watches saw in the end.
func TestRandomSessions(t *testing.T) {
	for range *sessions {
		s := *seed
		if s == 0 {
			s = rand.Uint64N(1_000_000)
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			t.Logf("repeat with: go test ./core/etcd/conformance -run TestRandomSessions -seed=%d", s)
			randomSession(t, rand.New(rand.NewPCG(s, s)))
		})
		if *seed != 0 {
			return
		}
	}
}

func randomSession(t *testing.T, rng *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mine, real := &transcript.Runner{Client: ours(t)}, &transcript.Runner{Client: realEtcd(t)}
	defer mine.Close()
	defer real.Close()
	g := &generator{rng: rng, rev: 1, watchText: map[string]string{}}
	var session []string
	// What etcd tells a watch that is behind when history is compacted depends on
	// how far it has come, so let it come to the end first.
	settle := func() {
		for _, w := range g.watches {
			got, want := mine.Play(ctx, "progress "+w), real.Play(ctx, "progress "+w)
			if got != want {
				// About once in a hundred sessions etcd's answer overtakes the events of
				// a watch that began in the past. They come, but after it.
				_, answer, _ := strings.Cut("\n"+want, "\nprogress ")
				want = strings.TrimSuffix(want, "progress "+answer) + real.Play(ctx, "progress "+w)
			}
			if got != want {
				t.Fatalf("%s: - etcd + this store\n%s", g.watchText[w], diff(want, got))
			}
		}
	}
	for range 1500 {
		text := g.statement()
		if strings.HasPrefix(text, "compact ") {
			settle()
		}
		session = append(session, text)
		got, want := mine.Play(ctx, text), real.Play(ctx, text)
		if got != want {
			from := max(0, len(session)-30)
			t.Fatalf("after\n%s\n\n- etcd + this store\n%s", strings.Join(session[from:], "\n"), diff(want, got))
		}
		g.learn(text, want)
	}
	settle()
}

func diff(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}

// generator makes up statements that are likely to meet each other: few keys,
// revisions about where the store is.
type generator struct {
	rng       *rand.Rand
	rev       int64
	compacted int64
	leases    []string
	watches   []string
	watchText map[string]string
	n         int
}

// learn takes the revision from an answer.
func (g *generator) learn(text, answer string) {
	var rev int64
	if _, err := fmt.Sscanf(answer, "rev=%d", &rev); err == nil {
		g.rev = max(g.rev, rev)
		if strings.HasPrefix(text, "compact ") {
			_, _ = fmt.Sscanf(text, "compact %d", &g.compacted)
		}
	}
}

func (g *generator) pick(from ...string) string { return from[g.rng.IntN(len(from))] }

func (g *generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func (g *generator) key() string {
	return g.pick("a", "a/", "a/b", "a/b/c", "a/c", "b", "b/a", "c", "\\x00", "\\xff", "a\\x00", "b/\\xff")
}

func (g *generator) value() string {
	g.n++
	return g.pick(fmt.Sprintf("v%d", g.n%7), fmt.Sprintf("v%d", g.n), "", fmt.Sprintf("x*%d", g.rng.IntN(300)))
}

func (g *generator) revision() int64 {
	switch g.rng.IntN(6) {
	case 0:
		return g.rev
	case 1:
		return g.rev + 1
	case 2:
		return g.compacted + int64(g.rng.IntN(3)) - 1
	case 3:
		return 0
	default:
		return g.rng.Int64N(g.rev + 1)
	}
}

func (g *generator) keys() string {
	switch g.rng.IntN(5) {
	case 0:
		return g.key() + " prefix"
	case 1:
		return g.key() + " from"
	case 2:
		return g.key() + " end=" + g.key()
	default:
		return g.key()
	}
}

func (g *generator) maybe(percent int, word string) string {
	if g.chance(percent) {
		return " " + word
	}
	return ""
}

func (g *generator) lease() string {
	if len(g.leases) == 0 || g.chance(5) {
		return "12345" // unknown
	}
	return g.leases[g.rng.IntN(len(g.leases))]
}

func (g *generator) put(key string) string {
	if g.chance(8) {
		return "put " + key + " " + " ignore-value" + g.maybe(30, "prev") + g.maybe(20, "ignore-lease")
	}
	text := "put " + key + " " + g.value() + g.maybe(30, "prev")
	if g.chance(8) {
		return text + " ignore-lease"
	}
	if g.chance(15) {
		return text + " lease=" + g.lease()
	}
	return text
}

func (g *generator) get() string {
	text := "get " + g.keys()
	text += g.maybe(10, "keys") + g.maybe(10, "count") + g.maybe(10, "serializable")
	if g.chance(40) {
		text += fmt.Sprintf(" rev=%d", g.revision())
	}
	if g.chance(30) {
		text += fmt.Sprintf(" limit=%d", g.rng.IntN(5))
	}
	if g.chance(30) {
		text += " sort=" + g.pick("key", "mod", "create") + g.pick("", " order=ascend", " order=descend")
	}
	for _, filter := range []string{"min-mod", "max-mod", "min-create", "max-create"} {
		if g.chance(8) {
			text += fmt.Sprintf(" %s=%d", filter, g.revision())
		}
	}
	return text
}

func (g *generator) delete() string { return "delete " + g.keys() + g.maybe(30, "prev") }

func (g *generator) txn(depth int) string {
	pad := strings.Repeat("  ", depth)
	lines := []string{"txn"}
	for range g.rng.IntN(3) {
		target := g.pick("mod", "create", "version", "value", "lease")
		keys := g.key()
		if g.chance(20) {
			keys += "," + g.key()
		}
		value := fmt.Sprint(g.rng.IntN(3))
		switch target {
		case "mod", "create":
			value = fmt.Sprint(g.revision())
		case "value":
			value = fmt.Sprintf("v%d", g.rng.IntN(7))
		case "lease":
			value = "0"
			if len(g.leases) > 0 && g.chance(50) {
				value = g.leases[g.rng.IntN(len(g.leases))]
			}
		}
		how := g.pick("=", "!=", ">", "<")
		if target == "lease" {
			how = g.pick("=", "!=") // the ids are random
		}
		lines = append(lines, fmt.Sprintf("%sif %s(%s) %s %s", pad, target, keys, how, value))
	}
	for _, branch := range []string{"then", "else"} {
		lines = append(lines, pad+branch)
		for range g.rng.IntN(4) {
			var op string
			switch g.rng.IntN(10) {
			case 0, 1, 2, 3:
				op = g.put(g.pick("a", "a/", "a/b", "a/b/c", "a/c", "\\x00", "a\\x00"))
			case 4, 5, 6:
				op = g.get()
			case 7, 8:
				// Keys that are not put, most of the time. Which overlaps are refused
				// is in a transcript: of those that are not, some make etcd 3.7.0
				// panic, at once or after the next compaction.
				op = "delete " + g.pick("b", "b/a", "c", "\\xff", "b/\\xff", "b end=c", "b prefix", "b/ prefix") + g.maybe(30, "prev")
			default:
				if depth > 2 {
					continue
				}
				op = g.txn(depth + 1)
			}
			lines = append(lines, pad+op)
		}
	}
	return strings.Join(lines, "\n")
}

func (g *generator) statement() string {
	switch p := g.rng.IntN(100); {
	case p < 25:
		return g.put(g.key())
	case p < 45:
		return g.get()
	case p < 53:
		return g.delete()
	case p < 68:
		return g.txn(1)
	case p < 70:
		return fmt.Sprintf("compact %d", g.revision())
	case p < 73:
		name := fmt.Sprintf("L%d", len(g.leases))
		g.leases = append(g.leases, name)
		return fmt.Sprintf("grant %s %d", name, 1000+g.rng.IntN(3))
	case p < 75:
		return "revoke " + g.lease()
	case p < 77:
		return g.pick("keepalive ", "ttl ") + g.lease()
	case p < 78:
		return "ttl " + g.lease() + " keys"
	case p < 79:
		return "leases"
	case p < 82 && len(g.watches) < 30:
		name := fmt.Sprintf("w%d", len(g.watches))
		g.watches = append(g.watches, name)
		// Not an empty range: etcd ends all watches of the client for that.
		text := "watch " + name + " " + g.pick(g.key(), g.key()+" prefix", g.key()+" from", "a end=b", "a/ end=c") + g.maybe(60, "prev") + g.maybe(10, "no-put") + g.maybe(10, "no-delete") + g.maybe(10, "fragment")
		if g.chance(50) {
			text += fmt.Sprintf(" rev=%d", g.rev)
		}
		g.watchText[name] = text
		return text
	case p < 86:
		return "stream " + g.keys() + g.maybe(10, "count") + fmt.Sprintf(" limit=%d", g.rng.IntN(4))
	case p < 90:
		return "create " + g.key() + " " + g.value() + g.maybe(50, "get")
	case p < 93:
		return fmt.Sprintf("update %s %s at=%d", g.key(), g.value(), g.revision()) + g.maybe(50, "get")
	case p < 95:
		return fmt.Sprintf("remove %s at=%d", g.key(), g.revision()) + g.maybe(50, "get")
	case p < 97:
		return fmt.Sprintf("list %s rev=%d limit=%d", g.key(), g.revision(), g.rng.IntN(3))
	case p < 98:
		return "count " + g.key()
	default:
		return fmt.Sprintf("read %s rev=%d", g.key(), g.revision())
	}
}
