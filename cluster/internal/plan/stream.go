package plan

import "time"

// stream is a stream of JetStream: it appends one message after the other.
type stream struct {
	s         *simulation
	leader    *machine
	followers []*machine
	queue     []message
	appending bool
	busy      time.Duration // time the leader needs for all messages, without waiting for cores and the disk
}

type message struct {
	kind     kind
	us       float64 // processor time of the server, in microseconds
	bytes    float64
	appended func()
}

// stream makes a stream. The leaders of the streams are spread over the servers.
func (s *simulation) stream(i int) *stream {
	n := len(s.servers)
	t := &stream{s: s, leader: s.servers[i%n]}
	for k := 1; k < s.Replicas; k++ {
		t.followers = append(t.followers, s.servers[(i+k)%n])
	}
	return t
}

// append appends a message, and calls m.appended when a majority of the replicas has stored the message.
func (t *stream) append(m message) {
	t.queue = append(t.queue, m)
	if !t.appending {
		t.begin()
	}
}

// begin begins to append the first message of the queue.
func (t *stream) begin() {
	m := t.queue[0]
	t.queue = t.queue[1:]
	t.appending = true
	missing := t.s.Replicas/2 + 1 // a majority
	stored := func() {
		if missing--; missing == 0 {
			m.appended()
		}
	}
	for _, f := range t.followers {
		t.replicate(f, m, stored)
	}
	t.busy += t.store(t.leader, m, func() {
		if t.appending = len(t.queue) > 0; t.appending {
			t.begin()
		}
		stored()
	})
}

// replicate stores a message on another server, and calls the function stored when the leader gets the
// acknowledgement.
func (t *stream) replicate(to *machine, m message, stored func()) {
	t.s.transfer(t.leader, to, m.bytes, func() {
		t.store(to, m, func() { t.s.transfer(to, t.leader, 0, stored) })
	})
}

// store stores a message on the disk of a machine, and then calls the function stored. store returns how long
// its steps take if nothing else uses the machine.
func (t *stream) store(on *machine, m message, stored func()) time.Duration {
	return t.s.write(on, t.s.work(m.kind, m.us), m.bytes, stored)
}
