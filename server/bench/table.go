package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable prints one row per figure and one column per server.
func printTable(out io.Writer, servers []server) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	row := func(what string, cell func(server) string) {
		fmt.Fprint(w, what)
		for _, s := range servers {
			fmt.Fprint(w, "\t", cell(s))
		}
		fmt.Fprintln(w)
	}
	row("Native server", func(s server) string { return s.Name })
	row("version", func(s server) string { return s.Version })
	started := func(what, format string, value func(*startup) float64) {
		row(what, func(s server) string {
			if s.Start == nil {
				return "-"
			}
			return fmt.Sprintf(format, value(s.Start))
		})
	}
	started("program", "%.0f MB", func(s *startup) float64 { return s.ProgramMB })
	started("start until /readyz", "%.0f ms", func(s *startup) float64 { return s.ReadyMS })
	started("resident a second later", "%.0f MB", func(s *startup) float64 { return s.ReadyMB })
	started("resident at rest", "%.0f MB", func(s *startup) float64 { return s.RestMB })
	started("resident after the load", "%.0f MB", func(s *startup) float64 { return s.LoadedMB })
	started("resident at most", "%.0f MB", func(s *startup) float64 { return s.PeakMB })
	if len(servers) == 0 {
		return w.Flush()
	}
	row("over TLS: p50 / p99", func(server) string { return "" })
	for i, h := range servers[0].HTTP {
		row("  "+h.What, func(s server) string {
			cell := fmt.Sprintf("%.2f / %.2f ms", s.HTTP[i].P50, s.HTTP[i].P99)
			if s.HTTP[i].PerSec > 0 {
				cell += fmt.Sprintf(", %.0f/s", s.HTTP[i].PerSec)
			}
			return cell
		})
	}
	return w.Flush()
}
