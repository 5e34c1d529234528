package earth

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

// folderError is the error of a -data folder that cannot be read or written.
type folderError struct{ error }

func (e *folderError) Unwrap() error { return e.error }

// withRemedy replaces a [store.BuildError] by an error that names the remedy. It returns all other errors
// unchanged.
func withRemedy(dir string, err error) error {
	e, ok := errors.AsType[*store.BuildError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("another build of vast has computed the %d ticks after tick %d of %s, and this build "+
		"may compute different ticks: run the other build once more and end it with Ctrl-C; or give "+
		"-drop-tail to resume from tick %[2]d", e.Ticks, e.Base, dir)
}

// keptIn returns the seed and the number of travellers of the world in a folder. If the folder is new, keptIn
// returns the values of the flags. It returns an error if a flag contradicts the folder.
func (o options) keptIn(dir string) (seed uint64, travellers int, err error) {
	seed, travellers, found, err := simulation.Kept(dir)
	switch {
	case err != nil:
		return 0, 0, &folderError{err}
	case !found:
		return o.seed, o.travellers, nil
	case o.given.seed && o.seed != seed:
		return 0, 0, fmt.Errorf("-seed %d: the world in %s has the seed %d: leave the flag out, or give "+
			"another folder", o.seed, dir, seed)
	case o.given.travellers && o.travellers != travellers:
		return 0, 0, fmt.Errorf("-travellers %d: the world in %s began with %d travellers: leave the flag "+
			"out, or give another folder", o.travellers, dir, travellers)
	}
	return seed, travellers, nil
}

// saves counts the checkpoints of a run and prints the durable tick. The store calls add on a goroutine of
// the store.
type saves struct {
	store   *store.Store
	seed    uint64
	resumed uint64        // the tick of the world when the run began
	reached chan struct{} // holds a token after a checkpoint
	stop    chan struct{} // nil before announce
	ended   chan struct{}

	mu      sync.Mutex
	last    store.Checkpoint // the last durable checkpoint
	at      time.Time        // the time at which last became durable
	count   int
	skipped int
	pauses  *hdrhistogram.Histogram // nanoseconds
	longest time.Duration           // the longest pause
	err     error                   // the error of a failed checkpoint
}

func newSaves() *saves {
	return &saves{
		reached: make(chan struct{}, 1), ended: make(chan struct{}),
		pauses: hdrhistogram.New(int64(time.Microsecond), int64(longestTracked), 3),
	}
}

// add counts a checkpoint. It is the store's function Notify.
func (s *saves) add(c store.Checkpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped += c.Skipped
	if c.Err != nil {
		s.err = fmt.Errorf("the checkpoint of tick %d failed: %w", c.Tick, c.Err)
		return
	}
	s.last, s.at = c, time.Now()
	s.count++
	s.longest = max(s.longest, c.Pause)
	// RecordValue does not fail, because the value is in range.
	_ = s.pauses.RecordValue(int64(min(c.Pause, longestTracked)))
	select {
	case s.reached <- struct{}{}:
	default: // reached already holds a token
	}
}

func (s *saves) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// announce starts a goroutine that prints durable ticks to w until close. The goroutine looks for a new
// durable tick after each checkpoint and once a second.
func (s *saves) announce(w io.Writer) {
	s.stop = make(chan struct{})
	go func() {
		defer close(s.ended)
		second := time.NewTicker(time.Second)
		defer second.Stop()
		printed := s.resumed
		for stopped := false; !stopped; {
			select {
			case <-second.C:
			case <-s.reached:
			case <-s.stop:
				stopped = true
			}
			if tick := s.store.DurableTick(); tick > printed {
				printed = tick
				fmt.Fprintf(w, "# durable %d\n", tick)
			}
		}
	}()
}

// close takes the last checkpoint and prints the last durable tick. The caller must stop the ticks first. The
// world stays readable.
func (s *saves) close() error {
	err := s.store.Close()
	close(s.stop)
	<-s.ended
	if e := s.failed(); e != nil {
		return e
	}
	return err
}

func (s *saves) report() *checkpointsReport {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(percent float64) float64 {
		// The histogram rounds percentiles up, so a percentile may exceed the longest pause.
		return milliseconds(min(time.Duration(s.pauses.ValueAtPercentile(percent)), s.longest))
	}
	return &checkpointsReport{
		Count: s.count, Skipped: s.skipped, PauseMs: pauseReport{at(50), at(99), milliseconds(s.longest)},
		Bytes: s.last.Bytes,
	}
}

// saved is the last durable checkpoint, for the screen.
type saved struct {
	exists bool          // whether the run has a durable checkpoint
	age    time.Duration // the time since the checkpoint became durable
	pause  time.Duration // the time for which the checkpoint stopped the ticks
	bytes  int64
}

func (s *saves) saved() saved {
	s.mu.Lock()
	defer s.mu.Unlock()
	return saved{s.count > 0, time.Since(s.at), s.last.Pause, s.last.Bytes}
}

// fields returns the status line of the checkpoint.
func (s saved) fields() tty.Fields {
	if !s.exists {
		return tty.Fields{strong("checkpoint", "none yet", "")}
	}
	return tty.Fields{
		strong("checkpoint", fmt.Sprintf("%.1f", s.age.Seconds()), "s ago"),
		strong("pause", fmt.Sprintf("%.1f", milliseconds(s.pause)), "ms"),
		strong("", vm.Bytes(int(s.bytes)), ""),
	}
}
