package storage

import (
	"sort"
	"sync"
)

// tail caches the newest messages of a log. A subscription delivers the messages once for all regions of the
// process. Without a subscription the tail is empty, and log.Read reads from the server.
type tail struct {
	mu      sync.Mutex
	current uint64 // generation of the current subscription; 0 if there is none
	newest  uint64 // generation of the newest subscription, even if it has ended
	stop    func() // ends the current subscription; nil until stopWith sets it
	entries []entry
	bytes   int    // size of the messages in entries
	first   uint64 // entries has all messages of the log with numbers >= first and < next
	next    uint64
	existed uint64        // the log may have undelivered messages with numbers < existed
	changed chan struct{} // closed at the next change
}

type entry struct {
	number uint64
	m      []byte
}

// bytesTail is the maximum size of a tail. The regions of a process mostly read messages of the last few
// ticks.
const bytesTail = 4 << 20

// begin prepares the tail for a subscription to the messages with numbers >= from, and returns the generation
// of the subscription. The log may already have messages with numbers < existed.
func (t *tail) begin(from, existed uint64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
	t.newest++
	t.current, t.changed = t.newest, make(chan struct{})
	t.first, t.next, t.existed = from, from, existed
	return t.current
}

// stopWith sets the function that ends a subscription. If the subscription has already ended, stopWith calls
// the function.
func (t *tail) stopWith(generation uint64, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != generation {
		go stop() // in a goroutine, because stop waits for the handler, which waits for mu
		return
	}
	t.stop = stop
}

// end ends the subscription of a generation. It does nothing if this subscription is not the current one.
func (t *tail) end(generation uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == generation {
		t.drop()
	}
}

func (t *tail) generation() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current
}

// drop ends the subscription, if there is one. Callers hold mu.
func (t *tail) drop() {
	if t.current == 0 {
		return
	}
	if t.stop != nil {
		go t.stop()
	}
	close(t.changed)
	t.current, t.stop, t.entries, t.bytes = 0, nil, nil, 0
}

// delivered adds a message of a subscription. wasNewest reports whether the message was the newest of the log
// when the server sent it.
func (t *tail) delivered(generation uint64, e entry, wasNewest bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != generation {
		return
	}
	if wasNewest {
		t.existed = 0
	}
	if e.number >= t.next {
		t.push(e)
	}
}

// add adds a message that this process has appended, if the tail has all earlier messages of the
// subscription.
func (t *tail) add(e entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != 0 && e.number == t.next {
		t.push(e)
	}
}

func (t *tail) push(e entry) {
	t.entries, t.bytes, t.next = append(t.entries, e), t.bytes+len(e.m), e.number+1
	for t.bytes > bytesTail {
		t.bytes -= len(t.entries[0].m)
		t.first = t.entries[0].number + 1
		t.entries = t.entries[1:]
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// find returns the message with the lowest number >= from, or a zero entry if the log has no such message
// yet. known is false if the tail does not know the answer.
func (t *tail) find(from uint64) (e entry, known bool) {
	e, known, _ = t.watch(from)
	return e, known
}

// watch returns the results of find, and a channel that is closed when these results may have changed.
// If known is false, the channel is nil.
func (t *tail) watch(from uint64) (e entry, known bool, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.current == 0 || from < t.first || from >= t.next && from < t.existed:
		return entry{}, false, nil
	case from >= t.next:
		return entry{}, true, t.changed
	}
	i := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].number >= from })
	return t.entries[i], true, t.changed
}
