package core

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/internal/state"
)

// ClockPath answers a GET with the state of Config.Clock and a PUT by changing
// it; a POST to its sub-path step moves it forward:
//
//	GET  /kubetab/clock       {"now": "2026-11-20T13:00:00Z", "paused": false, "speed": 1}
//	PUT  /kubetab/clock       {"paused": true} or {"speed": 60} or both
//	POST /kubetab/clock/step  {"seconds": 3600}
//
// All three answer with a ClockState. Like CompactPath they are non-resource URLs
// that RBAC guards. Without a clock in Config they do not exist.
const ClockPath = "/kubetab/clock"

// maxStep keeps timestamps within what Kubernetes can show.
const maxStep = 366 * 24 * time.Hour

func installClock(server *genericapiserver.GenericAPIServer, c *clock.Clock) {
	now := func() any {
		s := c.State()
		return ClockState{Now: s.Now.UTC(), Paused: s.Paused, Speed: s.Rate}
	}
	mux := server.Handler.NonGoRestfulMux
	mux.UnlistedHandle(ClockPath, &state.Handler{Name: "clock", Method: http.MethodPut, State: now, Change: func(body io.Reader) error { return setClock(c, body) }})
	mux.UnlistedHandle(ClockPath+"/step", &state.Handler{Name: "clock", Method: http.MethodPost, State: now, Change: func(body io.Reader) error { return stepClock(c, body) }})
}

func setClock(c *clock.Clock, body io.Reader) error {
	var want struct {
		Paused *bool    `json:"paused"`
		Speed  *float64 `json:"speed"`
	}
	if err := state.Decode(body, &want); err != nil {
		return err
	}
	if want.Paused == nil && want.Speed == nil {
		return errors.New("nothing to change: give paused, speed or both")
	}
	if want.Speed != nil {
		if *want.Speed > clock.MaxRate {
			return fmt.Errorf("speed %v: at most %d is possible", *want.Speed, clock.MaxRate)
		}
		if err := c.SetRate(*want.Speed); err != nil {
			return err
		}
	}
	switch {
	case want.Paused == nil:
	case *want.Paused:
		c.Pause()
	default:
		c.Resume()
	}
	return nil
}

func stepClock(c *clock.Clock, body io.Reader) error {
	var want struct {
		Seconds float64 `json:"seconds"`
	}
	if err := state.Decode(body, &want); err != nil {
		return err
	}
	if !(want.Seconds > 0) || want.Seconds > maxStep.Seconds() {
		return fmt.Errorf("seconds %v: give a number above 0 and up to %.0f", want.Seconds, maxStep.Seconds())
	}
	return c.Step(time.Duration(want.Seconds * float64(time.Second)))
}
