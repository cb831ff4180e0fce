package container

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
)

// redisHeader marks the request with which redis-cli carries a command.
const redisHeader = "X-Redis-Command"

// redisLine is how long a command may be that comes as a line.
const redisLine = 64 << 10

// redis answers the commands of first steps.
type redis struct {
	mu     sync.Mutex
	data   map[string]string
	lists  map[string][]string
	config map[string]string
}

// newRedis returns a server with what redis.conf says, and what the command line does as --NAME VALUE.
func newRedis(conf string, args []string) Listener {
	r := &redis{data: map[string]string{}, lists: map[string][]string{}, config: map[string]string{
		"appendonly": "no", "bind": "* -::*", "databases": "16", "dir": "/data", "loglevel": "notice", "maxmemory": "0", "maxmemory-policy": "noeviction",
		"port": "6379", "requirepass": "", "save": "3600 1 300 100 60 10000", "tcp-keepalive": "300", "timeout": "0",
	}}
	for line := range strings.Lines(conf) {
		if words := strings.Fields(line); len(words) > 1 && !strings.HasPrefix(words[0], "#") {
			r.configure(words[0], strings.Trim(strings.Join(words[1:], " "), `"`))
		}
	}
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--"); ok && i+1 < len(args) {
			r.configure(name, args[i+1])
		}
	}
	return Listener{HTTP: r, Stream: r.stream}
}

// redisUnits are those of memory in redis.conf.
var redisUnits = []struct {
	suffix string
	bytes  int
}{{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"k", 1000}, {"m", 1000_000}, {"g", 1000_000_000}, {"b", 1}, {"", 1}}

func (r *redis) configure(name, value string) {
	name = strings.ToLower(name)
	if name == "maxmemory" {
		for _, unit := range redisUnits {
			if number, ok := strings.CutSuffix(strings.ToLower(value), unit.suffix); ok {
				if n, err := strconv.Atoi(number); err == nil {
					value = strconv.Itoa(n * unit.bytes)
				}
				break
			}
		}
	}
	r.config[name] = value
}

// redisReply is one of Redis' protocol.
type redisReply struct {
	kind  byte // + a word, : a number, $ a text, * texts, - an error, 0 nothing
	texts []string
}

// wire is the reply as it is sent.
func (r redisReply) wire() string {
	switch r.kind {
	case '$':
		return fmt.Sprintf("$%d\r\n%s\r\n", len(r.texts[0]), r.texts[0])
	case '*':
		var b strings.Builder
		fmt.Fprintf(&b, "*%d\r\n", len(r.texts))
		for _, text := range r.texts {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(text), text)
		}
		return b.String()
	case 0:
		return "$-1\r\n"
	}
	return string(r.kind) + r.texts[0] + "\r\n"
}

// do runs a command of at least one word. It is long because each command is a few lines of its own.
func (r *redis) do(args []string) redisReply {
	r.mu.Lock()
	defer r.mu.Unlock()
	number := func(n int) redisReply { return redisReply{':', []string{strconv.Itoa(n)}} }
	switch verb := strings.ToUpper(args[0]); {
	case verb == "PING":
		return redisReply{'+', []string{"PONG"}}
	case verb == "SET" && len(args) > 2:
		r.data[args[1]] = args[2]
		return redisReply{'+', []string{"OK"}}
	case verb == "GET" && len(args) > 1:
		value, ok := r.data[args[1]]
		if !ok {
			return redisReply{}
		}
		return redisReply{'$', []string{value}}
	case verb == "INCR" && len(args) > 1:
		n, _ := strconv.Atoi(r.data[args[1]])
		r.data[args[1]] = strconv.Itoa(n + 1)
		return number(n + 1)
	case verb == "DEL" && len(args) > 1:
		n := len(r.data) + len(r.lists)
		for _, key := range args[1:] {
			delete(r.data, key)
			delete(r.lists, key)
		}
		return number(n - len(r.data) - len(r.lists))
	case verb == "KEYS":
		keys := []string{}
		for key := range r.data {
			keys = append(keys, key)
		}
		for key := range r.lists {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		return redisReply{'*', keys}
	case verb == "DECR" && len(args) > 1:
		n, _ := strconv.Atoi(r.data[args[1]])
		r.data[args[1]] = strconv.Itoa(n - 1)
		return number(n - 1)
	case verb == "EXISTS" && len(args) > 1:
		n := 0
		for _, key := range args[1:] {
			if _, ok := r.data[key]; ok || r.lists[key] != nil {
				n++
			}
		}
		return number(n)
	case verb == "DBSIZE":
		return number(len(r.data) + len(r.lists))
	case verb == "FLUSHALL", verb == "FLUSHDB":
		clear(r.data)
		clear(r.lists)
		return redisReply{'+', []string{"OK"}}
	case (verb == "RPUSH" || verb == "LPUSH") && len(args) > 2:
		for _, value := range args[2:] {
			if verb == "RPUSH" {
				r.lists[args[1]] = append(r.lists[args[1]], value)
			} else {
				r.lists[args[1]] = slices.Insert(r.lists[args[1]], 0, value)
			}
		}
		return number(len(r.lists[args[1]]))
	case verb == "LLEN" && len(args) > 1:
		return number(len(r.lists[args[1]]))
	case verb == "LRANGE" && len(args) > 3:
		list := r.lists[args[1]]
		from, fromErr := strconv.Atoi(args[2])
		to, toErr := strconv.Atoi(args[3])
		if fromErr != nil || toErr != nil {
			return redisReply{'-', []string{"ERR value is not an integer or out of range"}}
		}
		if from < 0 {
			from = max(from+len(list), 0)
		}
		if to < 0 {
			to += len(list)
		}
		to = min(to+1, len(list))
		return redisReply{'*', slices.Clone(list[min(from, max(to, 0)):max(to, 0)])}
	case (verb == "LPOP" || verb == "RPOP") && len(args) > 1:
		list := r.lists[args[1]]
		if len(list) == 0 {
			return redisReply{}
		}
		value, rest := list[0], list[1:]
		if verb == "RPOP" {
			value, rest = list[len(list)-1], list[:len(list)-1]
		}
		if r.lists[args[1]] = rest; len(rest) == 0 {
			delete(r.lists, args[1])
		}
		return redisReply{'$', []string{value}}
	case verb == "ECHO" && len(args) > 1:
		return redisReply{'$', []string{args[1]}}
	case verb == "CONFIG" && len(args) > 2 && strings.EqualFold(args[1], "GET"):
		found := []string{}
		for _, name := range slices.Sorted(maps.Keys(r.config)) {
			if slices.ContainsFunc(args[2:], func(pattern string) bool {
				ok, err := path.Match(strings.ToLower(pattern), name)
				return ok && err == nil
			}) {
				found = append(found, name, r.config[name])
			}
		}
		return redisReply{'*', found}
	case verb == "CONFIG" && len(args) > 3 && strings.EqualFold(args[1], "SET"):
		if _, ok := r.config[strings.ToLower(args[2])]; !ok {
			return redisReply{'-', []string{"ERR Unknown option or number of arguments for CONFIG SET - '" + args[2] + "'"}}
		}
		r.configure(args[2], args[3])
		return redisReply{'+', []string{"OK"}}
	}
	return redisReply{'-', []string{"ERR unknown command '" + args[0] + "'"}}
}

// ServeHTTP answers redis-cli: the reply on the wire.
func (r *redis) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Header.Get(redisHeader) == "" {
		http.Error(w, "-ERR wrong protocol", http.StatusBadRequest)
		return
	}
	var args []string
	if err := json.NewDecoder(request.Body).Decode(&args); err != nil || len(args) == 0 {
		http.Error(w, "-ERR", http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, r.do(args).wire())
}

// stream answers commands that come as lines, until QUIT.
func (r *redis) stream(_ context.Context, in io.Reader, out io.Writer) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, redisLine)
	for lines.Scan() {
		args := strings.Fields(lines.Text())
		if len(args) == 0 {
			continue
		}
		reply := redisReply{'+', []string{"OK"}}
		quits := strings.EqualFold(args[0], "QUIT")
		if !quits {
			reply = r.do(args)
		}
		if _, err := io.WriteString(out, reply.wire()); err != nil || quits {
			return
		}
	}
}
