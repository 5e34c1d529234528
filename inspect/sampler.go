package inspect

import (
	"context"
	"sync"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/sched"
)

const (
	sampleTime = time.Second            // between samples
	firstTime  = time.Second / 4        // before the first sample, over which its rates are taken
	watchTime  = 20 * time.Second       // that samples are taken for after somebody looked: scrapes come every 15 seconds
	letInTime  = time.Second / 2        // that a sample waits for the world
	admitTime  = 5 * time.Second / 2    // after which a world counts as one that lets nobody look
	stepTime   = 100 * time.Microsecond // that one look at columns takes, about
)

// census is what a sample asks of the world.
type census struct {
	entities int
	changes  uint64
}

func takeCensus(w *vast.World, c *census) bool {
	c.entities, c.changes = w.Len(), w.Changes()
	return true
}

// survey has the columns as well: a few are asked at a time, because each takes a while where it has many entities.
type survey struct {
	census
	columns []vast.ColumnStats
	left    []vast.AnyColumn
	begun   bool
}

func takeSurvey(w *vast.World, s *survey) bool {
	if !s.begun {
		s.left, s.begun = probe.Columns(w), true
	}
	for start := time.Now(); len(s.left) > 0 && time.Since(start) < stepTime; s.left = s.left[1:] {
		s.columns = append(s.columns, probe.StatsOf(s.left[0]))
	}
	return len(s.left) == 0 && takeCensus(w, &s.census)
}

// sampler takes a sample a second for as long as somebody looks, and nothing else.
type sampler struct {
	census question[census]
	survey question[survey]
	ticks  tickMeter
	// schedule returns what makes the ticks, or nil; control what pauses it, or nil.
	schedule func() *sched.Schedule
	control  func() Control

	ctx   context.Context
	stop  context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	until   time.Time // when to stop unless somebody looks again
	running bool
	closed  bool
	history history
	kept    time.Time     // when the last sample was
	systems []SystemCost  // as of the last sample
	fresh   chan struct{} // closed with the next sample
}

func newSampler(w *vast.World, schedule func() *sched.Schedule, control func() Control) *sampler {
	s := &sampler{schedule: schedule, control: control, fresh: make(chan struct{})}
	s.census = question[census]{world: w, look: takeCensus}
	s.survey = question[survey]{world: w, look: takeSurvey}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// close ends the samples and waits until nothing is asked of the world any more.
func (s *sampler) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.loops.Wait()
	s.census.asking.Wait()
	s.survey.asking.Wait()
}

// watch has samples taken for a while.
func (s *sampler) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(watchTime)
	if !s.running && !s.closed {
		s.running = true
		s.loops.Go(s.run)
	}
}

// run takes samples until nobody looks any more.
func (s *sampler) run() {
	began := time.Now()
	before := s.read(began)
	s.ticks.sumUp() // what ended long ago is not told of
	next := time.NewTimer(firstTime)
	defer next.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-next.C:
		}
		next.Reset(sampleTime)
		after := s.read(began)
		if !s.keep(after.since(before), after.costsSince(before)) {
			return
		}
		before = after
	}
}

// keep adds a sample and reports whether somebody still looks.
func (s *sampler) keep(sample Sample, systems []SystemCost) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.add(sample)
	s.kept, s.systems = time.Now(), systems
	close(s.fresh)
	s.fresh = make(chan struct{})
	s.running = time.Now().Before(s.until)
	return s.running
}

// latest returns the last sample, with the costs of systems of the same moment. It waits for one if nobody looked before.
func (s *sampler) latest(ctx context.Context) (sample Sample, systems []SystemCost, err error) {
	s.watch()
	for {
		s.mu.Lock()
		sample, ok := s.history.last()
		kept, systems, fresh := s.kept, s.systems, s.fresh
		s.mu.Unlock()
		if ok && time.Since(kept) < 2*sampleTime+letInTime {
			return sample, systems, nil
		}
		select {
		case <-fresh:
		case <-ctx.Done():
			return Sample{}, nil, ctx.Err()
		case <-s.ctx.Done():
			return Sample{}, nil, vast.ErrClosed
		}
	}
}

// past returns the samples of the last ten minutes.
func (s *sampler) past() []Sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.since(seconds(time.Now()) - historyLength*sampleTime.Seconds())
}
