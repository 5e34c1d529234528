package trial

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/cluster/internal/storage"
	"github.com/vastgo/vast/internal/measure"
)

const (
	// logs is the number of outboxes to which a measurement appends at the same time. There are twice as many
	// outboxes: the server delivers the messages of the second half to this process.
	logs  = 4
	depth = 8 // maximum number of unacknowledged messages of an outbox
	// small and large are sizes of messages, in bytes. The cost of a byte follows from the costs of two
	// sizes.
	small, large = 200, 20_200
)

type server struct {
	storage *storage.Storage
	last    [2 * logs]uint64 // number of the newest message of each outbox
}

func measureServer(ctx context.Context, dir string, c *plan.Costs) (err error) {
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	embedded, err := storage.StartServer(storage.ServerOptions{Dir: dir})
	if err != nil {
		return err
	}
	defer embedded.Close()
	s := &server{}
	if s.storage, err = storage.Open(ctx, storage.Options{Name: "trial", Server: embedded}); err != nil {
		return err
	}
	defer s.storage.Close()
	if err := s.storage.MakeLogs(ctx, 2*logs); err != nil {
		return err
	}
	return errors.Join(s.measureAppend(ctx, c), s.measureHold(ctx, c), s.measureCalls(ctx, c),
		s.measureStore(ctx, c))
}

func (s *server) measureAppend(ctx context.Context, c *plan.Costs) error {
	for region := logs; region < 2*logs; region++ {
		// This Read subscribes to the outbox.
		if _, _, _, err := s.storage.Outbox(region).Read(ctx, 1); err != nil {
			return err
		}
	}
	var alone, followed [2]sample
	for round := range rounds + 1 {
		for i, size := range [...]int{small, large} {
			err := errors.Join(s.append(ctx, 0, logs, size, &alone[i]),
				s.append(ctx, logs, logs, size, &followed[i]))
			if err != nil {
				return err
			}
		}
		if round == 0 { // the first messages are slower
			clear(alone[:])
			clear(followed[:])
		}
	}
	c.Append = work(alone[0].processor, alone[1].processor)
	both := work(followed[0].processor, followed[1].processor)
	c.Deliver = plan.Work{Each: max(both.Each-c.Append.Each, 0), Byte: max(both.Byte-c.Append.Byte, 0)}
	return nil
}

// work computes the cost of a message from the processor times of small and of large messages, in
// microseconds.
func work(ofSmall, ofLarge measure.Samples) plan.Work {
	perByte := max(ofLarge.Median()-ofSmall.Median(), 0) / (large - small)
	return plan.Work{Each: max(ofSmall.Median()-perByte*small, 0), Byte: perByte * 1000}
}

// sample has the real time and the processor time of a message in each round, in microseconds.
type sample struct{ real, processor measure.Samples }

// append appends messages to the outboxes of n regions, from firstRegion on, at the same time. It adds the
// times of a message to result.
func (s *server) append(ctx context.Context, firstRegion, n, size int, result *sample) error {
	const messages = 300 // messages to each outbox
	before, err := processorTime()
	if err != nil {
		return err
	}
	began := time.Now()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = s.appendTo(ctx, firstRegion+i, messages, size) })
	}
	all.Wait()
	took := time.Since(began)
	after, err := processorTime()
	result.real = append(result.real, micros(took)/float64(messages*n))
	result.processor = append(result.processor, micros(after-before)/float64(messages*n))
	return errors.Join(append(errs, err)...)
}

func (s *server) appendTo(ctx context.Context, region, messages, size int) error {
	log := s.storage.Outbox(region)
	var onTheWay []protocol.Appended
	for range messages {
		m := make([]byte, size)
		copy(m, strconv.FormatUint(s.last[region], 10)) // the server drops repeated messages
		onTheWay = append(onTheWay, log.Append(ctx, s.last[region], protocol.ID{}, m))
		s.last[region]++
		if len(onTheWay) == depth {
			if err := onTheWay[0].Wait(ctx); err != nil {
				return err
			}
			onTheWay = onTheWay[1:]
		}
	}
	for _, a := range onTheWay {
		if err := a.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// measureHold measures how long a sync of the server to the disk keeps a core from other goroutines (see
// plan.Costs.Hold). A load keeps all cores busy. The load does less work while messages are appended. The
// hold is the lost time minus the processor time of the messages.
func (s *server) measureHold(ctx context.Context, c *plan.Costs) error {
	l := newLoad()
	defer l.end()
	idle := func() error {
		time.Sleep(300 * time.Millisecond)
		return nil
	}
	var lost measure.Samples
	for range rounds {
		var message sample
		unitsBefore, before, _ := l.during(idle)
		units, took, err := l.during(func() error { return s.append(ctx, 0, logs, small, &message) })
		unitsAfter, after, _ := l.during(idle)
		if err != nil {
			return err
		}
		each := float64(before+after) / (unitsBefore + unitsAfter) // real time in which all cores do one unit
		missing := (float64(took)/each - units) / (float64(took) / each)
		messages := micros(took) / message.real[0]
		lost = append(lost, missing*micros(took)*float64(c.Cores)/messages)
	}
	c.Hold = max(lost.Median()-c.Append.Of(small), 0)
	return nil
}

func (s *server) measureCalls(ctx context.Context, c *plan.Costs) error {
	const calls = 1000
	before, err := processorTime()
	if err != nil {
		return err
	}
	for range calls {
		if _, _, err := s.storage.Pointer(ctx, 0); err != nil {
			return err
		}
	}
	after, err := processorTime()
	c.Call = micros(after-before) / calls
	return err
}

func (s *server) measureStore(ctx context.Context, c *plan.Costs) error {
	const size = 32 << 20
	before, err := processorTime()
	if err != nil {
		return err
	}
	stored := s.storage.PutCheckpoint(ctx, 0, "trial", nil, make([]byte, size))
	for {
		done, err := stored.Done()
		if err != nil {
			return err
		}
		if done {
			break
		}
		time.Sleep(time.Millisecond)
	}
	after, err := processorTime()
	c.Store = float64(after-before) / size
	return err
}
