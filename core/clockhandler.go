package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"github.com/kubetab/kubetab/core/clock"
)

// ClockPath answers a GET with the state of Config.Clock and a PUT by changing
// it; a POST to its sub-path step moves it forward:
//
//	GET  /kubetab/clock       {"now": "2026-11-20T13:00:00Z", "paused": false, "speed": 1}
//	PUT  /kubetab/clock       {"paused": true} or {"speed": 60} or both
//	POST /kubetab/clock/step  {"seconds": 3600}
//
// All three answer with the state. Like CompactPath they are non-resource URLs
// that RBAC guards. Without a clock in Config they do not exist.
const ClockPath = "/kubetab/clock"

// The limits keep what goes by the clock from taking all of a processor, and
// timestamps within what Kubernetes can show.
const (
	maxSpeed  = 3600
	maxStep   = 366 * 24 * time.Hour
	clockBody = 4 << 10 // bytes
)

type clockState struct {
	Now    time.Time `json:"now"`
	Paused bool      `json:"paused"`
	Speed  float64   `json:"speed"` // seconds of the clock in one of the real time, also while paused
}

func installClock(server *genericapiserver.GenericAPIServer, c *clock.Clock) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(ClockPath, clockHandler(c, http.MethodPut, setClock))
	server.Handler.NonGoRestfulMux.UnlistedHandle(ClockPath+"/step", clockHandler(c, http.MethodPost, stepClock))
}

// clockHandler answers with the state after change, which gets the body of a
// request with the method that changes.
func clockHandler(c *clock.Clock, method string, change func(*clock.Clock, io.Reader) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case method:
			if err := change(c, http.MaxBytesReader(w, r.Body, clockBody)); err != nil {
				writeStatus(w, metav1.Status{Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: "clock: " + err.Error()})
				return
			}
		default:
			w.Header().Set("Allow", "GET, HEAD, "+method)
			writeStatus(w, metav1.Status{Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed, Message: "the clock is read with GET and changed with " + method})
			return
		}
		s := c.State()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		_ = json.NewEncoder(w).Encode(clockState{Now: s.Now.UTC(), Paused: s.Paused, Speed: s.Rate}) // the client has gone: nobody to tell
	})
}

func setClock(c *clock.Clock, body io.Reader) error {
	var want struct {
		Paused *bool    `json:"paused"`
		Speed  *float64 `json:"speed"`
	}
	if err := decodeOne(body, &want); err != nil {
		return err
	}
	if want.Paused == nil && want.Speed == nil {
		return errors.New("nothing to change: give paused, speed or both")
	}
	if want.Speed != nil {
		if *want.Speed > maxSpeed {
			return fmt.Errorf("speed %v: at most %d is possible", *want.Speed, maxSpeed)
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
	if err := decodeOne(body, &want); err != nil {
		return err
	}
	if !(want.Seconds > 0) || want.Seconds > maxStep.Seconds() {
		return fmt.Errorf("seconds %v: give a number above 0 and up to %.0f", want.Seconds, maxStep.Seconds())
	}
	return c.Step(time.Duration(want.Seconds * float64(time.Second)))
}

// decodeOne reads one JSON object of known fields.
func decodeOne(body io.Reader, into any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
