package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func begin(t testing.TB, o Options) (*memory, *Journal) {
	t.Helper()
	m := newMemory(1)
	j, err := Create(m, storeID, "test", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return m, j
}

// slow makes each Sync of a file last for the time d. Use slow only in a bubble of synctest.
func slow(m *memory, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = func(call string) error {
		if strings.HasPrefix(call, "sync journal") {
			time.Sleep(d)
		}
		return nil
	}
}

func TestManyGoroutines(t *testing.T) {
	m, j := begin(t, Options{})
	const goroutines, each = 16, 200
	positions := make([][]uint64, goroutines)
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range each {
				record := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+i), uint32(i))
				p, err := j.Append(byte(g), record[:4+i], i%3 == 0)
				clear(record) // Append has copied it
				if err == nil && i%7 == 0 {
					if err = j.Wait(t.Context(), p); err == nil && j.Durable() <= p {
						err = errors.New("Wait returned too early")
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				positions[g] = append(positions[g], p)
			}
		})
	}
	all.Go(func() {
		for range 20 {
			if _, _, err := j.Rotate(); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Millisecond)
		}
	})
	all.Wait()
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	if j.Durable() != goroutines*each {
		t.Errorf("%d records are durable, want %d", j.Durable(), goroutines*each)
	}
	if segment, next := j.Segment(); segment != 21 || next != goroutines*each {
		t.Errorf("the next record has position %d, want %d, and goes to segment %d, want 21", next,
			goroutines*each, segment)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	tail, err := Read(m.crashed(), storeID, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	next := make([]int, goroutines)
	for r, err := range tail.Records() {
		if err != nil {
			t.Fatal(err)
		}
		i := next[r.Kind]
		next[r.Kind]++
		want := append(binary.LittleEndian.AppendUint32(nil, uint32(i)), make([]byte, i)...)
		if positions[r.Kind][i] != r.Position || !slices.Equal(r.Data, want) {
			t.Fatalf("record %d of goroutine %d: position %d, want %d; or wrong data of %d bytes", i, r.Kind,
				r.Position, positions[r.Kind][i], len(r.Data))
		}
	}
	if slices.Min(next) != each {
		t.Errorf("the numbers of records of the goroutines are %d, want %d for each", next, each)
	}
}

func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, j := begin(t, Options{})
		slow(m, time.Millisecond)
		before := m.syncs
		start := time.Now()
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				for range 10 {
					p, err := j.Append(0, []byte("record"), true)
					if err == nil {
						err = j.Wait(t.Context(), p)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		// The first batch holds records of some goroutines. After it, two successive batches together hold a
		// record of each goroutine. So 10 records of each goroutine take at most 20 more batches.
		if n := m.syncs - before; n > 21 || time.Since(start) > 21*time.Millisecond {
			t.Errorf("640 records took %d syncs and %v, want at most 21 syncs and 21 ms", n,
				time.Since(start))
		}
		if j.Durable() != 640 {
			t.Errorf("%d records are durable, want 640", j.Durable())
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, j := begin(t, Options{Delay: time.Second, Room: 1000})
		step := func(d time.Duration, want uint64) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if j.Durable() != want {
				t.Errorf("%d records are durable, want %d", j.Durable(), want)
			}
		}
		add := func(size int, soon bool) {
			t.Helper()
			if _, err := j.Append(0, make([]byte, size), soon); err != nil {
				t.Error(err)
			}
		}
		add(1, false)
		step(time.Second/2, 0)
		add(1, false)
		step(time.Second/2-1, 0)
		step(1, 2)
		add(1, false)
		add(1, true)
		step(0, 4)
		syncs := m.syncs
		step(time.Hour, 4)
		if m.syncs != syncs {
			t.Error("a journal without new records syncs")
		}
		add(400, false)
		step(0, 4)
		add(400, false) // more than half of the room is taken
		step(0, 6)
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, j := begin(t, Options{Room: 1000})
		slow(m, time.Hour)
		start := time.Now()
		for range 9 {
			if _, err := j.Append(0, make([]byte, 97), true); err != nil { // 99 bytes with length and kind
				t.Fatal(err)
			}
			synctest.Wait()
		}
		segment, first, err := j.Rotate()
		if segment != 2 || first != 9 || err != nil {
			t.Errorf("Rotate returns segment %d, want 2; first position %d, want 9; error %v", segment, first,
				err)
		}
		if _, err := j.Append(0, make([]byte, 107), false); err != nil { // fills the room
			t.Error(err)
		}
		if p, err := j.Append(0, nil, false); !errors.Is(err, ErrFull) || p != 0 {
			t.Errorf("Append to a full room returns position %d, error %v", p, err)
		}
		if _, err := j.Append(0, make([]byte, 999), false); err == nil || errors.Is(err, ErrFull) {
			t.Errorf("Append of a record that never fits returns %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := j.Wait(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if d := time.Since(start); d != time.Minute {
			t.Errorf("the calls took %v", d)
		}
		// One sync each for the first record, the next eight records, the new segment, the end mark, and the
		// last record.
		if err := j.Flush(); err != nil || time.Since(start) != 5*time.Hour {
			t.Errorf("Flush returns %v after %v, want no error after 5 hours", err, time.Since(start))
		}
		if _, err := j.Append(0, make([]byte, 997), true); err != nil { // the room is free
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		tail, err := Read(m, storeID, 2, 9)
		if err != nil || tail.End != 11 {
			t.Errorf("%+v, %v", tail, err)
		}
	})
}

func TestHold(t *testing.T) {
	m, j := begin(t, Options{Hold: true})
	p, err := j.Append(0, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Flush(); err != nil || j.Durable() != 0 {
		t.Errorf("%d records are acknowledged, error %v", j.Durable(), err)
	}
	waited := make(chan error)
	go func() { waited <- j.Wait(context.Background(), p) }()
	j.Release()
	if err := <-waited; err != nil || j.Durable() != 1 {
		t.Errorf("%d records are acknowledged, error %v", j.Durable(), err)
	}
	j.Hold()
	if _, err := j.Append(0, nil, true); err != nil {
		t.Fatal(err)
	}
	if err := j.Flush(); err != nil || j.Durable() != 1 {
		t.Errorf("%d records are acknowledged after Hold, error %v", j.Durable(), err)
	}
	j.Release()
	if j.Durable() != 2 {
		t.Errorf("%d records are acknowledged after Release", j.Durable())
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}

	tail, err := Read(m, storeID, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = tail.Resume("second", Options{Hold: true}); err != nil {
		t.Fatal(err)
	}
	if j.Durable() != 2 {
		t.Errorf("a resumed journal acknowledges %d records", j.Durable())
	}
	if p, err = j.Append(0, nil, true); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j.Release()
	if err := j.Wait(t.Context(), p); !errors.Is(err, ErrClosed) || j.Durable() != 2 {
		t.Errorf("%d records are acknowledged after Close, error %v", j.Durable(), err)
	}
}

func TestClose(t *testing.T) {
	m, j := begin(t, Options{Delay: time.Hour})
	if _, err := j.Append(1, []byte("last"), false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	if j.Durable() != 1 || j.Wait(t.Context(), 0) != nil || j.Err() != nil || j.Flush() != nil {
		t.Error("Close does not acknowledge the records that it has written")
	}
	_, err := j.Append(0, nil, true)
	_, _, rotate := j.Rotate()
	for _, err := range []error{err, rotate, j.Wait(t.Context(), 1)} {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if got, _, err := readAll(m); err != nil || !slices.Equal(got, []entry{{1, "last", "test"}}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	broken := errors.New("input/output error")
	for _, test := range []struct {
		call    string // prefix of the call that fails
		nth     int    // which of the calls with this prefix fails, from 1 on; counted after Create
		durable uint64 // number of records that are acknowledged
		text    string
	}{
		{"write journal-00000001", 1, 0, "writing journal-00000001"},
		{"sync journal-00000001", 1, 0, "syncing journal-00000001"},
		{"write journal-00000001", 2, 1, "writing journal-00000001"},
		{"sync journal-00000001", 2, 1, "syncing journal-00000001"},
		{"create journal-00000002", 1, 2, "creating journal-00000002"},
		{"write journal-00000002", 1, 2, "writing journal-00000002"},
		{"sync journal-00000002", 1, 2, "syncing journal-00000002"},
		{"sync", 4, 2, "syncing the folder after creating journal-00000002"},
		{"write journal-00000001", 3, 2, "writing journal-00000001"},
		{"sync journal-00000001", 3, 2, "syncing journal-00000001"},
		{"write journal-00000002", 2, 2, "writing journal-00000002"},
		{"sync journal-00000002", 2, 2, "syncing journal-00000002"},
	} {
		m, j := begin(t, Options{})
		m.fail = failing(test.call, test.nth, broken)
		var err error
		for i := range 4 {
			if i == 2 && err == nil {
				_, _, err = j.Rotate()
			}
			if err == nil {
				_, err = j.Append(byte(i), nil, true)
			}
			if err == nil {
				err = j.Flush()
			}
		}
		_, add := j.Append(9, nil, true)
		_, _, rotate := j.Rotate()
		wait := j.Wait(t.Context(), test.durable)
		for _, err := range []error{err, add, rotate, wait, j.Flush(), j.Err(), j.Close()} {
			if !errors.Is(err, broken) || !fails(err, test.text) {
				t.Errorf("%s: %v", test.call, err)
			}
		}
		j.Release()
		if j.Durable() != test.durable || test.durable > 0 && j.Wait(t.Context(), test.durable-1) != nil {
			t.Errorf("%s fails: %d records are acknowledged, want %d", test.call, j.Durable(), test.durable)
		}
		if got, _, err := readAll(m.crashed()); err != nil || len(got) < int(test.durable) {
			t.Errorf("%s fails: the records %q are read, error %v", test.call, got, err)
		}
	}
	for _, call := range []string{"files", "create", "write", "sync journal", "sync"} {
		m := newMemory(1)
		m.fail = failing(call, 1, broken)
		if _, err := Create(m, storeID, "test", Options{}); !errors.Is(err, broken) {
			t.Errorf("Create when %s fails: %v", call, err)
		}
		m.fail = nil
		j, err := Create(m, storeID, "test", Options{}) // takes another number if the segment exists
		if err != nil {
			t.Fatal(err)
		}
		_ = j.Close()
	}
}

func TestFailuresOfResume(t *testing.T) {
	broken := errors.New("input/output error")
	for _, call := range []string{"files", "open", "read", "create", "write", "sync journal", "sync"} {
		m, all, _ := small(t)
		_, tail, err := readAll(m)
		if err != nil {
			t.Fatal(err)
		}
		m.fail = failing(call, 1, broken)
		if _, err := tail.Resume("again", Options{}); !errors.Is(err, broken) {
			t.Errorf("Resume when %s fails: %v", call, err)
		}
		j, err := tail.Resume("again", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tail.Resume("again", Options{}); !fails(err, "call Read again") {
			t.Errorf("a tail is resumed twice: %v", err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _, err := readAll(m.crashed()); err != nil || !slices.Equal(got, all) {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestRemove(t *testing.T) {
	m, j := begin(t, Options{})
	for range 3 {
		if _, err := j.Append(0, nil, true); err != nil {
			t.Fatal(err)
		}
		if _, _, err := j.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := j.Remove(5); !fails(err, "journal-00000004 is the last segment") {
		t.Error(err)
	}
	m.names["journal-00000001.old"] = &content{}
	broken := errors.New("input/output error")
	for _, call := range []string{"files", "remove", "sync"} {
		m.fail = failing(call, 1, broken)
		if err := j.Remove(2); !errors.Is(err, broken) {
			t.Errorf("%s fails: %v", call, err)
		}
	}
	m.calls = nil
	if err := j.Remove(4); err != nil {
		t.Fatal(err)
	}
	want := []string{"files", "remove journal-00000002", "remove journal-00000003", "sync"}
	if !slices.Equal(m.calls, want) {
		t.Errorf("calls %q, want %q", m.calls, want)
	}
	if j.Err() != nil {
		t.Error("a failure of Remove ends the journal")
	}
	c := m.crashed()
	if tail, err := Read(c, storeID, 4, 3); err != nil || tail.End != 3 {
		t.Errorf("%+v, %v", tail, err)
	}
	if _, err := Read(c, storeID, 4, 2); damaged(err, fileName(3)) != nil {
		t.Error(err)
	}
}

func TestBadOptions(t *testing.T) {
	m := newMemory(1)
	for _, o := range []Options{{Room: -1}, {Delay: -1}} {
		if _, err := Create(m, storeID, "", o); !fails(err, "negative") {
			t.Error(err)
		}
	}
	if _, err := Create(m, storeID, strings.Repeat("b", buildMax+1), Options{}); err == nil {
		t.Error("Create accepts a name of a build that is too long")
	}
	j, err := Create(m, storeID, strings.Repeat("b", buildMax), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if tail, err := Read(m, storeID, 1, 0); err != nil || tail.Sectors != 9 {
		t.Errorf("%+v, %v", tail, err)
	}
}

func TestHighNumbers(t *testing.T) {
	m := newMemory(1)
	m.names[fileName(1<<32-3)] = &content{}
	m.names[fileName(99_999_999)] = &content{}
	j, err := Create(m, storeID, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if segment, first, err := j.Rotate(); segment != 1<<32-1 || first != 0 || err != nil {
		t.Errorf("Rotate returns segment %d, first position %d, error %v", segment, first, err)
	}
	if err := j.Flush(); err != nil {
		t.Error(err)
	}
	if _, _, err := j.Rotate(); !fails(err, "highest number") {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Create(m, storeID, "", Options{}); !fails(err, "highest number") {
		t.Error(err)
	}
	tail, err := Read(m, storeID, 1<<32-2, 0)
	if err != nil || tail.Segment != 1<<32-1 {
		t.Errorf("%+v, %v", tail, err)
	}
}

func TestRemoveBesideRotate(t *testing.T) {
	for range 10 {
		m, j := begin(t, Options{})
		if _, _, err := j.Rotate(); err != nil {
			t.Fatal(err)
		}
		if err := j.Flush(); err != nil {
			t.Fatal(err)
		}
		removed, first := make(chan error, 1), true
		m.mu.Lock()
		m.fail = func(call string) error {
			if call == "write journal-00000003" && first {
				first = false
				go func() { removed <- j.Remove(2) }()
				m.mu.Unlock()
				time.Sleep(time.Millisecond)
				m.mu.Lock()
			}
			return nil
		}
		m.mu.Unlock()
		if _, _, err := j.Rotate(); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Flush(), <-removed); err != nil {
			t.Fatal(err)
		}
		calls := m.calls[slices.Index(m.calls, "create journal-00000003"):]
		want := []string{"create journal-00000003", "write journal-00000003", "write journal-00000003",
			"sync journal-00000003", "sync"}
		if !slices.Equal(calls[:len(want)], want) {
			t.Fatalf("calls %q", calls)
		}
	}
}

func TestFullSegment(t *testing.T) {
	m := newMemory(1)
	f, err := m.Create(fileName(1))
	if err != nil {
		t.Fatal(err)
	}
	out := &output{file: f, segment: 1, sectors: math.MaxUint32 - 2}
	long := appendRecord(nil, 0, make([]byte, 1000))
	if err := out.write(long, 0); !fails(err, "journal-00000001 is full") {
		t.Error(err)
	}
	if len(m.names[fileName(1)].data) != 0 {
		t.Error("a part of the batch is written")
	}
	if err := out.write(appendRecord(nil, 0, nil), 0); err != nil {
		t.Error(err)
	}
}
