package storage

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// log is a stream of JetStream. Its methods may be called from several goroutines.
type log struct {
	s       *Storage
	stream  string
	subject string
	tail    tail
}

var _ protocol.Log = (*log)(nil)

// name returns the Nats-Msg-Id of a message.
func name(id protocol.ID) string { return hex.EncodeToString(id[:]) }

// Append implements [protocol.Log].
func (l *log) Append(_ context.Context, last uint64, before protocol.ID, m []byte) protocol.Appended {
	header := nats.Header{
		jetstream.MsgIDHeader:           {name(protocol.IDOf(m))},
		jetstream.ExpectedLastSeqHeader: {strconv.FormatUint(last, 10)},
	}
	if before != (protocol.ID{}) {
		header[jetstream.ExpectedLastMsgIDHeader] = []string{name(before)}
	}
	// The client must not repeat the message by itself: later messages would overtake it.
	future, err := l.s.js.PublishMsgAsync(&nats.Msg{Subject: l.subject, Header: header, Data: m},
		jetstream.WithRetryAttempts(0))
	return &appended{l: l, future: future, err: err, number: last + 1}
}

// appended is a message on its way.
type appended struct {
	l      *log
	future jetstream.PubAckFuture
	err    error
	number uint64
}

// Wait implements [protocol.Appended].
func (a *appended) Wait(ctx context.Context) error {
	if a.err != nil {
		return a.err
	}
	select {
	case ack := <-a.future.Ok():
		if ack.Sequence != a.number {
			return fmt.Errorf("the message was appended before, as number %d", ack.Sequence)
		}
		return nil
	case err := <-a.future.Err():
		return refused(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// acknowledged puts a message that this process has appended at the end of what is known of the log.
func (s *Storage) acknowledged(_ jetstream.JetStream, m *nats.Msg, ack *jetstream.PubAck) {
	if l := s.bySub[m.Subject]; l != nil && !ack.Duplicate {
		l.tail.add(entry{ack.Sequence, m.Data})
	}
}

// Last implements [protocol.Log].
func (l *log) Last(ctx context.Context) (last uint64, err error) {
	err = l.s.retry(ctx, "reading the state of the stream "+l.stream, func(ctx context.Context) error {
		stream, err := l.s.js.Stream(ctx, l.stream)
		if err == nil {
			last = stream.CachedInfo().State.LastSeq
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
		stream, err := l.s.js.Stream(ctx, l.stream)
		if err != nil {
			return err
		}
		// The leader answers, because the stream does not allow direct answers of others, which may be late.
		raw, err := stream.GetMsg(ctx, from, jetstream.WithGetMsgSubject(l.subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			number, m, ok = 0, nil, false
			return nil
		}
		if err == nil {
			number, m, ok = raw.Sequence, raw.Data, true
		}
		return err
	})
	if err == nil && !ok {
		err = l.follow(ctx, from)
	}
	return number, m, ok, err
}

// follow subscribes to the messages from a number on.
func (l *log) follow(ctx context.Context, from uint64) error {
	return l.s.retry(ctx, "following the stream "+l.stream, func(ctx context.Context) error {
		consumer, err := l.s.js.OrderedConsumer(ctx, l.stream, jetstream.OrderedConsumerConfig{
			DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from,
			InactiveThreshold: 30 * time.Second,
		})
		if err != nil {
			return err
		}
		generation := l.tail.begin(from)
		consuming, err := consumer.Consume(func(m jetstream.Msg) {
			if about, err := m.Metadata(); err == nil {
				l.tail.delivered(generation, entry{about.Sequence.Stream, m.Data()})
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

// patience is how long Wait waits at most. Then Read asks the server, which may have lost the end of the log.
const patience = 2 * time.Second

// Wait implements [protocol.Log].
func (l *log) Wait(ctx context.Context, from uint64) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		e, known, changed := l.tail.watch(from)
		if !known || e.number > 0 {
			return nil
		}
		select {
		case <-changed:
		case <-timer.C:
			l.forget()
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
		stream, err := l.s.js.Stream(ctx, l.stream)
		if err != nil {
			return err
		}
		return stream.Purge(ctx, jetstream.WithPurgeSequence(below))
	})
}
