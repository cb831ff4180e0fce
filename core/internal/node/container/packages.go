package container

import (
	"fmt"
	"slices"
	"strings"
)

// packages are those whose programs every container with tools has, by the names that
// Debian and Alpine give them.
var packages = strings.Fields("bash bash-completion bind-tools bind9-dnsutils bind9-host busybox-extras bind9-utils ca-certificates coreutils curl diffutils dnsutils findutils gawk gettext gettext-base grep gzip " +
	"inetutils-ping iproute2 iptools iputils iputils-ping iputils-tracepath jq less mawk ncat net-tools netcat netcat-openbsd netcat-traditional openbsd-netcat procps procps-ng psmisc redis-tools sed stress tar tini tzdata util-linux wget")

// packager is apt-get, apt and apk: there is no network to fetch anything from, and what
// a container has already needs none.
func packager(k *call) int {
	debian := k.session.c.cfg.Image.Bash
	if debian == (k.Name == "apk") {
		return k.missing()
	}
	var words []string
	for i, arg := range k.Args {
		if !strings.HasPrefix(arg, "-") && (i == 0 || k.Args[i-1] != "-t" && k.Args[i-1] != "-o") {
			words = append(words, arg)
		}
	}
	if len(words) == 0 {
		return k.offline()
	}
	switch verb, names := words[0], words[1:]; verb {
	case "update":
		if debian {
			fmt.Fprintln(k.Stdout, "Reading package lists... Done")
		} else {
			fmt.Fprintf(k.Stdout, "OK: %d distinct packages available\n", len(packages))
		}
		return 0
	case "clean", "autoclean", "autoremove", "upgrade":
		return 0
	case "install", "add":
		for _, name := range names {
			name, _, _ = strings.Cut(name, "=")
			if !slices.Contains(packages, name) && !isTool(name) {
				return k.notPackaged(name)
			}
			if name == "bash" && !debian {
				return k.offline()
			}
		}
		if debian {
			fmt.Fprintln(k.Stdout, "Reading package lists... Done\nBuilding dependency tree... Done\nReading state information... Done")
			for _, name := range names {
				fmt.Fprintf(k.Stdout, "%s is already the newest version.\n", name)
			}
			fmt.Fprintln(k.Stdout, "0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.")
		} else {
			fmt.Fprintf(k.Stdout, "OK: %d MiB in %d packages\n", 8+len(names), 16+len(names))
		}
		return 0
	}
	return k.offline()
}

// notPackaged says that a package cannot be had.
func (k *call) notPackaged(name string) int {
	return k.Fail("%s cannot be fetched: this container is simulated, and has no network but the cluster's", name)
}

func (k *call) offline() int { return k.Fail("no network: this container is simulated") }

// missing is what a shell says of a program that there is none of.
func (k *call) missing() int {
	fmt.Fprintf(k.Stderr, "sh: %s: not found\n", k.Name)
	return 127
}
