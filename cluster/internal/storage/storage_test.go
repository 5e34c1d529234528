package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/internal/longtest"
)

// start returns a storage with two regions on a new embedded server.
func start(t *testing.T) *Storage {
	server, err := StartServer(ServerOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return open(t, Options{Name: "test", Server: server})
}

func open(t *testing.T, o Options) *Storage {
	s, err := Open(deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.MakeLogs(deadline(t), 2); err != nil {
		t.Fatal(err)
	}
	return s
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func message(i int) []byte { return fmt.Appendf(nil, "message %d", i) }

// appendAll appends n messages to a log. It sends all messages before it waits for answers.
func appendAll(t *testing.T, l protocol.Log, n int) {
	ctx := deadline(t)
	last, err := l.Last(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var before protocol.ID
	var sent []protocol.Appended
	for i := range n {
		m := message(int(last) + 1 + i)
		sent = append(sent, l.Append(ctx, last+uint64(i), before, m))
		before = protocol.IDOf(m)
	}
	for i, a := range sent {
		if err := a.Wait(ctx); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

// check checks that a log has the messages of appendAll with the numbers first to last.
func check(t *testing.T, l protocol.Log, first, last int) {
	ctx := deadline(t)
	for i := first; i <= last; i++ {
		number, m, ok, err := l.Read(ctx, uint64(i))
		for err == nil && !ok { // Read may miss a new message
			if err = l.Wait(ctx, uint64(i)); err == nil {
				number, m, ok, err = l.Read(ctx, uint64(i))
			}
		}
		if err != nil || !ok || number != uint64(i) || !bytes.Equal(m, message(i)) {
			t.Fatalf("reading message %d: got number %d, message %q, ok %v, error %v", i, number, m, ok, err)
		}
	}
}

func TestAppendHasConditions(t *testing.T) {
	l, ctx := start(t).Outbox(1), deadline(t)
	appendAll(t, l, 3)
	id := protocol.IDOf(message(3))
	for _, c := range []struct {
		what       string
		lastNumber uint64
		lastID     protocol.ID
		want       error
	}{
		{"an old number", 2, protocol.IDOf(message(2)), protocol.ErrRefused},
		{"a number that is too high", 4, id, protocol.ErrRefused},
		{"another ID", 3, protocol.IDOf(message(2)), protocol.ErrRefused},
		{"the number of an empty log", 0, protocol.ID{}, protocol.ErrRefused},
		{"number and ID", 3, id, nil},
		{"the number alone", 4, protocol.ID{}, nil},
	} {
		if err := l.Append(ctx, c.lastNumber, c.lastID, []byte(c.what)).Wait(ctx); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, err, c.want)
		}
	}
	if last, err := l.Last(ctx); last != 5 || err != nil {
		t.Errorf("the log ends with message %d, %v, want 5", last, err)
	}
	err := l.Append(ctx, 5, protocol.ID{}, []byte("number and ID")).Wait(ctx)
	if err == nil || errors.Is(err, protocol.ErrRefused) {
		t.Errorf("a message that is already in the log: got %v, want an error other than ErrRefused", err)
	}
}

func TestReadAndWait(t *testing.T) {
	s, ctx := start(t), deadline(t)
	l := s.Outbox(0)
	if _, _, ok, err := l.Read(ctx, 1); ok || err != nil {
		t.Fatalf("reading an empty log: got ok %v and %v, want no message and no error", ok, err)
	}
	done := make(chan error)
	go func() { done <- l.Wait(ctx, 3) }()
	other := open(t, s.o).Outbox(0)
	appendAll(t, other, 2)
	select {
	case err := <-done:
		t.Fatalf("Wait returned %v before the message came", err)
	case <-time.After(50 * time.Millisecond):
	}
	appendAll(t, other, 1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	check(t, l, 1, 3)
	check(t, other, 1, 3)
}

func TestPurgeKeepsTheNewest(t *testing.T) {
	l, ctx := start(t).Outbox(0), deadline(t)
	if err := l.Purge(ctx, 5); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 5)
	if err := l.Purge(ctx, 3); err != nil {
		t.Fatal(err)
	}
	if number, m, ok, err := l.Read(ctx, 1); number != 3 || !ok || err != nil {
		t.Fatalf("after Purge below 3: got number %d, message %q, ok %v, error %v, want message 3", number, m,
			ok, err)
	}
	if err := l.Purge(ctx, 100); err != nil {
		t.Fatal(err)
	}
	check(t, l, 5, 5)
	appendAll(t, l, 1)
	check(t, l, 5, 6)
}

func TestPointer(t *testing.T) {
	s, ctx := start(t), deadline(t)
	if p, revision, err := s.Pointer(ctx, 1); p != nil || revision != 0 || err != nil {
		t.Fatalf("before the first SetPointer: got %q, revision %d, %v", p, revision, err)
	}
	first, err := s.SetPointer(ctx, 1, []byte("a"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetPointer(ctx, 1, []byte("b"), 0); !errors.Is(err, protocol.ErrRefused) {
		t.Errorf("setting an existing pointer with revision 0: got %v, want ErrRefused", err)
	}
	second, err := s.SetPointer(ctx, 1, []byte("b"), first)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetPointer(ctx, 1, []byte("c"), first); !errors.Is(err, protocol.ErrRefused) {
		t.Errorf("setting a pointer with an old revision: got %v, want ErrRefused", err)
	}
	if p, revision, err := s.Pointer(ctx, 1); string(p) != "b" || revision != second || err != nil {
		t.Errorf("got %q, revision %d, %v, want b, revision %d", p, revision, err, second)
	}
}

func TestRemove(t *testing.T) {
	s, ctx := start(t), deadline(t)
	set := func(revision uint64) uint64 {
		t.Helper()
		now, err := s.Set(ctx, "a.1", []byte("one"), revision)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	first := set(0)
	second := set(first)
	if _, err := s.Set(ctx, "a.2", []byte("two"), 0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ revision, want uint64 }{
		{0, second}, {first, second}, {second, 0}, {second, 0},
	} {
		if err := s.Remove(ctx, "a.1", c.revision); err != nil {
			t.Fatal(err)
		}
		if _, now, err := s.Get(ctx, "a.1"); now != c.want || err != nil {
			t.Errorf("after Remove with revision %d, the key has the revision %d, %v, want %d", c.revision,
				now, err, c.want)
		}
	}
	if p, _, err := s.Get(ctx, "a.2"); string(p) != "two" || err != nil {
		t.Errorf("the other key has the value %q, %v, want two", p, err)
	}
	set(0) // sets the removed key as a new key
}

func TestCheckpoints(t *testing.T) {
	s, ctx := start(t), deadline(t)
	want := bytes.Repeat([]byte("checkpoint"), 100_000)
	stored := s.PutCheckpoint(ctx, 1, "7-60", want[:1000], want[1000:])
	for {
		if done, err := stored.Done(); err != nil {
			t.Fatal(err)
		} else if done {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if sum := sha256.Sum256(want); !bytes.Equal(stored.Sum(), sum[:]) {
		t.Errorf("got the sum %x, want %x", stored.Sum(), sum)
	}
	if got, err := s.Checkpoint(ctx, 1, "7-60"); !bytes.Equal(got, want) || err != nil {
		t.Errorf("the checkpoint has %d bytes, %v, want %d", len(got), err, len(want))
	}
	if about, err := s.objects.GetInfo(ctx, "1.7-60"); err != nil || about.Size != uint64(len(want)) ||
		about.Chunks != 3 {
		t.Errorf("the object is %+v, %v, want %d bytes in 3 parts", about, err, len(want))
	}
	for range 2 {
		if err := s.RemoveCheckpoint(ctx, 1, "7-60"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Checkpoint(ctx, 1, "7-60"); !errors.Is(err, protocol.ErrGone) {
			t.Errorf("reading a removed checkpoint: got %v, want ErrGone", err)
		}
	}
}

func TestRemovedCheckpoints(t *testing.T) {
	s, ctx := start(t), deadline(t)
	for _, region := range []int{0, 1, 1, 11} {
		for _, name := range []string{"7-60", "7-6", "17-60"} {
			head, state := []byte(name), make([]byte, 2*bytesChunk)
			if err := s.PutCheckpoint(ctx, region, name, head, state).Wait(ctx); err != nil {
				t.Fatal(err)
			}
			// A failed attempt can leave a part with another name.
			part := s.partsSubject(objectName(region, name) + ".part")
			if _, err := s.js.Publish(ctx, part, state[:100]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.js.Publish(ctx, s.partsSubject(objectName(1, "8-1")+".part"), []byte("part")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Checkpoint(ctx, 1, "8-1"); !errors.Is(err, protocol.ErrGone) {
		t.Errorf("reading a checkpoint with only a part: got %v, want ErrGone", err)
	}
	for _, name := range []string{"8-1", "7-6"} {
		if err := s.RemoveCheckpoint(ctx, 1, name); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Checkpoint(ctx, 1, "7-60"); len(got) != 4+2*bytesChunk || err != nil {
			t.Errorf("after the removal of %s, checkpoint 7-60 has %d bytes, %v, want %d", name, len(got),
				err, 4+2*bytesChunk)
		}
	}
	for region, want := range map[int][]string{0: {"17-60", "7-6", "7-60"}, 1: {"17-60", "7-60"}, 2: nil} {
		if names, err := s.Checkpoints(ctx, region); !slices.Equal(names, want) || err != nil {
			t.Errorf("region %d has the checkpoints %v, %v, want %v", region, names, err, want)
		}
	}
	for _, region := range []int{0, 1, 11} {
		names, err := s.Checkpoints(ctx, region)
		for _, name := range names {
			err = errors.Join(err, s.RemoveCheckpoint(ctx, region, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if info, err := s.objectStream.Info(ctx); err != nil || info.State.Msgs != 0 {
		t.Errorf("%d messages of removed checkpoints are left, %v", info.State.Msgs, err)
	}
}

func TestCallsWaitForTheServer(t *testing.T) {
	dir := t.TempDir()
	server, err := StartServer(ServerOptions{Dir: dir, Host: "127.0.0.1", Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscanf(server.URL(), "nats://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	var waited, answered atomic.Int32
	s := open(t, Options{Name: "test", URL: server.URL(), Waiting: func(err error) {
		if err != nil {
			waited.Add(1)
		} else {
			answered.Add(1)
		}
	}})
	l, ctx := s.Outbox(0), deadline(t)
	appendAll(t, l, 3)
	if _, _, ok, err := l.Read(ctx, 4); ok || err != nil { // Read begins a subscription
		t.Fatal(ok, err)
	}
	server.Close()
	if err := l.Append(ctx, 3, protocol.IDOf(message(3)), message(4)).Wait(ctx); err == nil {
		t.Error("Append succeeded without a server")
	}
	last := make(chan uint64)
	go func() {
		n, err := l.Last(ctx)
		if err != nil {
			t.Error(err)
		}
		last <- n
	}()
	select {
	case <-last:
		t.Fatal("Last returned while there was no server")
	case <-time.After(300 * time.Millisecond):
	}
	if server, err = StartServer(ServerOptions{Dir: dir, Host: "127.0.0.1", Port: port}); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if n := <-last; n != 3 {
		t.Fatalf("the log ends with message %d, want 3", n)
	}
	// The server must know the ID of the newest message after its restart.
	err = l.Append(ctx, 3, protocol.IDOf(message(1)), message(4)).Wait(ctx)
	if !errors.Is(err, protocol.ErrRefused) {
		t.Errorf("appending after the wrong ID: got %v, want ErrRefused", err)
	}
	if err := l.Append(ctx, 3, protocol.IDOf(message(3)), message(4)).Wait(ctx); err != nil {
		t.Error(err)
	}
	check(t, l, 1, 4)
	if waited.Load() != 1 || answered.Load() != 1 {
		t.Errorf("Waiting was called %d times with an error and %d times with nil, want once each",
			waited.Load(), answered.Load())
	}
}

// After a Set without an answer, Waiting must not get nil before another Set succeeds. A successful Get is
// not enough: a server with a full disk may answer Get and no Set.
func TestKeysThatAreNotSet(t *testing.T) {
	s, ctx := start(t), deadline(t)
	var told []string
	s.o.Waiting = func(err error) { told = append(told, fmt.Sprint(err)) }
	set := func(ctx context.Context) error {
		_, revision, err := s.Get(deadline(t), "a.1")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Set(ctx, "a.1", []byte("value"), revision)
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	late, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	for _, c := range []struct {
		ctx  context.Context
		want error
		told []string
	}{
		{ctx, nil, nil},
		{ended, context.Canceled, nil},
		{late, context.DeadlineExceeded,
			[]string{"setting the key a.1: no answer: context deadline exceeded"}},
		{late, context.DeadlineExceeded, nil},
		{ctx, nil, []string{"<nil>"}},
	} {
		told = nil
		if err := set(c.ctx); !errors.Is(err, c.want) || !slices.Equal(told, c.told) {
			t.Errorf("Set returned %v and Waiting got %q, want %v and %q", err, told, c.want, c.told)
		}
	}
}

func TestAttemptsEndWithTheConnection(t *testing.T) {
	server, err := StartServer(ServerOptions{Dir: t.TempDir(), Host: "127.0.0.1", Port: -1})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, Options{Name: "test", URL: server.URL()})
	attempts := 0
	err = s.retryWithin(deadline(t), time.Hour, "waiting", func(ctx context.Context) error {
		if attempts++; attempts > 1 {
			return nil
		}
		server.Close()
		<-ctx.Done()
		return ctx.Err()
	})
	if err != nil || attempts != 2 {
		t.Errorf("%d attempts and the error %v, want 2 attempts and no error", attempts, err)
	}
}

func TestSend(t *testing.T) {
	s, ctx := start(t), deadline(t)
	for i := 1; i <= 3; i++ {
		if number, err := s.Send(ctx, 1, message(i)); number != uint64(i) || err != nil {
			t.Errorf("input %[1]d has the number %[2]d, %[3]v, want %[1]d", i, number, err)
		}
	}
	for range 2 { // the second of two equal inputs is appended, too
		if _, err := s.Send(ctx, 0, message(1)); err != nil {
			t.Error(err)
		}
	}
	check(t, s.Inputs(1), 1, 3)
	if last, err := s.Inputs(0).Last(ctx); last != 2 || err != nil {
		t.Errorf("the log ends with input %d, %v, want 2", last, err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Send(ended, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Send with an ended context: got %v, want context.Canceled", err)
	}
}

func TestWatch(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithCancel(deadline(t))
	set := func(key string, revision uint64) uint64 {
		now, err := s.Set(ctx, key, []byte(key), revision)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	a, b := set("a.1", 0), set("b.1", 0)
	set("c.1", 0)
	entries, err := s.Watch(ctx, "a.*", "b.*")
	if err != nil {
		t.Fatal(err)
	}
	expect := func(key string, revision uint64) {
		t.Helper()
		select {
		case e, ok := <-entries:
			if !ok || e.Key != key || string(e.Value) != key || e.Revision != revision ||
				key != "" && time.Since(e.Time).Abs() > time.Hour {
				t.Fatalf("got %+v, %v, want key %q with revision %d", e, ok, key, revision)
			}
		case <-ctx.Done():
			t.Fatal("the watch delivers nothing")
		}
	}
	expect("a.1", a)
	expect("b.1", b)
	expect("", 0)
	for range 300 {
		a = set("a.1", a)
		expect("a.1", a)
	}
	set("c.2", 0)
	expect("b.2", set("b.2", 0))
	for range 300 { // more changes than the watch can buffer
		a = set("a.1", a)
	}
	cancel()
	for range entries {
		t.Log("an entry came after the end of the context, which is allowed")
	}
}

func TestNamesOfClusters(t *testing.T) {
	for _, name := range []string{"", "a b", "a.b", "a>", "é", string(make([]byte, 65))} {
		if _, err := Open(t.Context(), Options{Name: name}); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
}

func TestClustersOnOneServer(t *testing.T) {
	s := start(t)
	o := s.o
	o.Name = "other"
	other := open(t, o)
	appendAll(t, s.Outbox(0), 2)
	if last, err := other.Outbox(0).Last(deadline(t)); last != 0 || err != nil {
		t.Errorf("the other cluster's log ends with message %d, %v, want 0", last, err)
	}
}

func freePorts(t *testing.T, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// A single server cannot keep several replicas. Open must return an error instead of waiting for more
// servers.
func TestReplicasOnOneServer(t *testing.T) {
	o := start(t).o
	o.Name, o.Replicas = "other", 3
	if _, err := Open(deadline(t), o); err == nil || !strings.Contains(err.Error(), "replicas > 1 not supp") {
		t.Errorf("got %v, want an error about replicas", err)
	}
}

func TestThreeServers(t *testing.T) {
	ports := freePorts(t, 6)
	address := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	servers, dirs := make([]*Server, 3), make([]string, 3)
	startServer := func(i int) error {
		s, err := StartServer(ServerOptions{Dir: dirs[i], Host: "127.0.0.1", Port: ports[i],
			Name: fmt.Sprint("server-", i), Route: address(3 + i),
			Peers: []string{address(3), address(4), address(5)}})
		servers[i] = s
		return err
	}
	for i := range servers {
		dirs[i] = t.TempDir()
		if err := startServer(i); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { servers[i].Close() })
	}
	s := open(t, Options{Name: "test", Replicas: 3, Server: servers[0]})
	open(t, Options{Name: "test", Replicas: 1, // does not change the existing streams
		URL: "nats://" + address(0) + ",nats://" + address(1) + ",nats://" + address(2)})
	for _, stream := range []string{"KV_VAST_test", "OBJ_VAST_test", "VAST_test_out_0", "VAST_test_in_1"} {
		if h, err := s.js.Stream(deadline(t), stream); err != nil {
			t.Error(err)
		} else if n := h.CachedInfo().Config.Replicas; n != 3 {
			t.Errorf("the stream %s has %d replicas, want 3", stream, n)
		}
	}
	l, ctx := s.Outbox(0), deadline(t)
	number := uint64(0)
	var before protocol.ID
	for round := range longtest.Pick(1, 9) {
		for range 20 {
			m := message(int(number) + 1)
			for {
				err := l.Append(ctx, number, before, m).Wait(ctx)
				if last, errLast := l.Last(ctx); errLast != nil {
					t.Fatal(errLast)
				} else if last == number+1 {
					break
				} else if err == nil || last != number {
					t.Fatalf("appending message %d: %v; the log ends with message %d", number+1, err, last)
				}
			}
			number, before = number+1, protocol.IDOf(m)
		}
		if i := round % 3; servers[i] != nil {
			servers[i].Close()
			check(t, l, 1, int(number))
			if err := startServer(i); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(t, l, 1, int(number))
}
