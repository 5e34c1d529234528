package storage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// log is a stream of JetStream. Its methods are safe for concurrent use.
type log struct {
	s       *Storage
	stream  string
	subject string
	handle  jetstream.Stream
	seen    func(m []byte) // called with each message that a subscription delivers; may be nil

	tail      tail
	following sync.Mutex // held while a subscription begins

	pause atomic.Int64 // pause of appended.Wait after the next error, in nanoseconds
}

var _ protocol.Log = (*log)(nil)

func name(id protocol.ID) string { return hex.EncodeToString(id[:]) }

// Append implements [protocol.Log].
func (l *log) Append(_ context.Context, lastNumber uint64, lastID protocol.ID, m []byte) protocol.Appended {
	header := nats.Header{
		jetstream.MsgIDHeader:           {name(protocol.IDOf(m))},
		jetstream.ExpectedLastSeqHeader: {strconv.FormatUint(lastNumber, 10)},
	}
	if lastID != (protocol.ID{}) {
		header[jetstream.ExpectedLastMsgIDHeader] = []string{name(lastID)}
	}
	// The client must not publish the message again by itself, because later messages could overtake it.
	future, err := l.s.js.PublishMsgAsync(&nats.Msg{Subject: l.subject, Header: header, Data: m},
		jetstream.WithRetryAttempts(0))
	return &appended{l: l, future: future, err: err, number: lastNumber + 1}
}

// appended implements [protocol.Appended].
type appended struct {
	l      *log
	future jetstream.PubAckFuture
	err    error
	number uint64 // expected number of the message
}

// Wait implements [protocol.Appended]. If two or more calls in a row fail, Wait pauses before it returns,
// because its caller appends the message again without a pause. The pauses grow up to maxPause.
func (a *appended) Wait(ctx context.Context) error {
	err := a.wait(ctx)
	l := a.l
	if err == nil {
		if l.pause.Swap(0) > 0 {
			l.s.written(appends, nil)
		}
		return nil
	}
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrAsyncPublishTimeout) || errors.As(err, &api) && unreachable(err) {
		l.s.written(appends, fmt.Errorf("appending to the stream %s: %w", l.stream, err))
	}
	pause := time.Duration(l.pause.Load())
	l.pause.Store(int64(min(max(2*pause, 10*time.Millisecond), maxPause)))
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	return err
}

func (a *appended) wait(ctx context.Context) error {
	if a.err != nil {
		return a.err
	}
	select {
	case ack := <-a.future.Ok():
		if ack.Sequence != a.number {
			return fmt.Errorf("the message was already in the log, with number %d", ack.Sequence)
		}
		return nil
	case err := <-a.future.Err():
		return refused(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// patienceSend is the time limit of Send. The server recognizes a repeated message for two minutes. A later
// attempt could append the input a second time.
const patienceSend = 90 * time.Second

// Send appends an input to the log of a region, and returns the number of the input. If the server does not
// answer, Send tries again for up to 90 seconds. After an error the input may have been appended, but not
// more than once.
func (s *Storage) Send(ctx context.Context, region int, input []byte) (number uint64, err error) {
	l := s.inputs[region]
	m := &nats.Msg{Subject: l.subject, Data: input, Header: nats.Header{jetstream.MsgIDHeader: {rand.Text()}}}
	ctx, cancel := context.WithTimeoutCause(ctx, patienceSend, errors.New("the server does not answer"))
	defer cancel()
	err = s.retry(ctx, "sending an input", func(ctx context.Context) error {
		ack, err := s.js.PublishMsg(ctx, m, jetstream.WithRetryAttempts(0))
		if err == nil {
			number = ack.Sequence
		}
		return err
	})
	if ctx.Err() != nil && err != nil {
		return 0, fmt.Errorf("the input of region %d may have been appended: %w", region, context.Cause(ctx))
	}
	return number, err
}

// acknowledged is called when the server has acknowledged a message of log.Append. It adds the message to the
// tail of the log.
func (s *Storage) acknowledged(_ jetstream.JetStream, m *nats.Msg, ack *jetstream.PubAck) {
	if l := s.bySubject[m.Subject]; l != nil && !ack.Duplicate {
		l.tail.add(entry{ack.Sequence, m.Data})
	}
}

// Last implements [protocol.Log].
func (l *log) Last(ctx context.Context) (last uint64, err error) {
	err = l.s.retry(ctx, "reading the state of the stream "+l.stream, func(ctx context.Context) error {
		info, err := l.handle.Info(ctx)
		if err == nil {
			last = info.State.LastSeq
		}
		return err
	})
	return last, err
}

// Read implements [protocol.Log].
func (l *log) Read(ctx context.Context, from uint64) (number uint64, m []byte, ok bool, err error) {
	if e, known := l.tail.find(from); known {
		return e.number, e.m, e.number > 0, nil
	}
	err = l.s.retry(ctx, "reading the stream "+l.stream, func(ctx context.Context) error {
		// The leader answers, because the stream does not allow direct gets. Other servers may not have the
		// newest messages yet.
		raw, err := l.handle.GetMsg(ctx, from, jetstream.WithGetMsgSubject(l.subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			number, m, ok = 0, nil, false
			return nil
		}
		if err == nil {
			number, m, ok = raw.Sequence, raw.Data, true
		}
		return err
	})
	if err == nil && l.tail.generation() == 0 {
		err = l.follow(ctx, from, ok)
	}
	return number, m, ok, err
}

// backlog is the largest number of earlier messages with which a subscription begins. Other regions of the
// process may still need these messages. A region that waits for the next message also reads the last message
// again, to detect that the log has lost it.
const backlog = 64

// follow subscribes to the messages with numbers >= from, and to up to backlog messages before from. exists
// says that the log already has a message with a number >= from.
func (l *log) follow(ctx context.Context, from uint64, exists bool) error {
	if !l.following.TryLock() {
		return nil // another goroutine subscribes
	}
	defer l.following.Unlock()
	first, existed := from-min(from-1, backlog), from
	if exists {
		existed = math.MaxUint64 // the number of the newest message is not known yet
	}
	return l.s.retry(ctx, "following the stream "+l.stream, func(ctx context.Context) error {
		consumer, err := l.s.js.OrderedConsumer(ctx, l.stream, jetstream.OrderedConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first,
			InactiveThreshold: 30 * time.Second,
		})
		if err != nil {
			return err
		}
		generation := l.tail.begin(first, existed)
		consuming, err := consumer.Consume(func(m jetstream.Msg) {
			if l.seen != nil {
				l.seen(m.Data())
			}
			if about, err := m.Metadata(); err == nil {
				l.tail.delivered(generation, entry{about.Sequence.Stream, m.Data()}, about.NumPending == 0)
			}
		}, jetstream.ConsumeErrHandler(func(jetstream.ConsumeContext, error) { l.tail.end(generation) }))
		if err != nil {
			l.tail.end(generation)
			return err
		}
		l.tail.stopWith(generation, consuming.Stop)
		return nil
	})
}

// patience is the time limit of log.Wait. After this time, log.Wait ends the subscription, because the server
// may have lost the end of the log. The next Read then reads from the server.
const patience = 2 * time.Second

// Wait implements [protocol.Log].
func (l *log) Wait(ctx context.Context, from uint64) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	generation := l.tail.generation()
	for {
		e, known, changed := l.tail.watch(from)
		if !known || e.number > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			l.tail.end(generation) // does not end a newer subscription
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *log) forget() { l.tail.end(l.tail.generation()) }

// Purge implements [protocol.Log].
func (l *log) Purge(ctx context.Context, below uint64) error {
	last, err := l.Last(ctx)
	if err != nil {
		return err
	}
	if below = min(below, last); below <= 1 {
		return nil
	}
	return l.s.retry(ctx, "purging the stream "+l.stream, func(ctx context.Context) error {
		return l.handle.Purge(ctx, jetstream.WithPurgeSequence(below))
	})
}
