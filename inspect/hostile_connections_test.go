package inspect

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

func dial(t *testing.T, addr string, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
		t.Cleanup(func() { conn.Close() })
		conns[i] = conn
	}
	return conns
}

func honest(t *testing.T, addr string) {
	t.Helper()
	client := http.Client{Timeout: waiting, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + addr + prefix + "world")
	if err != nil {
		t.Fatalf("an honest client: %v", err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("an honest client: %d %s %v", answer.StatusCode, text, err)
	}
}

func (f *fixture) ticks(t *testing.T) (n uint64) {
	t.Helper()
	f.see(t, func() { n = f.schedule.Stats().Tick })
	return n
}

// goesOn checks that the world still ticks and can be read between ticks.
func (f *fixture) goesOn(t *testing.T) {
	t.Helper()
	before := f.ticks(t)
	eventually(t, "twenty more ticks pass", func() bool { return f.ticks(t) >= before+20 })
}

// closedByServer returns a counter of the connections that the server closes during the test.
func closedByServer(t *testing.T, conns []net.Conn) (closed *atomic.Int32) {
	closed = new(atomic.Int32)
	var readers sync.WaitGroup
	for _, conn := range conns {
		readers.Go(func() {
			_, err := io.Copy(io.Discard, conn)
			if !errors.Is(err, net.ErrClosed) {
				closed.Add(1)
			}
		})
	}
	t.Cleanup(func() {
		for _, conn := range conns {
			conn.Close()
		}
		readers.Wait()
	})
	return closed
}

func TestSlowRequestsAreDropped(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	conns := dial(t, addr, 100)
	closed := closedByServer(t, conns)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		request := head("GET", prefix+"world", addr, "X: "+strings.Repeat("x", 10_000))
		for i := range request {
			for _, conn := range conns {
				io.WriteString(conn, request[i:i+1]) // fails if the connection is dropped
			}
			select {
			case <-time.After(time.Second):
			case <-stop:
				return
			}
		}
	}()
	eventually(t, "all connections are dropped", func() bool {
		f.goesOn(t)
		honest(t, addr)
		return closed.Load() == int32(len(conns))
	})
}

func TestThousandIdleConnections(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	const n = 1000
	conns := dial(t, addr, n)
	closed := closedByServer(t, conns)
	honest(t, addr)
	f.goesOn(t)
	eventually(t, "the connections above the bound are dropped",
		func() bool { return closed.Load() > n-maxConnections })
	honest(t, addr)
}

func TestTooManyConnectionsAfterARequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	const n = 2 * maxConnections
	conns := dial(t, addr, n)
	for _, conn := range conns {
		io.WriteString(conn, head("GET", prefix+"nothing", addr)) // fails if the connection is dropped
	}
	closed := closedByServer(t, conns)
	honest(t, addr)
	eventually(t, "the connections above the bound are dropped",
		func() bool { return closed.Load() >= n-maxConnections })
	f.goesOn(t)
}

// serveTopic serves a topic at the path test/stream. The topic calls newValue for each of its values.
func (f *fixture) serveTopic(t *testing.T, every time.Duration, newValue func() any) (addr string) {
	t.Helper()
	return f.serveMore(t, route{method: "GET", pattern: "test/stream", stream: true,
		raw: func(w http.ResponseWriter, r *http.Request) error {
			test := topic{name: "test", every: every, make: func(context.Context, string) (any,
				error) {
				return newValue(), nil
			}}
			return f.serveTopics(w, r, []subscription{{topic: test, full: "test"}})
		}})
}

func TestStreamThatIsNotRead(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	const size = 1 << 20
	var made atomic.Int64
	large := strings.Repeat("x", size)
	addr := f.serveTopic(t, time.Millisecond, func() any { made.Add(1); return large })
	for _, conn := range dial(t, addr, 4) {
		if err := conn.(*net.TCPConn).SetReadBuffer(1 << 12); err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, head("GET", prefix+"test/stream", addr))
	}
	eventually(t, "the streams begin", func() bool { return len(f.streams) == 4 })
	f.goesOn(t)
	honest(t, addr)
	eventually(t, "the streams are dropped", func() bool { return len(f.streams) == 0 })
	// The server queues no values, so only the socket buffers of the operating system hold values.
	if n := made.Load(); n > 4*64 {
		t.Errorf("without a reader, the server made %d MiB of values", n*size>>20)
	}
}

func TestTooManyStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	addr := f.serveTopic(t, time.Hour, func() any { return 1 })
	request := head("GET", prefix+"test/stream", addr)
	conns := dial(t, addr, maxStreams)
	for _, conn := range conns {
		io.WriteString(conn, request)
	}
	eventually(t, "the streams begin", func() bool { return len(f.streams) == maxStreams })
	answer, body := exchange(t, addr, request)
	checkRefused(t, "one stream too many", answer, body, http.StatusTooManyRequests, "streams")
	if answer.Header.Get("Retry-After") != "5" {
		t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
	}
	honest(t, addr)
	conns[0].Close()
	eventually(t, "a stream ends", func() bool { return len(f.streams) == maxStreams-1 })
	io.WriteString(dial(t, addr, 1)[0], request)
	eventually(t, "another stream begins", func() bool { return len(f.streams) == maxStreams })
}

func TestHeadOfStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	addr := f.serveTopic(t, time.Hour, func() any { return 1 })
	answer, _ := exchange(t, addr, head("HEAD", prefix+"test/stream", addr))
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK ||
		kind != "text/event-stream" {
		t.Errorf("%d %s", answer.StatusCode, kind)
	}
	eventually(t, "the stream ends", func() bool { return len(f.streams) == 0 })
}

// TestNoRequestIsLeftWaiting checks that no request and no goroutine is left after the server has refused
// requests and after clients have hung up. The test is not parallel, because it counts goroutines.
func TestNoRequestIsLeftWaiting(t *testing.T) {
	before := runtime.NumGoroutine()
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	in, err := Serve(context.Background(), w, Options{Patience: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	addr := in.Addr().String()
	var clients sync.WaitGroup
	codes := make(map[string]int)
	var mu sync.Mutex
	const n = maxConnections / 2 // each round has two clients, so no connection is dropped
	for range n {
		clients.Go(func() {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, head("GET", prefix+"world", addr))
			conn.Close() // hangs up while the request waits
		})
		clients.Go(func() {
			answer, body := exchange(t, addr, head("GET", prefix+"world", addr, "Connection: close"))
			mu.Lock()
			defer mu.Unlock()
			if answer.Header.Get("Retry-After") == "" {
				t.Errorf("no Retry-After: %d %s", answer.StatusCode, body)
			}
			for _, code := range []string{"notAdmitted", "busy"} {
				if answer.StatusCode == http.StatusServiceUnavailable &&
					strings.Contains(body, `"`+code+`"`) {
					codes[code]++
				}
			}
		})
	}
	clients.Wait()
	if codes["notAdmitted"] == 0 || codes["notAdmitted"]+codes["busy"] != n {
		t.Errorf("the codes of the refusals are %v, want notAdmitted at least once, and %d codes", codes, n)
	}
	const serving = 2 // goroutines of the inspector itself
	eventually(t, "the requests' goroutines end",
		func() bool { return runtime.NumGoroutine() <= before+serving })
	if w.Admit(0) || len(in.looking) != 0 {
		t.Error("a request still waits")
	}
	in.Close()
	eventually(t, "the inspector's goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}
