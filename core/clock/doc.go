// Package clock is the one clock of a cluster: what the engine, its controllers
// and its kubelets take for the time. It can be paused, resumed, stepped and
// run at another rate, so that a lesson can hold a moment still or let an hour
// pass. It knows nothing of Kubernetes.
//
//	base (the real clock, or a fake one in tests)
//	  |  now = shown + (base now - since) * rate, or shown while paused
//	  v
//	Clock ---- heap of waiters ---- one timer of the base for the earliest
//
// Invariants:
//
//   - Time never runs backwards: Step refuses a negative duration, and a rate
//     is positive.
//   - Untouched, it shows exactly what its base shows, also after a suspended
//     laptop wakes: it then adds an offset and measures nothing itself.
//   - It has no goroutine. A clock on which nobody waits costs nothing, and
//     dropping the last reference ends it.
//
// # Where upstream reads the real time
//
// Not all of upstream takes a clock. What reads the process's time keeps doing
// so. On js/wasm a host can bend time for the whole program, because the imports
// runtime.nanotime1, runtime.walltime and runtime.scheduleTimeoutEvent of a Go
// module are functions of the host.
//
//	package                                   what it reads          takes a clock
//	k8s.io/apiserver/pkg/registry/rest        creationTimestamp      no (metav1.Now)
//	k8s.io/apiserver/pkg/registry/generic     deletionTimestamp      no (metav1.Now)
//	k8s.io/apimachinery ...util/managedfields time of managedFields  no (time.Now)
//	k8s.io/apiserver ...authentication, audit token expiry, stamps   no
//	k8s.io/kubernetes/pkg/serviceaccount      iat, exp of tokens     no (a variable)
//	k8s.io/client-go/tools/cache              resync, back-off       partly
//	k8s.io/client-go/util/workqueue           rate limits, delays    yes (config)
//	k8s.io/client-go/tools/record             stamps of events       no for recorders, yes for correlators
//	k8s.io/component-helpers .../lease        pace of renewals       no (stamps: yes)
//	k8s.io/apiserver/pkg/storage/etcd3        compaction             yes
//	controller/deployment                     progress deadlines     no (unexported now)
//	controller/replicaset, statefulset        minReady               no (unexported field)
//	controller/podautoscaler                  stabilization windows  no (time.Now)
//	controller/nodelifecycle                  grace period of nodes  no (unexported now)
//	controller/disruption                     expected Pods          yes (NewDisruptionControllerInternal)
//	controller/endpoint, endpointslice        trigger times          no
//	controller/namespace, resourcequota, ...  latencies in logs      no
//	controller/certificates/cleaner           age of requests        no (unexported field)
//	scheduler                                 back-off of Pods       yes (scheduler.WithClock)
//
// The controllers of jobs, cron jobs, finished jobs and taints have the clock
// too, in fields that upstream keeps for its tests: see core/controllers.
//
// Objects are therefore as old as the real time says: a CronJob made after the
// clock was stepped forward is taken to have missed the runs between.
package clock
