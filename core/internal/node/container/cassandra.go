package container

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"
)

// The images of Cassandra: that of Kubernetes' tutorial, and Docker's. The servers keep nothing; a server's ring is the
// seeds that it is given and the Pods of its headless Service that listen.

// Ports of Cassandra: of its nodes among themselves, of nodetool, of clients.
const (
	cassandraGossip = 7000
	cassandraJMX    = 7199
	cassandraCQL    = 9042
)

// cassandraFiles is the probe of the tutorial.
var cassandraFiles = map[string]string{
	"/ready-probe.sh": "#!/bin/bash\n# Ready is a node that the ring has as up and normal.\nnodetool status | grep \"$POD_IP\" | grep -q ^UN\n",
}

// cassandra is the server.
func (c *Container) cassandra() *Server {
	at := c.stamp("2006-01-02 15:04:05,000")
	return &Server{ExitCode: 143, Ports: map[int]Listener{cassandraGossip: {}, cassandraJMX: {}, cassandraCQL: {}},
		Lines: []string{
			"INFO  [main] " + at + " StorageService.java:600 - Cassandra version: " + c.cfg.Image.version(),
			"INFO  [main] " + at + " Gossiper.java:1796 - No gossip backlog; proceeding",
			"INFO  [main] " + at + " Server.java:159 - Starting listening for CQL clients on /0.0.0.0:9042 (unencrypted)...",
		}}
}

// ring returns the addresses of the servers that are up, in their order.
func (k *call) ring() []string {
	c := k.session.c.root()
	names := strings.FieldsFunc(k.Env.Get("CASSANDRA_SEEDS").String(), func(r rune) bool { return r == ',' || r == ' ' })
	if hosts, err := k.Files.ReadFile("/etc/hosts"); err == nil {
		if domain := domainIn(string(hosts), c.cfg.Hostname); domain != "" {
			names = append(names, domain[1:])
		}
	}
	var found []string
	for _, name := range names {
		if net.ParseIP(name) != nil {
			found = append(found, name)
		} else if addresses, _, err := c.cfg.Network.Lookup(k, name); err == nil { // a seed may be nobody yet
			found = append(found, addresses...)
		}
	}
	found = slices.DeleteFunc(found, func(address string) bool {
		_, err := c.cfg.Network.Connect(k, address, Port{Number: cassandraGossip})
		return err != nil
	})
	found = append(found, c.cfg.IP) // whatever the Service publishes of a Pod that is not ready
	slices.Sort(found)
	return slices.Compact(found)
}

// nodetool tells of the ring.
func nodetool(k *call) int {
	if !k.reaches("", cassandraJMX) {
		fmt.Fprintf(k.Stderr, "nodetool: Failed to connect to '127.0.0.1:%d' - ConnectException: 'Connection refused (Connection refused)'.\n", cassandraJMX)
		return 1
	}
	c := k.session.c.root()
	command := ""
	if len(k.Args) > 0 {
		command = k.Args[0]
	}
	dc, rack := cmp.Or(k.Env.Get("CASSANDRA_DC").String(), "datacenter1"), cmp.Or(k.Env.Get("CASSANDRA_RACK").String(), "rack1")
	switch command {
	case "status":
		k.ringStatus(dc, rack)
	case "info":
		fmt.Fprintf(k.Stdout, "%-23s: %s\n%-23s: true\n%-23s: true\n%-23s: %s\n%-23s: %d\n%-23s: %s\n%-23s: %s\n",
			"ID", hostID(c.cfg.IP), "Gossip active", "Native Transport active", "Load", loadOf(c.cfg.IP),
			"Uptime (seconds)", int(c.cfg.Clock.Since(c.Started).Seconds()), "Data Center", dc, "Rack", rack)
	case "version":
		fmt.Fprintln(k.Stdout, "ReleaseVersion: "+c.cfg.Image.version())
	case "drain", "flush":
	default:
		return k.Fail("this server is simulated: it knows status, info, version, flush and drain")
	}
	return 0
}

// copies is how many servers have each row of what the ring's shares are told of.
const copies = 2

// ringStatus prints the ring. The shares, like loads and names of hosts, are made up of the addresses.
func (k *call) ringStatus(dc, rack string) {
	ring := k.ring()
	total := 0.0
	weight := func(address string) float64 { return float64(80 + hashOf(address)%41) }
	for _, address := range ring {
		total += weight(address)
	}
	title := "Datacenter: " + dc
	fmt.Fprintf(k.Stdout, "%s\n%s\nStatus=Up/Down\n|/ State=Normal/Leaving/Joining/Moving\n", title, strings.Repeat("=", len(title)))
	const row = "%-2s  %-15s %-11s %-7s %-17s %-37s %s\n"
	fmt.Fprintf(k.Stdout, row, "--", "Address", "Load", "Tokens", "Owns (effective)", "Host ID", "Rack")
	for _, address := range ring {
		owns := 100.0
		if len(ring) > copies {
			owns = min(owns, 100*copies*weight(address)/total)
		}
		fmt.Fprintf(k.Stdout, row, "UN", address, loadOf(address), "32", fmt.Sprintf("%.1f%%", owns), hostID(address), rack)
	}
	fmt.Fprintln(k.Stdout)
}

func loadOf(address string) string {
	return fmt.Sprintf("%.2f KiB", 80+float64(hashOf(address)%3000)/100)
}

func hostID(address string) string {
	high, low := hashOf("cassandra "+address), hashOf(address+" cassandra")
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", high>>32, high>>16&0xffff, high&0xfff, low>>48&0xfff, low&0xffffffffffff)
}

// cqlsh says what there is not.
func cqlsh(k *call) int { return k.Fail("this server is simulated: it runs no CQL") }
