package core_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/clock"
)

// What people wait for happens when the clock is stepped over it, and not
// before: all of it is hours away by the real time.
func TestClockPath(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, client := living(t, core.Config{Nodes: 2, Clock: clock.New(nil), DefaultUser: &user.DefaultInfo{Name: "admin", Groups: []string{"system:masters"}}})
	until := func(what string, condition func() bool) {
		t.Helper()
		for !condition() {
			select {
			case <-ctx.Done():
				t.Fatalf("waited in vain: %s", what)
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	type state struct {
		Now    time.Time
		Paused bool
		Speed  float64
	}
	send := func(method, path, body string) (int, state) {
		t.Helper()
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		w := httptest.NewRecorder()
		e.Handler().ServeHTTP(w, r)
		var s state
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil && w.Code == http.StatusOK {
			t.Fatalf("%s %s: %s", method, path, w.Body)
		}
		return w.Code, s
	}

	t.Run("requests", func(t *testing.T) {
		for _, c := range []struct {
			method, path, body string
			code               int
		}{
			{"PUT", core.ClockPath, `{}`, 400},
			{"PUT", core.ClockPath, `{"speed":0}`, 400},
			{"PUT", core.ClockPath, `{"speed":-1}`, 400},
			{"PUT", core.ClockPath, `{"speed":1e9}`, 400},
			{"PUT", core.ClockPath, `{"rate":2}`, 400},
			{"PUT", core.ClockPath, `{"paused":true}{}`, 400},
			{"PUT", core.ClockPath, strings.Repeat(" ", 1<<20), 400},
			{"DELETE", core.ClockPath, ``, 405},
			{"POST", core.ClockPath + "/step", `{"seconds":-3}`, 400},
			{"POST", core.ClockPath + "/step", `{}`, 400},
			{"PUT", core.ClockPath + "/step", `{"seconds":3}`, 405},
			{"GET", core.ClockPath, ``, 200},
		} {
			code, s := send(c.method, c.path, c.body)
			if code != c.code {
				t.Errorf("%s %s %.20s: %d, not %d", c.method, c.path, c.body, code, c.code)
			}
			if code == 200 && (s.Paused || s.Speed != 1 || time.Since(s.Now).Abs() > time.Minute) {
				t.Errorf("a refused request changed the clock: %+v", s)
			}
		}
		_, paused := send("PUT", core.ClockPath, `{"paused":true,"speed":60}`)
		_, stepped := send("POST", core.ClockPath+"/step", `{"seconds":90}`)
		if !paused.Paused || paused.Speed != 60 || stepped.Now.Sub(paused.Now) != 90*time.Second {
			t.Errorf("paused %+v, stepped %+v", paused, stepped)
		}
		if _, s := send("PUT", core.ClockPath, `{"paused":false,"speed":1}`); s.Paused || s.Speed != 1 {
			t.Errorf("resumed: %+v", s)
		}
	})

	// Pods are scheduled and taken when the account and the nodes are there.
	until("the account", func() bool {
		_, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	echo := v1.PodTemplateSpec{Spec: v1.PodSpec{RestartPolicy: v1.RestartPolicyNever, Containers: []v1.Container{{Name: "main", Image: "busybox", Command: []string{"echo", "done"}}}}}

	t.Run("jobs", func(t *testing.T) {
		jobs := client.BatchV1().Jobs("default")
		told, err := jobs.Watch(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer told.Stop()
		cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "monthly"}, Spec: batchv1.CronJobSpec{Schedule: "0 0 1 * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: echo, TTLSecondsAfterFinished: ptr.To[int32](7200)}}}}
		if _, err := client.BatchV1().CronJobs("default").Create(ctx, cron, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		// What becomes of the first Job. A Job that is complete goes with the next day, and a list may come too late for it.
		var name string
		var isComplete, isGone bool
		look := func() {
			for {
				select {
				case e, ok := <-told.ResultChan():
					if !ok {
						t.Fatal("the watch of Jobs has ended")
					}
					job, ok := e.Object.(*batchv1.Job)
					if !ok {
						t.Fatalf("watched %s %v", e.Type, e.Object)
					}
					if name == "" {
						name = job.Name
					}
					if job.Name == name {
						isComplete, isGone = job.Status.Succeeded == 1, e.Type == watch.Deleted
					}
				default:
					return
				}
			}
		}
		// The controller must have seen the schedule before time jumps over it.
		until("the schedule is known", func() bool {
			if look(); name == "" {
				send("POST", core.ClockPath+"/step", `{"seconds":86400}`)
			}
			return name != ""
		})
		until("the Job is complete", func() bool {
			look()
			return isComplete
		})
		until("the Job is gone after its time to live", func() bool {
			if look(); !isGone {
				send("POST", core.ClockPath+"/step", `{"seconds":3600}`)
			}
			return isGone
		})
	})

	t.Run("evictions", func(t *testing.T) {
		pods := client.CoreV1().Pods("default")
		p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "tolerant"}, Spec: v1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](0),
			Containers:                    []v1.Container{{Name: "main", Image: "pause"}},
			Tolerations:                   []v1.Toleration{{Key: "maintenance", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](86400)}}}}
		if _, err := pods.Create(ctx, p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		until("the Pod runs", func() bool {
			var err error
			p, err = pods.Get(ctx, "tolerant", metav1.GetOptions{})
			return err == nil && p.Status.Phase == v1.PodRunning
		})
		taint := []byte(`{"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}}`)
		if _, err := client.CoreV1().Nodes().Patch(ctx, p.Spec.NodeName, "application/merge-patch+json", taint, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		until("the Pod is evicted", func() bool {
			send("POST", core.ClockPath+"/step", `{"seconds":43200}`)
			_, err := pods.Get(ctx, "tolerant", metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	})
}
