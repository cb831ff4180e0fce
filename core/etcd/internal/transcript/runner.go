// Package transcript plays etcd operations, one per line, against a client and
// writes down the answers, so that a test reads like a session and the same
// session can be held with this store and with a real etcd.
//
//	put a 1                 write: lease=L prev ignore-value ignore-lease
//	get a                   read: end=b prefix from rev=2 limit=1 sort=mod order=descend keys count
//	                        min-mod=2 max-mod=3 min-create=2 max-create=3 serializable
//	stream a prefix         read, in chunks
//	delete a                remove: end=b prefix from prev
//	txn                     transaction; its parts are indented, and may be transactions
//	  if mod(a) = 2
//	  then
//	    put a 2
//	  else
//	    get a
//	compact 5               forget history
//	grant L 10              leases, by a name of the transcript; also revoke L, keepalive L,
//	                        ttl L [keys], leases
//	watch w a               begin to watch: end=b prefix from rev=2 prev no-put no-delete created progress fragment
//	events w 3              wait until w has 3 more events (being made is one), or its end, and print them
//	progress w              ask for progress until w answers; prints all that came before
//	cancel w                end the watch
//	create k v | update k v at=2 | remove k at=2 | read k [rev=2] | list p [limit=1 from=k rev=2] | count p
//	                        the same through kubernetes.Interface: lease=L get
//
// In names and values, \x00 and the like are what Go makes of them, and x*9 is
// nine times x.
package transcript

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// Runner holds one session. It is not safe for concurrent use.
type Runner struct {
	Client *kubernetes.Client

	leases  map[string]clientv3.LeaseID
	watches map[string]*watch
}

// Close ends the watches of the session.
func (r *Runner) Close() {
	for _, w := range r.watches {
		w.stop()
	}
}

// Block plays a datadriven directive: its line, with its input as what is indented
// below it.
func (r *Runner) Block(ctx context.Context, d *datadriven.TestData) string {
	words := []string{d.Cmd}
	for _, a := range d.CmdArgs {
		word := a.Key
		if len(a.Vals) > 0 {
			word += "=" + strings.Join(a.Vals, ",")
		}
		words = append(words, word)
	}
	text := strings.Join(words, " ")
	if d.Input != "" {
		text += "\n" + d.Input
	}
	return r.Play(ctx, text)
}

// Play plays one statement and returns the answer, ending in a newline. An error
// is an answer, too.
func (r *Runner) Play(ctx context.Context, text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	s, err := parseStatement(lines[0])
	if err != nil {
		return fmt.Sprintf("transcript: %v\n", err)
	}
	s.body = lines[1:]
	out, err := r.play(ctx, s)
	if err != nil {
		var unknown *scriptError
		if errors.As(err, &unknown) {
			return fmt.Sprintf("transcript: %v\n", err)
		}
		return out + fmt.Sprintf("error: %v\n", err)
	}
	return out
}

// scriptError is a mistake of the transcript, not an answer.
type scriptError struct{ text string }

func (e *scriptError) Error() string { return e.text }

func mistake(format string, args ...any) error { return &scriptError{fmt.Sprintf(format, args...)} }

func (r *Runner) play(ctx context.Context, s *statement) (string, error) {
	c := r.Client
	switch s.verb {
	case "put", "get", "delete", "txn":
		op, err := r.op(s)
		if err != nil {
			return "", err
		}
		resp, err := c.KV.Do(ctx, op)
		if err != nil {
			return "", err
		}
		return r.opResponse(resp), nil
	case "stream":
		return r.stream(ctx, s)
	case "compact":
		rev, err := s.number(0)
		if err != nil {
			return "", err
		}
		resp, err := c.KV.Compact(ctx, rev, clientv3.WithCompactPhysical())
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("rev=%d\n", resp.Header.Revision), nil
	case "grant", "revoke", "keepalive", "ttl", "leases":
		return r.lease(ctx, s)
	case "watch", "events", "progress", "cancel":
		return r.watch(ctx, s)
	case "create", "update", "remove", "read", "list", "count":
		return r.kubernetes(ctx, s)
	}
	return "", mistake("unknown verb %q", s.verb)
}

// stream prints a RangeStream as if it were one answer; where it is cut into
// chunks is the server's affair.
func (r *Runner) stream(ctx context.Context, s *statement) (string, error) {
	opts, err := r.options(s)
	if err != nil {
		return "", err
	}
	chunks, err := r.Client.KV.GetStream(ctx, s.arg(0), opts...)
	if err != nil {
		return "", err
	}
	resp, err := clientv3.GetStreamToGetResponse(chunks)
	if err != nil {
		return "", err
	}
	return r.getResponse(resp), nil
}

func (r *Runner) leaseID(name string) (clientv3.LeaseID, error) {
	id, ok := r.leases[name]
	if !ok {
		if n, err := strconv.ParseInt(name, 10, 64); err == nil {
			return clientv3.LeaseID(n), nil
		}
		return 0, mistake("no lease %q was granted", name)
	}
	return id, nil
}

func (r *Runner) leaseName(id int64) string {
	for name, known := range r.leases {
		if int64(known) == id {
			return name
		}
	}
	return strconv.FormatInt(id, 10)
}

func (r *Runner) lease(ctx context.Context, s *statement) (string, error) {
	c := r.Client.Lease
	if s.verb == "leases" {
		resp, err := c.Leases(ctx)
		if err != nil {
			return "", err
		}
		// By name: which of two leases expires first may be a matter of microseconds.
		var names []string
		for _, l := range resp.Leases {
			names = append(names, r.leaseName(int64(l.ID)))
		}
		sort.Strings(names)
		return fmt.Sprintf("rev=%d %s\n", resp.Revision, strings.Join(names, " ")), nil
	}
	if s.verb == "grant" {
		ttl, err := s.number(1)
		if err != nil {
			return "", err
		}
		resp, err := c.Grant(ctx, ttl)
		if err != nil {
			return "", err
		}
		if r.leases == nil {
			r.leases = map[string]clientv3.LeaseID{}
		}
		r.leases[s.arg(0)] = resp.ID
		return fmt.Sprintf("rev=%d ttl=%d\n", resp.Revision, resp.TTL), nil
	}
	id, err := r.leaseID(s.arg(0))
	if err != nil {
		return "", err
	}
	switch s.verb {
	case "revoke":
		resp, err := c.Revoke(ctx, id)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("rev=%d\n", resp.Header.Revision), nil
	case "keepalive":
		resp, err := c.KeepAliveOnce(ctx, id)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("rev=%d ttl=%d\n", resp.Revision, resp.TTL), nil
	default:
		var opts []clientv3.LeaseOption
		if s.has("keys") {
			opts = append(opts, clientv3.WithAttachedKeys())
		}
		resp, err := c.TimeToLive(ctx, id, opts...)
		if err != nil {
			return "", err
		}
		out := fmt.Sprintf("rev=%d granted=%d", resp.Revision, resp.GrantedTTL)
		// The remaining time depends on how quickly the session goes.
		if resp.TTL < 0 {
			out += " gone"
		}
		sort.Slice(resp.Keys, func(i, j int) bool { return string(resp.Keys[i]) < string(resp.Keys[j]) })
		for _, key := range resp.Keys {
			out += " " + show(key)
		}
		return out + "\n", nil
	}
}

func (r *Runner) opResponse(resp clientv3.OpResponse) string {
	switch {
	case resp.Put() != nil:
		return fmt.Sprintf("rev=%d%s\n", resp.Put().Header.Revision, r.prev(resp.Put().PrevKv))
	case resp.Get() != nil:
		return r.getResponse(resp.Get())
	case resp.Del() != nil:
		out := fmt.Sprintf("rev=%d deleted=%d\n", resp.Del().Header.Revision, resp.Del().Deleted)
		for _, kv := range resp.Del().PrevKvs {
			out += "prev " + r.keyValue(kv) + "\n"
		}
		return out
	case resp.Txn() != nil:
		return r.txnResponse(resp.Txn())
	}
	return "no answer\n"
}

func (r *Runner) getResponse(resp *clientv3.GetResponse) string {
	more := ""
	if resp.More {
		more = " more"
	}
	out := fmt.Sprintf("rev=%d count=%d%s\n", resp.Header.GetRevision(), resp.Count, more)
	for _, kv := range resp.Kvs {
		out += r.keyValue(kv) + "\n"
	}
	return out
}

func (r *Runner) txnResponse(resp *clientv3.TxnResponse) string {
	out := fmt.Sprintf("rev=%d succeeded=%v\n", resp.Header.GetRevision(), resp.Succeeded)
	for _, one := range resp.Responses {
		var inner clientv3.OpResponse
		switch {
		case one.GetResponsePut() != nil:
			inner = (*clientv3.PutResponse)(one.GetResponsePut()).OpResponse()
		case one.GetResponseRange() != nil:
			inner = (*clientv3.GetResponse)(one.GetResponseRange()).OpResponse()
		case one.GetResponseDeleteRange() != nil:
			inner = (*clientv3.DeleteResponse)(one.GetResponseDeleteRange()).OpResponse()
		case one.GetResponseTxn() != nil:
			inner = (*clientv3.TxnResponse)(one.GetResponseTxn()).OpResponse()
		}
		out += "  " + strings.ReplaceAll(strings.TrimRight(r.opResponse(inner), "\n"), "\n", "\n  ") + "\n"
	}
	return out
}

func (r *Runner) prev(kv *mvccpb.KeyValue) string {
	if kv == nil {
		return ""
	}
	return " prev " + r.keyValue(kv)
}

func (r *Runner) keyValue(kv *mvccpb.KeyValue) string {
	out := fmt.Sprintf("%s=%s create=%d mod=%d ver=%d", show(kv.Key), show(kv.Value), kv.CreateRevision, kv.ModRevision, kv.Version)
	if kv.Lease != 0 {
		out += " lease=" + r.leaseName(kv.Lease)
	}
	return out
}

// show prints bytes so that a transcript can hold them.
func show(b []byte) string {
	if len(b) > 100 {
		return fmt.Sprintf("%s...(%d bytes)", show(b[:3]), len(b))
	}
	q := strconv.QuoteToASCII(string(b))
	return q[1 : len(q)-1]
}
