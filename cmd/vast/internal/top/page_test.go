package top

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

func text(lines []tty.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func TestPageFitsEveryWindow(t *testing.T) {
	p := newProgram(t)
	s := p.state(t)
	for i := range 700 {
		n := p.sample
		n.At += float64(i)
		s.apply(update{sample: &n})
	}
	now := time.Unix(startTime+700, 0)
	for columns := 1; columns <= 170; columns += 1 + columns/20 {
		for rows := 1; rows <= 60; rows += 1 + rows/20 {
			lines := compose(s, columns, rows, now)
			if len(lines) > rows || len(lines) < rows && columns >= minColumns && rows >= minRows {
				t.Fatalf("the page of %d×%d cells has %d lines", columns, rows, len(lines))
			}
			for _, l := range lines {
				if l.Width() > columns {
					t.Fatalf("in the page of %d×%d cells, the line %q has %d cells", columns, rows, l,
						l.Width())
				}
			}
		}
	}
}

func TestPageShowsAll(t *testing.T) {
	p := newProgram(t)
	s := p.state(t)
	for _, c := range []struct {
		columns, rows int
		want, not     []string
	}{
		{20, 6, []string{"live", "ticks 60 /s", "q quit"}, []string{"SYSTEM"}},
		{80, 24, []string{
			"vast top   demo   127.0.0.1:1", "live", "ticks 60 /s   p50 4.20 ms   p99 6.10 ms   worst " +
				"9.80 ms   budget 16.7 ms",
			"entities 1,199,568   changes of structure 6,120 /s", "resident      192 MiB █",
			"committed     256 MiB █", "of 1 GiB reserved",
			"Go heap         8 MiB █", "collections 41   pauses 1.9 /s   worst 80.0 µs   goroutines 14",
			"system0 ", " 20 %", "2.00 ms", "Column0", "100 MiB", "25 %", "and 8 more", "q quit",
		}, []string{"system11"}},
		{150, 45, []string{"tick 86,400   2 late", "system11", "Column11", "processors 0.31 busy", "86,400"},
			[]string{"more"}},
	} {
		got := text(compose(s, c.columns, c.rows, time.Unix(startTime, 0)))
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("the page of %d×%d cells lacks %q:\n%s", c.columns, c.rows, want, got)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("the page of %d×%d cells has %q:\n%s", c.columns, c.rows, not, got)
			}
		}
	}
}

func TestPageWithoutSchedule(t *testing.T) {
	p := newProgram(t)
	p.sample.Pace, p.costs.Systems = nil, nil
	got := text(compose(p.state(t), 80, 24, time.Unix(startTime, 0)))
	if strings.Contains(got, "ticks") || strings.Contains(got, "p99") ||
		!strings.Contains(got, "no systems: the world has no schedule") ||
		!strings.Contains(got, "entities 1,199,568") || !strings.Contains(got, "Column8") {
		t.Errorf("the page is\n%s", got)
	}
}

func TestHealth(t *testing.T) {
	p := newProgram(t)
	now := time.Now()
	for _, c := range []struct {
		change func(*state)
		want   tty.Span
	}{
		{func(*state) {}, tty.Text("live", tty.Good)},
		{func(s *state) { s.history[0].Paused = true }, tty.Text("paused", tty.Warn)},
		{func(s *state) { s.history[0].Admitting, s.history[0].Age = false, 7.4 },
			tty.Text("the world has admitted no visitors for 7 s", tty.Warn)},
		{func(s *state) { s.lost, s.heard = errors.New("x"), now.Add(-5*time.Second) },
			tty.Text("lost for 5 s, trying again", tty.Bad)},
		{func(s *state) { s.lost = &attach.Error{Status: 403, Message: "no"} },
			tty.Text("refused: no", tty.Bad)},
	} {
		s := p.state(t)
		c.change(s)
		if got := health(s, now); got != c.want {
			t.Errorf("health returned %+v, want %+v", got, c.want)
		}
	}
}

// TestHostileProgram checks that text from a program cannot control the terminal or break the page.
func TestHostileProgram(t *testing.T) {
	p := newProgram(t)
	hostile := "\x1b]0;title\x07\u202e\n" + strings.Repeat("日本é", 100) + "\x9b31m"
	p.worldName = hostile
	for i := range p.costs.Systems {
		p.costs.Systems[i] = inspect.SystemCost{Name: hostile, Load: 1e300, P50: -1, P99: 1e300, Last: 1e-300}
		p.costs.Columns[i] = inspect.ColumnCost{Name: hostile, Type: hostile, Entities: -5, Slots: 1,
			Committed: math.MinInt, Reserved: math.MaxInt}
	}
	p.sample.Entities, p.sample.ChangesPerSecond, p.sample.Memory.Resident = -1, 1e300, math.MaxInt
	p.sample.TickSeconds = inspect.TickTimes{P50: -1, P99: 1e300, Worst: 1e300}
	p.sample.BudgetSeconds, p.sample.GC.PausesPerSecond = -1, -1
	s := p.state(t)
	for _, at := range []float64{-1e300, 1e300, 0, 1e300, startTime} {
		n := p.sample
		n.At = at
		s.apply(update{sample: &n})
		for _, columns := range []int{20, 80, 150} {
			for _, l := range compose(s, columns, 40, time.Now()) {
				if l.Width() > columns {
					t.Errorf("%q has %d cells", l, l.Width())
				}
				for _, r := range l.String() {
					if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
						t.Fatalf("the page has %q in %q", r, l)
					}
				}
			}
		}
	}
}

func TestState(t *testing.T) {
	p := newProgram(t)
	s := p.state(t)
	sampleAt := func(at float64) update { return update{sample: &inspect.Sample{At: at, Admitting: true}} }
	s.apply(sampleAt(startTime)) // the history already has this sample
	s.apply(sampleAt(startTime + 1))
	if len(s.history) != 2 {
		t.Errorf("the history has %d samples, want 2", len(s.history))
	}
	s.apply(update{lost: errors.New("cut")})
	if s.lost == nil || len(s.history) != 2 {
		t.Errorf("after a lost connection: error %v, %d samples; want an error, 2 samples", s.lost,
			len(s.history))
	}
	s.apply(sampleAt(startTime + 2))
	if s.lost != nil || s.now().At != startTime+2 {
		t.Errorf("after attaching again: error %v, newest sample at %v", s.lost, s.now().At)
	}
	for i := range 2 * maxSamples {
		s.apply(sampleAt(startTime + 3 + float64(i)))
	}
	if len(s.history) != maxSamples || s.now().At != startTime+2+2*maxSamples {
		t.Errorf("the history has %d samples, the newest at %v", len(s.history), s.now().At)
	}
	s.apply(sampleAt(startTime - 1000)) // the clock of the program was set back
	if len(s.history) != 1 || s.now().At != startTime-1000 {
		t.Errorf("after the clock was set back: %d samples, the newest at %v", len(s.history), s.now().At)
	}
}

func TestChart(t *testing.T) {
	draw := func(values []float64, rows int, bound float64) string {
		return strings.TrimRight(text(spark(values, rows, scale(values), bound)), "\n")
	}
	for _, c := range []struct {
		values []float64
		rows   int
		want   string
	}{
		{nil, 1, ""},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8}, 1, "▁▂▃▄▅▆▇█"},
		{[]float64{8, missing, 0.001}, 1, "█ ▁"},
		{[]float64{0, 0}, 1, ""},
		{[]float64{1, 2, 3, 4}, 2, "  ▄█\n▄███"},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1000}, 1, "▂▂▂▂▂▂▂▂▂▂█"},
	} {
		if got := draw(c.values, c.rows, 0); got != c.want {
			t.Errorf("%v in %d rows: %q, want %q", c.values, c.rows, got, c.want)
		}
	}
	if l := spark([]float64{1, 3, 1}, 1, 3, 2)[0]; len(l) != 3 || l[1].Tone != tty.Warn ||
		l[0].Tone != tty.Accent {
		t.Errorf("only the second value exceeds the bound: the tones are %+v", l)
	}

	var history []inspect.Sample
	for _, at := range []float64{10.02, 11.01, 12.04, 15, 15.6, 17.1} {
		history = append(history, inspect.Sample{At: at, Entities: int(at)})
	}
	got := fmt.Sprint(bySecond(history, 9, func(s inspect.Sample) float64 { return float64(s.Entities) }))
	if want := "[NaN 10 11 12 NaN NaN 15 15 17]"; got != want {
		t.Errorf("bySecond returned %s, want %s", got, want)
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{rate(0), "0"}, {rate(1.26), "1.3"}, {rate(60.4), "60"}, {rate(12345.6), "12,346"},
		{rate(math.NaN()), "0"}, {rate(math.Inf(1)), "∞"},
		{seconds(0), "0"}, {seconds(-1), "0"}, {seconds(3e-9), "3.00 ns"},
		{seconds(8e-5), "80.0 µs"}, {seconds(0.0042), "4.20 ms"},
		{seconds(0.01667), "16.7 ms"}, {seconds(0.9999), "1.00 s"},
		{seconds(123), "123 s"}, {seconds(math.Inf(1)), "∞"},
		{percent(0), "0 %"}, {percent(0.012), "1.2 %"}, {percent(0.0996), "10 %"},
		{percent(2), "200 %"}, {percent(math.NaN()), "0 %"},
		{size(-1), "0 B"}, {size(8 << 20), "8 MiB"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
