package container

import (
	"context"
	"testing"
)

// answering is a network in which everybody answers.
type answering struct{ alone }

func (answering) Lookup(_ context.Context, name string) ([]string, string, error) {
	return []string{"10.0.0.8"}, name, nil
}

func (answering) Answers(string) bool { return true }

func TestPingIsInterrupted(t *testing.T) {
	const prompt = "/ # "
	for image, want := range map[string]string{
		"busybox": "^C\r\n--- other ping statistics ---\r\n1 packets transmitted, 1 packets received, 0% packet loss\r\nround-trip min/avg/max = 0.100/0.100/0.100 ms\r\n",
		"debian":  "^C\r\n--- other ping statistics ---\r\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\r\nrtt min/avg/max/mdev = 0.100/0.100/0.100/0.000 ms\r\n",
	} {
		b, err := tryRunWith(t, func(c *Config) { c.Network = answering{} }, image, "sleep", "1000")
		if err != nil {
			t.Fatal(err)
		}
		c := at(t, b, "sh")
		c.types("ping other\r")
		c.sees("time=0.100 ms\r\n")
		c.types("\x03")
		c.sees(want + prompt)
	}
}
