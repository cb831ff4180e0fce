package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kubetab/kubetab/server/internal/process"
)

// startup is what is known of a start, as the median of several.
type startup struct {
	ReadyMS   float64   `json:"ready_ms"`      // from exec until GET /readyz is 200
	AllMS     []float64 `json:"all_ms"`        // every start
	ReadyMB   float64   `json:"rss_mb"`        // resident memory a second later (MB = 10^6 bytes)
	RestMB    float64   `json:"rss_rest_mb"`   // when it has come to rest, of the last start
	LoadedMB  float64   `json:"rss_loaded_mb"` // and after everything that is measured over HTTP
	PeakMB    float64   `json:"rss_peak_mb"`   // the most it ever was
	ProgramMB float64   `json:"program_mb"`    // size of the file
}

// benchToken is the administrator's, so that the first request that is answered is an authorized one.
const benchToken = "bench"

// When resident memory is read: settle after each start, and rest after the last, by when all controllers have started.
const (
	settle = time.Second
	rest   = 5 * time.Second
)

// measureKubetab starts bin/kubetab runs times, and measures the last one over HTTP.
func measureKubetab(ctx context.Context, runs, ops int) (server, error) {
	s := server{Name: "kubetab"}
	binary, err := process.Binary("kubetab")
	if err != nil {
		return s, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return s, err
	}
	start := &startup{ProgramMB: float64(info.Size()) / 1e6}
	var resident []float64
	for i := range runs {
		k, err := startKubetab(ctx, binary)
		if err != nil {
			return s, err
		}
		start.AllMS = append(start.AllMS, float64(k.ready.Microseconds())/1000)
		pause(ctx, settle)
		resident = append(resident, k.memory("VmRSS"))
		if i == runs-1 {
			pause(ctx, rest-settle)
			start.RestMB = k.memory("VmRSS")
			s.Version, s.HTTP, err = measureHTTP(ctx, k.target, ops)
			start.LoadedMB, start.PeakMB = k.memory("VmRSS"), k.memory("VmHWM")
		}
		if stopErr := k.stop(); err == nil {
			err = stopErr
		}
		if err != nil {
			return s, err
		}
	}
	start.ReadyMS, start.ReadyMB = median(start.AllMS), median(resident)
	s.Start = start
	return s, nil
}

// kubetab is a server that this program started.
type kubetab struct {
	target target
	ready  time.Duration
	cmd    *exec.Cmd
	dir    string
}

func startKubetab(ctx context.Context, binary string) (*kubetab, error) {
	dir, err := os.MkdirTemp("", "kubetab-bench")
	if err != nil {
		return nil, err
	}
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(benchToken+`,bench,bench,"system:masters"`+"\n"), 0o600); err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0") // known before the start, so that it can be asked from the first moment
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	free.Close()
	k := &kubetab{dir: dir, target: target{url: "https://" + address, token: benchToken, tls: unverified()}}
	k.cmd = exec.Command(binary, "serve", "--listen", address, "--http", "", "--kubeconfig", "", "--token-auth-file", tokens)
	k.cmd.Stderr = os.Stderr
	began := time.Now()
	if err := k.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		c := k.target.dial()
		_, err := c.do(ctx, http.MethodGet, "/readyz", "")
		c.close()
		if err == nil {
			break
		}
		if ctx.Err() != nil || time.Since(began) > time.Minute {
			k.cmd.Process.Kill()
			k.cmd.Wait()
			return nil, fmt.Errorf("not ready: %w", err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	k.ready = time.Since(began)
	return k, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (k *kubetab) stop() error {
	defer os.RemoveAll(k.dir)
	if err := k.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return k.cmd.Wait()
}

// memory reads a line of /proc/PID/status, in MB. Elsewhere than on Linux it is 0.
func (k *kubetab) memory(field string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib * 1024 / 1e6
		}
	}
	return 0
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
