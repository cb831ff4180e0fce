package container

import (
	"fmt"
	"slices"
	"strings"
)

// groups prints the names of the groups of whom it runs as.
func groups(k *call) int {
	k.Args = []string{"-Gn"}
	return id(k)
}

// getent looks for keys in a database of the system, and prints what is found, or all of it without a key. It exits with 2
// where a key is missing.
func getent(k *call) int {
	f := k.Flags("s")
	if len(f.Rest) == 0 {
		return k.Fail("wrong number of arguments")
	}
	database, keys := f.Rest[0], f.Rest[1:]
	switch database {
	case "hosts", "ahosts", "ahostsv4":
		return k.getentHosts(database, keys)
	case "passwd", "group":
		return k.getentFile("/etc/"+database, keys)
	}
	fmt.Fprintf(k.Stdout, "Unknown database: %s\n", database)
	return 1
}

func (k *call) getentHosts(database string, keys []string) int {
	if len(keys) == 0 {
		text, err := k.Files.ReadFile("/etc/hosts")
		if err != nil {
			return 2
		}
		for line := range strings.Lines(string(text)) {
			if words := strings.Fields(line); len(words) > 1 && !strings.HasPrefix(line, "#") {
				fmt.Fprintf(k.Stdout, "%-15s %s\n", words[0], strings.Join(words[1:], " "))
			}
		}
		return 0
	}
	code := 0
	for _, key := range keys {
		addresses, full, err := k.session.c.cfg.Network.Lookup(k, key)
		if err != nil {
			code = 2
			continue
		}
		if database == "hosts" {
			for _, address := range addresses {
				fmt.Fprintf(k.Stdout, "%-15s %s\n", address, full)
			}
			continue
		}
		for i, address := range addresses {
			for _, kind := range []string{"STREAM", "DGRAM", "RAW"} {
				name := ""
				if i == 0 && kind == "STREAM" {
					name = full
				}
				fmt.Fprintf(k.Stdout, "%-15s %-6s %s\n", address, kind, name)
			}
		}
	}
	return code
}

func (k *call) getentFile(name string, keys []string) int {
	text, err := k.Files.ReadFile(name)
	if err != nil {
		return 2
	}
	lines := slices.Collect(strings.Lines(string(text)))
	if len(keys) == 0 {
		fmt.Fprint(k.Stdout, strings.Join(lines, ""))
		return 0
	}
	code := 0
	for _, key := range keys {
		i := slices.IndexFunc(lines, func(line string) bool {
			fields := strings.Split(line, ":")
			return fields[0] == key || len(fields) > 2 && fields[2] == key
		})
		if i < 0 {
			code = 2
			continue
		}
		fmt.Fprint(k.Stdout, lines[i])
	}
	return code
}
