package container

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// redisCLI sends the command of its arguments, or those that are typed or read, each in a line.
func redisCLI(k *call) int {
	f := k.Flags("hpan")
	host, port := f.Value['h'], 6379
	if host == "" {
		host = "127.0.0.1"
	}
	if n, err := strconv.Atoi(f.Value['p']); err == nil {
		port = n
	}
	shown := k.session.tty != nil && k.Stdout == io.Writer(k.session.stdout)
	if len(f.Rest) > 0 {
		return k.redis(host, port, f.Rest, shown)
	}
	_, typed := k.Stdin.(*terminal.Input)
	lines := bufio.NewReader(k.Stdin)
	for {
		if typed {
			fmt.Fprintf(k.Stdout, "%s:%d> ", host, port)
		}
		line, err := coreutils.ReadLine(lines, '\n')
		args := strings.Fields(line)
		for i, arg := range args {
			args[i] = strings.Trim(arg, `"'`)
		}
		switch {
		case errors.Is(err, coreutils.ErrMemory):
			return k.Fail("%v", err)
		case len(args) > 0 && (strings.EqualFold(args[0], "quit") || strings.EqualFold(args[0], "exit")):
			return 0
		case len(args) > 0:
			k.redis(host, port, args, shown)
		}
		if err != nil {
			return 0
		}
	}
}

// redis sends a command, and prints the reply: for a reader or, as Redis' own does where nobody sits at a terminal, plain.
func (k *call) redis(host string, port int, args []string, shown bool) int {
	body, err := json.Marshal(args)
	if err != nil {
		return 1
	}
	at := host
	if host == "127.0.0.1" {
		at = k.session.c.cfg.IP
	}
	response, err := k.Request(http.MethodPost, fmt.Sprintf("http://%s:%d/", at, port), bytes.NewReader(body), http.Header{redisHeader: {"1"}}, false, 0)
	if err != nil {
		fmt.Fprintf(k.Stderr, "Could not connect to Redis at %s:%d: Connection refused\n", host, port)
		return 1
	}
	defer response.Body.Close()
	reply, err := readReply(bufio.NewReader(response.Body))
	if err != nil {
		fmt.Fprintln(k.Stderr, "Error: Protocol error, got something that is no reply")
		return 1
	}
	if shown {
		fmt.Fprint(k.Stdout, reply.shown())
	} else {
		fmt.Fprint(k.Stdout, strings.Join(reply.texts, "\n")+"\n")
	}
	return 0
}

// readReply reads what redisReply.wire has written.
func readReply(r *bufio.Reader) (redisReply, error) {
	line, err := coreutils.ReadLine(r, '\n')
	if err != nil || len(line) < 3 {
		return redisReply{}, errors.Join(err, io.ErrUnexpectedEOF)
	}
	kind, text := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '+', '-', ':':
		return redisReply{kind, []string{text}}, nil
	case '$', '*':
	default:
		return redisReply{}, io.ErrUnexpectedEOF
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return redisReply{}, err
	}
	reply := redisReply{kind: kind}
	if kind == '$' {
		value := make([]byte, n+len("\r\n"))
		_, err := io.ReadFull(r, value)
		reply.texts = []string{string(value[:n])}
		return reply, err
	}
	for range n {
		one, err := readReply(r)
		if err != nil {
			return redisReply{}, err
		}
		reply.texts = append(reply.texts, strings.Join(one.texts, ""))
	}
	return reply, nil
}

// shown is the reply as it is printed for a reader.
func (r redisReply) shown() string {
	switch r.kind {
	case 0:
		return "(nil)\n"
	case ':':
		return "(integer) " + r.texts[0] + "\n"
	case '-':
		return "(error) " + r.texts[0] + "\n"
	case '$':
		return strconv.Quote(r.texts[0]) + "\n"
	case '*':
		if len(r.texts) == 0 {
			return "(empty array)\n"
		}
		var all strings.Builder
		for i, text := range r.texts {
			fmt.Fprintf(&all, "%d) %q\n", i+1, text)
		}
		return all.String()
	}
	return r.texts[0] + "\n"
}
