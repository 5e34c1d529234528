package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

func (f *fixture) order(t testing.TB, body string) (a controlResult) {
	t.Helper()
	status, text := f.do(t, "POST", prefix+"control", f.options.Token, body)
	if err := json.Unmarshal(text, &a); err != nil || status != http.StatusOK {
		t.Fatalf("POST control %s: %d %s", body, status, text)
	}
	return a
}

// step orders a step and waits for its ticks. A slow machine may make some of them after the answer.
func (f *fixture) step(t testing.TB, ticks int) (a controlResult) {
	t.Helper()
	start := time.Now()
	a = f.order(t, fmt.Sprintf(`{"action": "step", "ticks": %d}`, ticks))
	if a.Made > uint64(ticks) || a.Made < uint64(ticks) && time.Since(start) < ticksTime {
		t.Errorf("a step of %d made %d ticks", ticks, a.Made)
	}
	f.waitForTicks(t, a.Tick+uint64(ticks)-a.Made)
	a.Tick += uint64(ticks) - a.Made
	return a
}

func TestControl(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	if a := f.order(t, `{"action": "pause"}`); !a.Paused || !f.schedule.Paused() {
		t.Errorf("after pause: %+v, paused %v", a, f.schedule.Paused())
	}
	f.see(t, func() {}) // returns after the current tick
	before := f.schedule.Stats().Tick
	for _, ticks := range []int{1, 10, 60} {
		a := f.step(t, ticks)
		before += uint64(ticks)
		if a.Tick != before || !a.Paused || f.schedule.Stats().Tick != before {
			t.Errorf("after a step of %d: %+v, want tick %d", ticks, a, before)
		}
	}
	if a := f.order(t, `{"action": "resume"}`); a.Paused || f.schedule.Paused() {
		t.Errorf("after resume: %+v, paused %v", a, f.schedule.Paused())
	}
	if a := f.step(t, 3); !a.Paused {
		t.Errorf("a step of a running program: %+v", a)
	}
}

func TestControlIsRefused(t *testing.T) {
	f := newFixture(t, Options{})
	f.refused(t, http.StatusForbidden, "POST", "control", f.options.Token, `{"action": "pause"}`)
	if c := f.controlState(); c.Available || c.Paused || !strings.Contains(c.Reason, "ReadWrite") {
		t.Errorf("in read-only mode: %+v", c)
	}
	f = newFixture(t, Options{ReadWrite: true})
	f.refused(t, http.StatusUnauthorized, "POST", "control", "", `{"action": "pause"}`)
	f.refused(t, http.StatusUnauthorized, "POST", "control", "wrong", `{"action": "pause"}`)
	for _, body := range []string{``, `{}`, `{"action": "stop"}`, `{"action": "step", "ticks": -1}`,
		`{"action": "step", "ticks": 10001}`,
		`{"action": "step", "ticks": 1.5}`, `{"action": "pause", "ticks": 1}`,
		`{"action": "pause", "then": 1}`, `{"action": "pause"} {}`, `{"action": "pause"}}`,
		`{"action": "pause"}]`,
		`["pause"]`, `{"action": "step", "ticks": 99999999999999999999}`, `{"action": "step"`} {
		if p := f.refused(t, http.StatusBadRequest, "POST", "control", f.options.Token,
			body); p.Code != "request" {
			t.Errorf("%q: %+v", body, p)
		}
	}
	for _, most := range []int64{10, 20} { // 10 bytes end within the order, 20 bytes end after the order
		body := http.MaxBytesReader(httptest.NewRecorder(),
			io.NopCloser(strings.NewReader(`{"action": "pause"}   {}`)), most)
		if _, err := readOrder(body); err == nil ||
			problemOf(err).Status != http.StatusRequestEntityTooLarge {
			t.Errorf("a body larger than %d bytes: %v", most, err)
		}
	}
	if f.schedule.Paused() {
		t.Error("a refused order paused the schedule")
	}
}

// noted is a Control that makes no ticks. It only notes its calls.
type noted struct {
	paused bool
	ticks  int // sum of the ticks of all calls of Step
}

func (n *noted) Pause()         { n.paused = true }
func (n *noted) Resume()        { n.paused = false }
func (n *noted) Step(ticks int) { n.paused, n.ticks = true, n.ticks+ticks }
func (n *noted) Paused() bool   { return n.paused }

func TestControlWithoutSchedule(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	for _, control := range []*noted{nil, {}} {
		o := Options{ReadWrite: true}
		if control != nil {
			o.Control = control
		}
		in, err := Serve(t.Context(), w, o)
		if err != nil {
			t.Fatal(err)
		}
		f := &fixture{Inspector: in}
		if control == nil {
			if p := f.refused(t, http.StatusConflict, "POST", "control", in.options.Token,
				`{"action":"pause"}`); p.Code != "noControl" {
				t.Errorf("without a schedule: %+v", p)
			}
			if c := in.controlState(); c.Available || !strings.Contains(c.Reason, "Options.Control") {
				t.Errorf("without a schedule: %+v", c)
			}
		} else {
			a := f.order(t, `{"action":"step","ticks":7}`)
			if a != (controlResult{Paused: true}) || control.ticks != 7 || !in.controlState().Available {
				t.Errorf("%+v, %+v", a, control)
			}
			if a := f.order(t, `{"action":"resume"}`); a.Paused || control.paused {
				t.Errorf("%+v, %+v", a, control)
			}
		}
		in.Close()
	}
}

func TestStepWithoutTicks(t *testing.T) {
	t.Parallel()
	n := &noted{}
	f := newFixture(t, Options{ReadWrite: true, Control: n})
	f.schedule.Pause()
	f.see(t, func() {})
	start := time.Now()
	if a := f.order(t, `{"action":"step","ticks":1}`); a.Made != 0 || n.ticks != 1 ||
		time.Since(start) < ticksTime {
		t.Errorf("%+v after %v, %+v", a, time.Since(start), n)
	}
}

func FuzzReadOrder(f *testing.F) {
	for _, s := range []string{`{"action":"pause"}`, `{"action":"step","ticks":10}`, `{"action":"resume"}`,
		`{`, `null`, `{"ACTION":"step"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		o, err := readOrder(strings.NewReader(body))
		if err != nil {
			if problemOf(err).Status != http.StatusBadRequest {
				t.Errorf("%q: %v", body, err)
			}
			return
		}
		switch o.Action {
		case "pause", "resume":
			if o.Ticks != 0 {
				t.Errorf("%q: %+v", body, o)
			}
		case "step":
			if o.Ticks < 1 || o.Ticks > maxTicks {
				t.Errorf("%q: %+v", body, o)
			}
		default:
			t.Errorf("%q: %+v", body, o)
		}
	})
}
