package container

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"sync/atomic"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// The images of the book Kubernetes in Action.

var (
	kubiaTags   = regexp.MustCompile(`^(latest|v[1-4])$`) // from v1 on the server says which one it is
	fortuneTags = regexp.MustCompile(`^(latest|args|env)$`)
	onlyLatest  = regexp.MustCompile(`^latest$`)
)

// kubiaImage runs one of the servers.
func kubiaImage(kind string, tags *regexp.Regexp) known {
	return known{Image: Image{Size: 260 << 20, kind: kind, Ports: []int{8080}, Entry: []string{"node", "app.js"}, Bash: true}, tags: tags}
}

// kubia is the server. One of them is well for five requests, another one is for four.
func (c *Container) kubia(ports []int) *Server {
	version := c.cfg.Image.tag()
	answer, broken, well := "You've hit "+c.cfg.Hostname+"\n", "", int64(0)
	switch {
	case c.cfg.Image.kind == "kubia-unhealthy":
		broken, well = "I'm not well. Please restart me!", 5
	case version == "latest" || version == "":
	default:
		answer = "This is " + version + " running in pod " + c.cfg.Hostname + "\n"
	}
	if version == "v3" {
		broken, well = "Some internal error has occurred! This is pod "+c.cfg.Hostname+"\n", 4
	}
	var requests atomic.Int64
	return &Server{
		Lines: []string{"Kubia server starting..."},
		Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from, _, err := net.SplitHostPort(r.RemoteAddr)
			if err != nil {
				from = r.RemoteAddr
			}
			fmt.Fprintf(c.Log.Writer(Stdout), "Received request from ::ffff:%s\n", from)
			if broken != "" && requests.Add(1) > well {
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, broken)
				return
			}
			_, _ = io.WriteString(w, answer)
		}), ports...),
	}
}

// kubiaFile is where the server that keeps data does so.
const kubiaFile = "/var/data/kubia.txt"

// kubiaPet is the server that keeps data. Without its folder it ends, as an error that nobody handles ends node.
func (c *Container) kubiaPet(ports []int) *Server {
	return &Server{
		Lines: []string{"Kubia server starting..."},
		Ports: listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				data, err := c.tree().ReadFile(kubiaFile)
				if err != nil {
					data = []byte("No data posted yet")
				}
				fmt.Fprintf(w, "You've hit %s\nData stored on this pod: %s\n", c.cfg.Hostname, data)
				return
			}
			data, err := coreutils.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			if err := c.tree().WriteFile(kubiaFile, data, 0o644); err != nil {
				fmt.Fprintf(c.Log.Writer(Stderr), "Error: %s, open '%s'\n", coreutils.Reason(err), kubiaFile)
				w.WriteHeader(http.StatusInternalServerError)
				c.cfg.Go(func() { c.exit(1) })
				return
			}
			_, _ = io.WriteString(c.Log.Writer(Stdout), "New data has been received and stored.\n") // the log takes all
			fmt.Fprintf(w, "Data stored on pod %s\n", c.cfg.Hostname)
		}), ports...),
	}
}

// fortuneImage writes a page every now and then: first says what it does before, and waits how long it sleeps. Args are those
// of its program.
func fortuneImage(first, waits string, args ...string) known {
	const loop = "/bin/fortuneloop.sh"
	script := "#!/bin/bash\ntrap \"exit\" SIGINT\n" + first + `
while :
do
  echo $(date) Writing fortune to /var/htdocs/index.html
  /usr/games/fortune > /var/htdocs/index.html
  sleep ` + waits + `
done
`
	return known{Image: Image{Size: 60 << 20, kind: "fortune", Entry: []string{loop}, Argv: args, Bash: true, files: map[string]string{"/usr" + loop: script, "/usr/games/fortune": fortunes}}, tags: fortuneTags}
}

// fortuneInterval is what an image does first that is told how often to write.
const fortuneInterval = "echo Configured to generate new fortune every $INTERVAL seconds\n\nmkdir -p /var/htdocs\n"

// batchJob is a Job's program.
const batchJob = `echo "$(date) Batch job starting"; sleep 120; echo "$(date) Finished succesfully"`

// fortunes stands for the program of that name, which knows thousands.
const fortunes = `#!/bin/bash
case $((RANDOM % 4)) in
0) echo "You will be surprised by a loud noise." ;;
1) echo "Today is what happened to yesterday." ;;
2) echo "You will be run over by a bus." ;;
*) echo "Tomorrow, this will be part of the unchangeable past but fortunately, it can still be changed today." ;;
esac
`
