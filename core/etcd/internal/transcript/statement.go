package transcript

import (
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// statement is a line taken apart, and the lines indented below it.
type statement struct {
	verb string
	args []string
	opts map[string]string
	body []string
}

func parseStatement(line string) (*statement, error) {
	if strings.HasPrefix(strings.TrimSpace(line), "if ") {
		// A comparison is no list of options, although it may have a "=".
		return &statement{verb: "if"}, nil
	}
	verb, words, err := datadriven.ParseLine(line)
	if err != nil {
		return nil, mistake("%v", err)
	}
	s := &statement{verb: verb, opts: map[string]string{}}
	for _, w := range words {
		switch {
		case len(w.Vals) > 0:
			if s.opts[w.Key], err = expand(strings.Join(w.Vals, ",")); err != nil {
				return nil, err
			}
		case flags[w.Key]:
			s.opts[w.Key] = ""
		default:
			arg, err := expand(w.Key)
			if err != nil {
				return nil, err
			}
			s.args = append(s.args, arg)
		}
	}
	return s, nil
}

// flags are the words that are options and not arguments.
var flags = map[string]bool{
	"prefix": true, "from": true, "prev": true, "ignore-value": true, "ignore-lease": true, "keys": true,
	"count": true, "serializable": true, "no-put": true, "no-delete": true, "created": true, "progress": true,
	"fragment": true, "get": true,
}

// expand undoes escapes and repetition.
func expand(word string) (string, error) {
	text, err := strconv.Unquote(`"` + word + `"`)
	if err != nil {
		return "", mistake("%q: %v", word, err)
	}
	if one, times, ok := strings.Cut(text, "*"); ok {
		if n, err := strconv.Atoi(times); err == nil {
			return strings.Repeat(one, n), nil
		}
	}
	return text, nil
}

func (s *statement) arg(i int) string {
	if i < len(s.args) {
		return s.args[i]
	}
	return ""
}

func (s *statement) has(opt string) bool {
	_, ok := s.opts[opt]
	return ok
}

func (s *statement) number(i int) (int64, error) { return number(s.arg(i)) }

// optional returns the number that opt has, or 0.
func (s *statement) optional(opt string) (int64, error) {
	if !s.has(opt) {
		return 0, nil
	}
	return number(s.opts[opt])
}

func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, mistake("%v", err)
	}
	return n, nil
}

// options are those of gets, deletes and watches.
func (r *Runner) options(s *statement) ([]clientv3.OpOption, error) {
	var opts []clientv3.OpOption
	add := func(name string, o clientv3.OpOption) {
		if s.has(name) {
			opts = append(opts, o)
		}
	}
	add("prefix", clientv3.WithPrefix())
	add("from", clientv3.WithFromKey())
	add("end", clientv3.WithRange(s.opts["end"]))
	add("prev", clientv3.WithPrevKV())
	add("keys", clientv3.WithKeysOnly())
	add("count", clientv3.WithCountOnly())
	add("serializable", clientv3.WithSerializable())
	add("no-put", clientv3.WithFilterPut())
	add("no-delete", clientv3.WithFilterDelete())
	add("created", clientv3.WithCreatedNotify())
	add("progress", clientv3.WithProgressNotify())
	add("fragment", clientv3.WithFragment())
	add("ignore-value", clientv3.WithIgnoreValue())
	add("ignore-lease", clientv3.WithIgnoreLease())
	for _, o := range []struct {
		name string
		with func(int64) clientv3.OpOption
	}{
		{"rev", clientv3.WithRev},
		{"limit", clientv3.WithLimit},
		{"min-mod", clientv3.WithMinModRev},
		{"max-mod", clientv3.WithMaxModRev},
		{"min-create", clientv3.WithMinCreateRev},
		{"max-create", clientv3.WithMaxCreateRev},
	} {
		if s.has(o.name) {
			n, err := s.optional(o.name)
			if err != nil {
				return nil, err
			}
			opts = append(opts, o.with(n))
		}
	}
	if s.has("lease") {
		id, err := r.leaseID(s.opts["lease"])
		if err != nil {
			return nil, err
		}
		opts = append(opts, clientv3.WithLease(id))
	}
	if s.has("sort") {
		target, ok := map[string]clientv3.SortTarget{
			"key": clientv3.SortByKey, "version": clientv3.SortByVersion, "create": clientv3.SortByCreateRevision,
			"mod": clientv3.SortByModRevision, "value": clientv3.SortByValue,
		}[s.opts["sort"]]
		order, ok2 := map[string]clientv3.SortOrder{
			"": clientv3.SortNone, "ascend": clientv3.SortAscend, "descend": clientv3.SortDescend,
		}[s.opts["order"]]
		if !ok || !ok2 {
			return nil, mistake("unknown sort %q %q", s.opts["sort"], s.opts["order"])
		}
		opts = append(opts, clientv3.WithSort(target, order))
	}
	return opts, nil
}

// op makes the operation of a put, get, delete or txn.
func (r *Runner) op(s *statement) (clientv3.Op, error) {
	if s.verb == "txn" {
		return r.txn(s.body)
	}
	opts, err := r.options(s)
	if err != nil {
		return clientv3.Op{}, err
	}
	switch s.verb {
	case "put":
		return clientv3.OpPut(s.arg(0), s.arg(1), opts...), nil
	case "get":
		return clientv3.OpGet(s.arg(0), opts...), nil
	case "delete":
		return clientv3.OpDelete(s.arg(0), opts...), nil
	}
	return clientv3.Op{}, mistake("%q is not an operation of a transaction", s.verb)
}

// txn reads the body of a transaction. Lines that are indented more than a
// statement are its body.
func (r *Runner) txn(body []string) (clientv3.Op, error) {
	var cmps []clientv3.Cmp
	branches := map[string][]clientv3.Op{}
	branch := ""
	for i := 0; i < len(body); i++ {
		line := body[i]
		s, err := parseStatement(line)
		if err != nil {
			return clientv3.Op{}, err
		}
		for i+1 < len(body) && s.verb == "txn" && indent(body[i+1]) > indent(line) {
			i++
			s.body = append(s.body, body[i])
		}
		switch s.verb {
		case "if":
			cmp, err := r.compare(strings.Fields(line)[1:])
			if err != nil {
				return clientv3.Op{}, err
			}
			cmps = append(cmps, cmp)
		case "then", "else":
			branch = s.verb
		default:
			op, err := r.op(s)
			if err != nil {
				return clientv3.Op{}, err
			}
			branches[branch] = append(branches[branch], op)
		}
	}
	if len(branches[""]) > 0 {
		return clientv3.Op{}, mistake("an operation is in no branch")
	}
	return clientv3.OpTxn(cmps, branches["then"], branches["else"]), nil
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// compare reads mod(a) = 2 or mod(a,b) = 2, of the range from a to b.
func (r *Runner) compare(words []string) (clientv3.Cmp, error) {
	if len(words) != 3 {
		return clientv3.Cmp{}, mistake("a comparison has three words, not %q", words)
	}
	target, keys, ok := strings.Cut(strings.TrimSuffix(words[0], ")"), "(")
	if !ok {
		return clientv3.Cmp{}, mistake("%q is not a comparison", words[0])
	}
	key, end, ranged := strings.Cut(keys, ",")
	key, err := expand(key)
	if err != nil {
		return clientv3.Cmp{}, err
	}
	if end, err = expand(end); err != nil {
		return clientv3.Cmp{}, err
	}
	var cmp clientv3.Cmp
	var value any
	switch target {
	case "value":
		cmp = clientv3.Value(key)
		value, err = expand(words[2])
	case "lease":
		cmp = clientv3.LeaseValue(key)
		value, err = r.leaseID(words[2])
	case "mod":
		cmp = clientv3.ModRevision(key)
		value, err = number(words[2])
	case "create":
		cmp = clientv3.CreateRevision(key)
		value, err = number(words[2])
	case "version":
		cmp = clientv3.Version(key)
		value, err = number(words[2])
	default:
		err = mistake("%q cannot be compared", target)
	}
	if err != nil {
		return clientv3.Cmp{}, err
	}
	if ranged {
		cmp = cmp.WithRange(end)
	}
	return clientv3.Compare(cmp, words[1], value), nil
}
