// Package scheduling runs kube-scheduler in the process of the API server that
// it schedules for: upstream's own, with its default profile, plugins and
// events, without flags, files, leader election or listener.
//
// It shares the informers of the controllers and the API server. kube-scheduler
// has an informer of Pods that are not finished. Here the scheduler uses the
// shared informer of all Pods, behind a filter (pods.go).
//
// It holds that the scheduler ends when Run's context ends, and that nothing
// here ends the process.
package scheduling
