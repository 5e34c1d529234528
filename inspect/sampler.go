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
	sampleTime = time.Second     // between samples
	firstTime  = time.Second / 4 // before the first sample, whose rates cover this time
	// sampling stops this long after the last request; longer than the usual 15 seconds between two scrapes
	watchTime = 20 * time.Second
	letInTime = time.Second / 2        // longest wait for the world's census in one sample
	admitTime = 5 * time.Second / 2    // the world counts as hanging if its last census is this old
	stepTime  = 100 * time.Microsecond // approximate time that one visit of a survey reads columns
)

// census holds the figures that a sample reads from the world.
type census struct {
	entities int
	changes  uint64
}

func takeCensus(w *vast.World, c *census) bool {
	c.entities, c.changes = w.Len(), w.Changes()
	return true
}

// survey is a census with the statistics of all columns. Each visit reads only a few columns, because
// counting the entities of a column may take a while.
type survey struct {
	census
	columns []vast.ColumnStats
	left    []vast.AnyColumn // columns not read yet
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

// sampler takes a sample a second while there are readers.
type sampler struct {
	census cachedVisit[census]
	survey cachedVisit[survey]
	ticks  tickMeter
	// schedule returns the schedule that makes the ticks, or nil. control returns the Control, or nil.
	schedule func() *sched.Schedule
	control  func() Control

	ctx   context.Context
	stop  context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	until   time.Time // when to stop if no further request comes
	running bool
	closed  bool
	history history
	kept    time.Time     // time of the last sample
	systems []SystemCost  // as of the last sample
	fresh   chan struct{} // closed when the next sample is added
}

func newSampler(w *vast.World, schedule func() *sched.Schedule, control func() Control) *sampler {
	s := &sampler{schedule: schedule, control: control, fresh: make(chan struct{})}
	s.census = cachedVisit[census]{world: w, look: takeCensus}
	s.survey = cachedVisit[survey]{world: w, look: takeSurvey}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// close stops sampling and waits until no visit is under way.
func (s *sampler) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.loops.Wait()
	s.census.asking.Wait()
	s.survey.asking.Wait()
}

// watch starts run if it does not run yet. From now on, run takes samples for at least watchTime.
func (s *sampler) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(watchTime)
	if !s.running && !s.closed {
		s.running = true
		s.loops.Go(s.run)
	}
}

// run takes samples until no request has come for watchTime, or until close.
func (s *sampler) run() {
	began := time.Now()
	before := s.read(began)
	s.ticks.sumUp() // ticks before the first reader do not count
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

// keep adds a sample and reports whether sampling continues.
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

// latest returns the last sample and the costs of the systems at that moment. If there is no sample yet, or
// the last sample is older than two and a half seconds, latest waits for the next sample.
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
