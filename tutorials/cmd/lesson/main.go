// Command lesson is for whoever writes one: it begins a lesson that is not there, and from then on says after each save
// what is wrong with it, and plays it when nothing is.
//
//	go run ./tutorials/cmd/lesson part/name
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/klog/v2"

	"github.com/kubetab/kubetab/tutorials/load"
	"github.com/kubetab/kubetab/tutorials/play"
)

//go:embed template
var template embed.FS

// together is how long saves may be apart to be looked at as one: an editor writes a file in several goes.
const together = 200 * time.Millisecond

var namePattern = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+$`)

func main() {
	from := flag.String("tutorials", "tutorials", "`folder` of the lessons")
	once := flag.Bool("once", false, "look once and end; the exit code says whether all is well")
	patience := flag.Duration("patience", 20*time.Second, "how long a check may take")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *from, flag.Arg(0), *once, *patience); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, from, id string, once bool, patience time.Duration) error {
	if !namePattern.MatchString(id) {
		return fmt.Errorf("%q is no name of a lesson: it is part/name, in small letters", id)
	}
	folder := filepath.Join(from, filepath.FromSlash(id))
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if err := begin(folder, id); err != nil {
			return err
		}
		fmt.Printf("%s is new, made from a template\n", folder)
	}
	if once {
		return look(ctx, from, id, patience)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	for {
		for _, part := range []string{"", "start", "files", "solution"} {
			if err := watcher.Add(filepath.Join(folder, part)); err != nil && part == "" { // the others may not be there
				return err
			}
		}
		fmt.Printf("\n%s %s\n", time.Now().Format(time.TimeOnly), id)
		if err := look(ctx, from, id, patience); err != nil {
			fmt.Println(err)
		}
		if !saved(ctx, watcher) {
			return nil
		}
	}
}

// saved waits for a save and for what belongs to it. It is false at the end.
func saved(ctx context.Context, watcher *fsnotify.Watcher) bool {
	var rest <-chan time.Time
	for {
		select {
		case <-watcher.Events:
			rest = time.After(together)
		case err := <-watcher.Errors:
			fmt.Println(err)
		case <-rest:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// look reads the lesson and, if it is sound, plays it: each pass in a cluster of its own.
func look(ctx context.Context, from, id string, patience time.Duration) error {
	l, err := load.One(os.DirFS(from), id)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "lesson-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	n := 0
	player := &play.Player{
		Patience: patience,
		Temp:     func() string { n++; return filepath.Join(temp, fmt.Sprint(n)) },
	}
	var faults []error
	for pass := range play.Passes(l) {
		name := "the solution"
		if pass > 0 {
			name = fmt.Sprintf("wrong turn %d", pass)
		}
		c, err := play.Start(ctx, l.Engine)
		if err != nil {
			return err
		}
		if err := errors.Join(player.Play(ctx, c, l, pass), c.Close()); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			continue
		}
		fmt.Printf("%s does what it should\n", name)
	}
	return errors.Join(faults...)
}

// begin makes a lesson from the template.
func begin(folder, id string) error {
	return fs.WalkDir(template, "template", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := template.ReadFile(name)
		if err != nil {
			return err
		}
		to := filepath.Join(folder, filepath.FromSlash(strings.TrimPrefix(name, "template/")))
		replaced := strings.NewReplacer("PART/NAME", id, "PART-NAME", strings.ReplaceAll(id, "/", "-"), "NAME", path.Base(id)).Replace(string(text))
		return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(replaced), 0o644))
	})
}
