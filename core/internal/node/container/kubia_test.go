package container

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What the book Kubernetes in Action does with its images.
func TestImagesOfKubernetesInAction(t *testing.T) {
	for _, test := range []struct {
		image, answer, broken string
		well                  int // requests
	}{
		{"luksa/kubia", "You've hit box\n", "", 9},
		{"luksa/kubia:v1", "This is v1 running in pod box\n", "", 9},
		{"luksa/kubia:v3", "This is v3 running in pod box\n", "Some internal error has occurred! This is pod box\n", 4},
		{"luksa/kubia-unhealthy", "You've hit box\n", "I'm not well. Please restart me!", 5},
	} {
		b := run(t, test.image)
		for i := range 9 {
			want, status := test.answer, http.StatusOK
			if i >= test.well {
				want, status = test.broken, http.StatusInternalServerError
			}
			if got, code := b.answer(t, 8080, "/"); got != want || code != status {
				t.Errorf("%s answers the request %d with %d %q", test.image, i+1, code, got)
			}
		}
		if log := b.Log.Tail(99, 1<<16); !strings.HasPrefix(log, "Kubia server starting...\nReceived request from ::ffff:192.0.2.1\n") {
			t.Errorf("%s logs %q", test.image, log)
		}
	}
	pet := run(t, "luksa/kubia-pet")
	if got, _ := pet.answer(t, 8080, "/"); got != "You've hit box\nData stored on this pod: No data posted yet\n" {
		t.Errorf("before: %q", got)
	}
	pet.exec(t, "mkdir", "-p", "/var/data")
	post := func() string {
		w := httptest.NewRecorder()
		l, _ := pet.Listening(Port{Number: 8080})
		l.HTTP.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("Hey there!")))
		return w.Body.String()
	}
	if got := post(); got != "Data stored on pod box\n" {
		t.Errorf("stored: %q", got)
	}
	if got, _ := pet.answer(t, 8080, "/"); got != "You've hit box\nData stored on this pod: Hey there!\n" {
		t.Errorf("after: %q", got)
	}
	pet.exec(t, "rm", "-r", "/var/data")
	post()
	if code := <-pet.ended; code != 1 {
		t.Errorf("without its folder: exit code %d", code)
	}

	job := run(t, "luksa/batch-job")
	began := job.clock.Now()
	job.step(t, func() bool { return !job.Running() })
	lines := strings.Split(job.output(), "\n")
	if took := job.clock.Now().Sub(began).Seconds(); len(lines) != 3 || !strings.HasSuffix(lines[0], " Batch job starting") || !strings.HasSuffix(lines[1], " Finished succesfully") || took < 120 || took > 125 {
		t.Errorf("the Job takes %v s and says %q", took, lines)
	}
}

func TestFortunes(t *testing.T) {
	for _, test := range []struct {
		image, argument, first string
		every                  float64
	}{
		{"luksa/fortune", "", "", 10},
		{"luksa/fortune:args", "", "Configured to generate new fortune every 10 seconds\n", 10},
		{"luksa/fortune:args", "2", "Configured to generate new fortune every 2 seconds\n", 2},
		{"luksa/fortune:env", "", "Configured to generate new fortune every 25 seconds\n", 25},
	} {
		b, err := tryRunWith(t, func(c *Config) {
			c.Env = append(c.Env, "INTERVAL=25")
			c.Argv = c.Image.CommandLine(nil, strings.Fields(test.argument))
		}, test.image)
		if err != nil {
			t.Fatal(err)
		}
		written := func() int {
			return strings.Count(b.Log.Tail(99, 1<<16), " Writing fortune to /var/htdocs/index.html\n")
		}
		b.step(t, func() bool { return written() >= 1 })
		began := b.clock.Now()
		b.step(t, func() bool { return written() >= 3 })
		if took := b.clock.Now().Sub(began).Seconds(); took < 2*test.every-1 || took > 2*test.every+2 {
			t.Errorf("%s %s: two more after %v s", test.image, test.argument, took)
		}
		b.step(t, func() bool { // the line of the log comes before the page, and the page is empty for a moment
			page, err := b.Files().ReadFile("/var/htdocs/index.html")
			return err == nil && len(page) > 0
		})
		if log := b.Log.Tail(99, 1<<16); !strings.HasPrefix(log, test.first) {
			t.Errorf("%s: %s", test.image, log)
		}
	}
}

func TestMultitool(t *testing.T) {
	b, err := tryRunWith(t, func(c *Config) { c.Env = append(c.Env, "HTTP_PORT=1180") }, "wbitt/network-multitool")
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range []int{1180, 443} {
		if got, _ := b.answer(t, port, "/"); got != "WBITT Network MultiTool (with NGINX) - box - 10.0.0.9 - HTTP: 1180 , HTTPS: 443 . (Formerly praqma/network-multitool)\n" {
			t.Errorf("port %d answers %q", port, got)
		}
	}
	if got := run(t, "praqma/network-multitool", "sh", "-c", "echo hello").output(); got != "hello\n" {
		t.Errorf("as a tool: %q", got)
	}
}
