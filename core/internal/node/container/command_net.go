package container

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// netCommands talk to other containers.
var netCommands = map[string]func(*call) int{
	"ip": ip, "ifconfig": ifconfig, "nslookup": nslookup, "dig": nslookup, "host": nslookup, "nc": nc, "ping": ping, "redis-cli": redisCLI, "grpc_health_probe": nothing, "pg_isready": nothing, "mysqladmin": nothing,
}

func nslookup(k *call) int {
	f := k.Flags("")
	if len(f.Rest) == 0 {
		return k.Fail("missing name")
	}
	name := f.Rest[0]
	addresses, full, err := k.session.c.cfg.Network.Lookup(name)
	fmt.Fprintf(k.Stdout, "Server:\t\t10.0.0.10\nAddress:\t10.0.0.10:53\n\n")
	if err != nil {
		fmt.Fprintf(k.Stdout, "** server can't find %s: NXDOMAIN\n\n", full)
		return 1
	}
	for _, a := range addresses {
		fmt.Fprintf(k.Stdout, "Name:\t%s\nAddress: %s\n", full, a)
	}
	fmt.Fprintln(k.Stdout)
	return 0
}

func nc(k *call) int {
	f := k.Flags("wpi")
	if f.On['l'] {
		port := f.Value['p']
		if port == "" && len(f.Rest) > 0 {
			port = f.Rest[len(f.Rest)-1]
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return k.Fail("bad port '%s'", port)
		}
		defer k.session.c.root().serve(&Server{Ports: map[int]Listener{n: {}}})()
		<-k.Done()
		return 143
	}
	if len(f.Rest) < 2 {
		return k.Fail("missing host and port")
	}
	port, err := strconv.Atoi(f.Rest[1])
	if err != nil {
		return k.Fail("bad port '%s'", f.Rest[1])
	}
	if err := k.session.c.cfg.Network.Dial(k, f.Rest[0], port); err != nil {
		dns, text := coreutils.Lost(err)
		if dns {
			return k.Fail("bad address '%s'", text)
		}
		return k.Fail("%s (%s:%d): Connection refused", f.Rest[0], f.Rest[0], port)
	}
	if f.On['v'] {
		fmt.Fprintf(k.Stderr, "%s (%s:%d) open\n", f.Rest[0], f.Rest[0], port)
	}
	return 0
}

func ping(k *call) int {
	f := k.Flags("cWwi")
	if len(f.Rest) == 0 {
		return k.Fail("missing host")
	}
	addresses, _, err := k.session.c.cfg.Network.Lookup(f.Rest[0])
	if err != nil {
		return k.Fail("bad address '%s'", f.Rest[0])
	}
	count := math32
	if n, err := strconv.Atoi(f.Value['c']); err == nil {
		count = n
	}
	fmt.Fprintf(k.Stdout, "PING %s (%s): 56 data bytes\n", f.Rest[0], addresses[0])
	for i := range count {
		fmt.Fprintf(k.Stdout, "64 bytes from %s: seq=%d ttl=63 time=0.1 ms\n", addresses[0], i)
		if i < count-1 && k.session.Pause(k.Call, time.Second) != 0 {
			return 143
		}
	}
	fmt.Fprintf(k.Stdout, "\n--- %s ping statistics ---\n%d packets transmitted, %d packets received, 0%% packet loss\n", f.Rest[0], count, count)
	return 0
}

const math32 = 1 << 30 // a count that is never reached

// redisCLI knows enough of Redis for probes and first steps: the data is that
// of the server in the same container.
func redisCLI(k *call) int {
	f := k.Flags("hpan")
	if len(f.Rest) == 0 {
		return 0
	}
	host := f.Value['h']
	if host == "" {
		host = k.session.c.cfg.IP
	}
	port := 6379
	if n, err := strconv.Atoi(f.Value['p']); err == nil {
		port = n
	}
	body, err := json.Marshal(f.Rest)
	if err != nil {
		return 1
	}
	response, err := k.Request(http.MethodPost, fmt.Sprintf("http://%s:%d/", host, port), bytes.NewReader(body), http.Header{redisHeader: {"1"}}, false, 0)
	if err != nil {
		fmt.Fprintf(k.Stderr, "Could not connect to Redis at %s:%d: Connection refused\n", host, port)
		return 1
	}
	defer response.Body.Close()
	if _, err := io.Copy(k.Stdout, response.Body); err != nil {
		return 1
	}
	return 0
}
