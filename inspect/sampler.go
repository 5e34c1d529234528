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
	sampleTime = time.Second     // time between two samples
	firstTime  = time.Second / 4 // time from the first request to the first sample
	// watchTime is the time from the last request to the end of sampling. A scraper usually sends a request
	// every 15 seconds.
	watchTime = 20 * time.Second
	letInTime = time.Second / 2        // longest wait for a census or a survey
	admitTime = 5 * time.Second / 2    // age of the last census at which the world counts as hanging
	stepTime  = 100 * time.Microsecond // approximate duration of one call of takeSurvey
)

type census struct {
	entities int
	changes  uint64
}

func takeCensus(w *vast.World, c *census) bool {
	c.entities, c.changes = w.Len(), w.Changes()
	return true
}

// survey is a census with the statistics of all columns. Each call of takeSurvey reads only a few columns,
// because counting the entities of a column may take a while.
type survey struct {
	census
	columns []vast.ColumnStats
	left    []vast.AnyColumn // columns that are not read yet
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

// sampler takes a sample each second while clients ask for samples.
type sampler struct {
	census   cachedVisit[census]
	survey   cachedVisit[survey]
	ticks    tickMeter
	schedule func() *sched.Schedule // returns the schedule that makes the ticks; may return nil
	control  func() Control         // may return nil

	ctx   context.Context
	stop  context.CancelFunc
	loops sync.WaitGroup

	mu      sync.Mutex
	until   time.Time // time of the stop if no further request comes
	running bool
	closed  bool
	history history
	kept    time.Time     // time of the last sample
	systems []SystemCost  // costs at the last sample
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

// watch starts sampling if necessary, and lets it continue for at least watchTime.
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
	s.ticks.sumUp() // drops the ticks before the first request
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

// latest returns the last sample and the costs of the systems at that moment. If there is no sample, or the
// last sample is too old, latest waits for the next sample.
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
