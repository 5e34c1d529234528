package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// Options say which cluster to connect to.
type Options struct {
	// Name is the name of the cluster: 1 to 64 letters, digits, - and _. Clusters on one server must have
	// different names.
	Name string
	// Server is the embedded server, or nil if URL names the servers.
	Server *Server
	URL    string // the URLs of the servers, separated by commas
	// Connect has further options of the connection, such as credentials and TLS.
	Connect  []nats.Option
	Replicas int // number of replicas of each stream. Default: 1.
	// Existing makes Open return an error if the cluster does not exist. Default: Open makes the cluster.
	Existing bool
	// Seen is called with each message that a subscription to an outbox delivers, even if Read has returned
	// the message before. Default: nothing is called.
	Seen func(region int, m []byte)
	// Waiting is called with an error when calls begin to wait for the server, and with nil when the server
	// answers again. Default: nothing is called.
	Waiting func(error)
	// Report is called with errors of the connection that no call returns, such as missing permissions.
	// Default: these errors are dropped.
	Report func(error)
}

// Storage is the connection of a process to the servers of a cluster.
type Storage struct {
	o       Options
	nc      *nats.Conn
	js      jetstream.JetStream
	bulk    jetstream.JetStream // publishes the parts of checkpoints with a longer timeout
	keys    jetstream.KeyValue
	objects jetstream.ObjectStore

	keyStream    jetstream.Stream // stream of the bucket of keys
	objectStream jetstream.Stream // stream of the bucket of objects

	outbox    []*log
	inputs    []*log
	bySubject map[string]*log

	background sync.WaitGroup // goroutines that store checkpoints or watch keys

	mu        sync.Mutex
	waiting   error           // error because of which calls wait, or nil
	refusing  [2]time.Time    // by kind of write: writes count as unanswered until this time
	connected context.Context // ends when the connection is interrupted
	interrupt context.CancelFunc
}

var validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Open connects to the servers and makes the bucket of the keys, if it does not exist. It waits until the
// servers answer or the context ends. Before [Storage.MakeLogs], call only Close and the methods for keys:
// Get, Set, Remove and Watch. MakeLogs is a separate method, so that its caller can first read the number of
// regions from a key.
func Open(ctx context.Context, o Options) (*Storage, error) {
	if !validName.MatchString(o.Name) {
		return nil, fmt.Errorf("the cluster's name %q: use 1 to 64 letters, digits, - and _", o.Name)
	}
	o.Replicas = max(o.Replicas, 1)
	s := &Storage{o: o, bySubject: make(map[string]*log)}
	s.connected, s.interrupt = context.WithCancel(context.Background())
	options := []nats.Option{
		nats.Name("vast " + o.Name), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond),
		nats.RetryOnFailedConnect(true), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.PingInterval(2 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(timeoutDial),
		// Without a connection, the client refuses messages. The owner of a region appends them again.
		nats.ReconnectBufSize(-1),
		// A server may have lost the end of a log during the interruption.
		nats.ReconnectHandler(func(*nats.Conn) { s.forget() }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { s.interrupted() }),
		nats.ErrorHandler(s.told),
	}
	url := o.URL
	if o.Server != nil {
		url = "nats://" + embedded
		options = append(options, o.Server.options()...)
	}
	var err error
	if s.nc, err = nats.Connect(url, append(options, o.Connect...)...); err != nil {
		return nil, fmt.Errorf("connecting to NATS: %w", err)
	}
	s.js, err = jetstream.New(s.nc, jetstream.WithPublishAsyncTimeout(timeout),
		jetstream.WithPublishAsyncMaxPending(1<<16), jetstream.WithPublishAsyncAckHandler(s.acknowledged))
	if err == nil {
		s.bulk, err = jetstream.New(s.nc, jetstream.WithPublishAsyncTimeout(timeoutLong))
	}
	if err == nil {
		err = s.makeKeys(ctx)
	}
	if err != nil {
		s.nc.Close()
		return nil, fmt.Errorf("cluster %s: %w", o.Name, err)
	}
	return s, nil
}

// Close ends the connection. Calls that wait return an error.
func (s *Storage) Close() {
	s.forget()
	s.nc.Close()
	s.interrupted()
	s.background.Wait()
}

// interrupted ends the attempts of all calls, because requests that were sent on a lost connection get no
// answer.
func (s *Storage) interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupt()
	s.connected, s.interrupt = context.WithCancel(context.Background())
}

// attempt returns the context of one attempt. This context ends after the timeout or when the connection is
// interrupted.
func (s *Storage) attempt(ctx context.Context, timeout time.Duration) (context.Context, func()) {
	s.mu.Lock()
	connected := s.connected
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	stop := context.AfterFunc(connected, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// told reports an error of the connection that no call returns.
func (s *Storage) told(_ *nats.Conn, subscription *nats.Subscription, err error) {
	if s.o.Report == nil {
		return
	}
	if subscription != nil {
		err = fmt.Errorf("subscription to %s: %w", subscription.Subject, err)
	}
	s.o.Report(err)
}

// base returns the name of the buckets. The names of the streams of logs begin with this name.
func (s *Storage) base() string { return "VAST_" + s.o.Name }

// makeKeys makes the bucket of the keys, if it does not exist. It returns an error instead if
// Options.Existing is set. It does not change an existing bucket, because an operator may have configured it.
func (s *Storage) makeKeys(ctx context.Context) error {
	c := jetstream.KeyValueConfig{Bucket: s.base(),
		Description: fmt.Sprintf("Vast cluster %s: owners, processes and newest checkpoints", s.o.Name),
		Storage:     jetstream.FileStorage, Replicas: s.o.Replicas}
	return s.retry(ctx, "making the bucket "+s.base(), func(ctx context.Context) (err error) {
		if _, err := s.js.AccountInfo(ctx); err != nil { // for example, the server has no JetStream
			return err
		}
		s.keys, err = s.js.KeyValue(ctx, c.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) && s.o.Existing {
			return fmt.Errorf("the servers have no cluster of this name: %w", err)
		}
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			s.keys, err = s.js.CreateKeyValue(ctx, c)
		}
		if errors.Is(err, jetstream.ErrBucketExists) { // another process has just made the bucket
			s.keys, err = s.js.KeyValue(ctx, c.Bucket)
		}
		if err == nil {
			s.keyStream, err = s.js.Stream(ctx, "KV_"+c.Bucket)
		}
		return err
	})
}

// MakeLogs makes the streams of the regions and the bucket of the checkpoints, if they do not exist. Do not
// call other methods of s at the same time.
func (s *Storage) MakeLogs(ctx context.Context, regions int) error {
	base := s.base()
	newLog := func(kind, about string, region int) (*log, error) {
		l := &log{s: s, stream: fmt.Sprintf("%s_%s_%d", base, kind, region),
			subject: fmt.Sprintf("vast.%s.%s.%d", s.o.Name, kind, region)}
		config := jetstream.StreamConfig{Name: l.stream, Subjects: []string{l.subject},
			Description: fmt.Sprintf("Vast cluster %s: %s of region %d", s.o.Name, about, region),
			Storage:     jetstream.FileStorage, Replicas: s.o.Replicas, MaxMsgSize: bytesMessage,
			DenyDelete: true}
		if kind == "out" && s.o.Seen != nil {
			l.seen = func(m []byte) { s.o.Seen(region, m) }
		}
		s.bySubject[l.subject] = l
		var err error
		l.handle, err = s.makeStream(ctx, config)
		return l, err
	}
	for region := range regions {
		out, err := newLog("out", "outbox", region)
		if err != nil {
			return err
		}
		in, err := newLog("in", "inputs", region)
		if err != nil {
			return err
		}
		s.outbox, s.inputs = append(s.outbox, out), append(s.inputs, in)
	}
	c := jetstream.ObjectStoreConfig{Bucket: base,
		Description: fmt.Sprintf("Vast cluster %s: checkpoints", s.o.Name),
		Storage:     jetstream.FileStorage, Replicas: s.o.Replicas}
	return s.retry(ctx, "making the object bucket "+base, func(ctx context.Context) (err error) {
		s.objects, err = s.js.ObjectStore(ctx, base)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			s.objects, err = s.js.CreateObjectStore(ctx, c)
		}
		if errors.Is(err, jetstream.ErrBucketExists) {
			s.objects, err = s.js.ObjectStore(ctx, base)
		}
		if err == nil {
			s.objectStream, err = s.js.Stream(ctx, "OBJ_"+base)
		}
		return err
	})
}

// makeStream makes a stream, if it does not exist. It does not change an existing stream, because an operator
// may have configured it.
func (s *Storage) makeStream(ctx context.Context, c jetstream.StreamConfig) (h jetstream.Stream, err error) {
	err = s.retry(ctx, "making the stream "+c.Name, func(ctx context.Context) (err error) {
		h, err = s.js.Stream(ctx, c.Name)
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return err
		}
		h, err = s.js.CreateStream(ctx, c)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another process has just made the stream
			h, err = s.js.Stream(ctx, c.Name)
		}
		return err
	})
	return h, err
}

// Outbox implements [protocol.Storage].
func (s *Storage) Outbox(region int) protocol.Log { return s.outbox[region] }

// Inputs implements [protocol.Storage].
func (s *Storage) Inputs(region int) protocol.Log { return s.inputs[region] }

// forget drops the cached messages of all logs: see the type tail.
func (s *Storage) forget() {
	for _, logs := range [...][]*log{s.outbox, s.inputs} {
		for _, l := range logs {
			l.forget()
		}
	}
}

func pointerKey(region int) string { return "pointer." + strconv.Itoa(region) }

// Pointer implements [protocol.Storage].
func (s *Storage) Pointer(ctx context.Context, region int) (p []byte, revision uint64, err error) {
	return s.Get(ctx, pointerKey(region))
}

// SetPointer implements [protocol.Storage].
func (s *Storage) SetPointer(ctx context.Context, region int, p []byte, revision uint64) (uint64, error) {
	return s.Set(ctx, pointerKey(region), p, revision)
}

// Get returns the value of a key and its revision, which is 0 if the key does not exist.
func (s *Storage) Get(ctx context.Context, key string) (value []byte, revision uint64, err error) {
	err = s.retry(ctx, "reading the key "+key, func(ctx context.Context) error {
		e, err := s.keys.Get(ctx, key)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			value, revision = nil, 0
			return nil
		case err != nil:
			return err
		}
		value, revision = e.Value(), e.Revision()
		return nil
	})
	return value, revision, err
}

// Set sets a key if the key has the given revision, and returns the new revision. After any error, including
// [protocol.ErrRefused], the key may have been set: the answer to an earlier attempt may be late or lost.
func (s *Storage) Set(ctx context.Context, key string, value []byte, revision uint64,
) (now uint64, err error) {
	err = s.retry(ctx, "setting the key "+key, func(ctx context.Context) (err error) {
		now, err = s.keys.Update(ctx, key, value, revision)
		return refused(err)
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded): // the deadline of the caller has passed
		s.written(sets, fmt.Errorf("setting the key %s: no answer: %w", key, err))
	case !errors.Is(err, context.Canceled):
		s.written(sets, nil)
	}
	return now, err
}

// Remove removes a key if its revision is at most the given one. A removed key has the revision 0. Watches do
// not deliver the removal.
func (s *Storage) Remove(ctx context.Context, key string, revision uint64) error {
	subject := "$KV." + s.base() + "." + key
	return s.retry(ctx, "removing the key "+key, func(ctx context.Context) error {
		return s.keyStream.Purge(ctx, jetstream.WithPurgeSubject(subject),
			jetstream.WithPurgeSequence(revision+1))
	})
}

// refused returns [protocol.ErrRefused] if err says that the condition of Append or Set does not hold.
// Otherwise it returns err.
func refused(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	const wrongLastMsgID = 10070
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence, wrongLastMsgID:
		return fmt.Errorf("%w: %s", protocol.ErrRefused, api.Description)
	}
	return err
}

const (
	timeout     = 5 * time.Second // largest time limit of one attempt
	timeoutDial = 2 * time.Second // time limit of one attempt to connect
	timeoutLong = time.Minute     // largest time limit of one attempt to store or read a checkpoint
	maxPause    = time.Second     // longest pause between two attempts
)

// retry repeats f while the servers are unreachable. It returns nil when f succeeds, and an error if f fails
// for another reason or the context ends.
func (s *Storage) retry(ctx context.Context, what string, f func(context.Context) error) error {
	return s.retryWithin(ctx, timeout, what, f)
}

func (s *Storage) retryWithin(ctx context.Context, timeout time.Duration, what string,
	f func(context.Context) error) error {
	// Servers that have no leader yet drop requests. Therefore the first attempts have a short time limit.
	limit := timeout / 4
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, maxPause) {
		attempt, cancel := s.attempt(ctx, limit)
		limit = min(2*limit, timeout)
		err := f(attempt)
		if err != nil && attempt.Err() == context.Canceled && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", nats.ErrDisconnected, err)
		}
		// The client has no buffer, so this error says that the client has no connection.
		if errors.Is(err, nats.ErrReconnectBufExceeded) {
			err = fmt.Errorf("no connection to %s: %w", cmp.Or(s.o.URL, "the embedded server"),
				nats.ErrDisconnected)
		}
		cancel()
		switch {
		case err == nil:
			s.answers(nil)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !unreachable(err):
			if errors.Is(err, protocol.ErrRefused) {
				return err
			}
			return fmt.Errorf("%s: %w", what, err)
		}
		s.answers(fmt.Errorf("%s: %w", what, err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

type write int // kind of write

const (
	appends write = iota // messages of outboxes
	sets                 // keys
)

// written records whether the server answers a kind of write. err is nil if it does. A server with a full
// disk does not answer writes, but may answer other calls.
func (s *Storage) written(kind write, err error) {
	until := time.Time{}
	if err != nil {
		until = time.Now().Add(2 * timeout) // enough for the next write to succeed or fail
	}
	s.mu.Lock()
	changed := err != nil || !s.refusing[kind].IsZero()
	s.refusing[kind] = until
	s.mu.Unlock()
	if changed {
		s.answers(err)
	}
}

// answers records the error because of which calls wait, or nil if the server answers. It ignores nil while
// writes count as unanswered.
func (s *Storage) answers(err error) {
	s.mu.Lock()
	if now := time.Now(); err == nil && (now.Before(s.refusing[appends]) || now.Before(s.refusing[sets])) {
		s.mu.Unlock()
		return
	}
	changed := (s.waiting == nil) != (err == nil)
	s.waiting = err
	s.mu.Unlock()
	if changed && s.o.Waiting != nil {
		s.o.Waiting(err)
	}
}

// unreachable reports whether err says that the servers cannot answer now.
func unreachable(err error) bool {
	for _, known := range [...]error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders,
		nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded,
		nats.ErrNoServers, nats.ErrStaleConnection, jetstream.ErrNoStreamResponse,
		jetstream.ErrAsyncPublishTimeout, jetstream.ErrNoHeartbeat} {
		if errors.Is(err, known) {
			return true
		}
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	const (
		noPeers        = 10005 // too few servers run to keep a new stream; more may start
		replicasOnSole = 10074 // a single server was asked to keep several replicas
		// Another write of the key is under way.
		otherWrite = jetstream.JSErrCodeStreamWrongLastSequenceConstant
	)
	switch api.ErrorCode {
	case noPeers, otherWrite:
		return true
	case jetstream.JSErrCodeJetStreamNotEnabled, replicasOnSole:
		return false
	}
	return api.Code >= 500
}
