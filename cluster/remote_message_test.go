package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// post is a region. Its callbacks Tick and Received call the functions tick and received, which a test may
// set.
type post struct {
	*World
	w        *vast.World
	travel   vast.SparseColumn[Travel]
	log      []string
	tick     func() error
	received func(from int, messages [][]byte) error
}

const postRegions = 3

// newPost makes a post. If deaf is true, the post has no WorldOptions.Received.
func newPost(t testing.TB, region int, deaf bool) *post {
	p := &post{w: vast.NewWorld(vast.Options{Mark: uint8(1 + region), MaxEntities: 1 << 10})}
	p.travel = vast.NewSparseColumn[Travel](p.w)
	o := WorldOptions{World: p.w, Travel: p.travel, Region: region, Regions: postRegions,
		Begin: func() error {
			p.w.Archetype().New()
			return nil
		},
		Arrived: func(from int, entities []vast.Entity) error {
			p.log = append(p.log, fmt.Sprintf("%d entities from %d", len(entities), from))
			p.Send(0, []byte("arrived"))
			return nil
		},
		Tick: func(uint64, [][]byte) error {
			p.log = append(p.log, "tick")
			if p.tick != nil {
				return p.tick()
			}
			return nil
		},
		Received: func(from int, messages [][]byte) error {
			p.log = append(p.log, fmt.Sprintf("%d has %d entities, from %d: %s", region, p.w.Len(), from,
				bytes.Join(messages, []byte(", "))))
			if p.received != nil {
				return p.received(from, messages)
			}
			return nil
		}}
	if deaf {
		o.Received = nil
	}
	var err error
	if p.World, err = NewWorld(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *post) run(t *testing.T, received ...[]byte) [][]byte {
	t.Helper()
	sections, _, err := p.Tick(1, received, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sections
}

func TestMessages(t *testing.T) {
	a, b, c := newPost(t, 0, false), newPost(t, 1, false), newPost(t, 2, false)
	message := []byte("one")
	a.tick = func() error {
		a.Send(2, message)
		copy(message, "???")
		a.Send(2, nil)
		a.Send(1, []byte("other"))
		a.Send(2, bytes.Repeat([]byte("x"), 300))
		return nil
	}
	b.tick = func() error {
		e := firstOf(b.w.Query())
		b.travel.Add(e, Travel{To: 2})
		b.Send(2, []byte("two"))
		b.Send(1, []byte("self"))
		return nil
	}
	fromA, fromB := a.run(t), b.run(t)
	if fromA[0] != nil || fromB[0] != nil {
		t.Errorf("there are sections of %d and %d bytes for a region that gets nothing", len(fromA[0]),
			len(fromB[0]))
	}
	c.received = func(from int, _ [][]byte) error {
		c.Send(from, []byte("answer"))
		return nil
	}
	answers := c.run(t, fromA[2], fromB[2], nil)
	want := []string{"1 entities from 1", "2 has 2 entities, from 0: one, , " + strings.Repeat("x", 300),
		"2 has 2 entities, from 1: two", "tick"}
	if !slices.Equal(c.log, want) {
		t.Errorf("got\n%q, want\n%q", c.log, want)
	}
	a.tick, b.tick = nil, nil
	a.log, b.log = nil, nil
	if sections := a.run(t, nil, nil, answers[0]); !slices.ContainsFunc(sections, notNil) {
		if want := []string{"0 has 1 entities, from 2: arrived, answer", "tick"}; !slices.Equal(a.log, want) {
			t.Errorf("got %q, want %q", a.log, want)
		}
	} else {
		t.Errorf("a tick sends the sections of the previous tick again: %q", sections)
	}
	b.run(t, fromA[1], fromB[1], answers[1])
	want = []string{"1 has 0 entities, from 0: other", "1 has 0 entities, from 1: self",
		"1 has 0 entities, from 2: answer", "tick"}
	if !slices.Equal(b.log, want) {
		t.Errorf("got %q, want %q", b.log, want)
	}
}

func notNil(b []byte) bool { return b != nil }

func TestReceivedFails(t *testing.T) {
	a := newPost(t, 0, false)
	a.tick = func() error {
		a.Send(1, []byte("x"))
		return nil
	}
	section := a.run(t)[1]
	b, failed := newPost(t, 1, false), errors.New("failed")
	b.received = func(int, [][]byte) error {
		b.Send(2, []byte("lost"))
		return failed
	}
	if _, _, err := b.Tick(1, [][]byte{section}, nil); !errors.Is(err, failed) ||
		!strings.Contains(err.Error(), "messages from region 0") || slices.Contains(b.log, "tick") {
		t.Errorf("got the error %v and the log %q, want the error of Received and no tick", err, b.log)
	}
	if sections := b.run(t); sections[2] != nil {
		t.Errorf("a later tick sends the message %q of the failed tick", sections[2])
	}
	deaf := newPost(t, 1, true)
	if _, _, err := deaf.Tick(1, [][]byte{section}, nil); err == nil ||
		!strings.Contains(err.Error(), "set WorldOptions.Received") {
		t.Errorf("a message to a region without Received: got %v, want an error about Received", err)
	}
}

func TestSendMisuse(t *testing.T) {
	a := newPost(t, 0, false)
	const when = "call it while WorldOptions.Arrived, Received or Tick runs"
	says(t, func() { a.Send(0, nil) }, when)
	a.tick = func() error {
		says(t, func() { a.Send(3, nil) }, "there is no region 3: name a region from 0 to 2")
		says(t, func() { a.Send(-1, nil) }, "there is no region -1")
		return nil
	}
	a.run(t)
	says(t, func() { a.Send(0, nil) }, when)
}

func TestDamagedSections(t *testing.T) {
	sender := newPost(t, 1, false)
	sender.tick = func() error {
		sender.travel.Add(firstOf(sender.w.Query()), Travel{})
		sender.Send(0, []byte("message"))
		return nil
	}
	good := sender.run(t)[0]
	bad := [][]byte{{1}, {2, 1}, {2, 2, 0}, {0x80}, {1, 0x80}, bytes.Repeat([]byte{0xff}, 12),
		binary.AppendUvarint(nil, 1<<63), binary.AppendUvarint([]byte{9}, 1<<63)}
	for i := 1; i < len(good); i++ {
		bad = append(bad, good[:i])
	}
	const bytesMessages = 9 // size of the section without the parcel; the parcel has a checksum
	for i := bytesMessages; i < len(good); i++ {
		b := bytes.Clone(good)
		b[i] ^= 1
		bad = append(bad, b)
	}
	for _, b := range bad {
		r := newPost(t, 0, false)
		_, _, err := r.Tick(1, [][]byte{nil, b}, nil)
		if len(b) == bytesMessages { // only the parcel is missing
			if err != nil || len(r.log) != 2 {
				t.Errorf("section %x without its parcel: got %v and the log %q, want no error and 2 lines", b,
					err, r.log)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "from region 1") || r.w.Len() != 1 || r.log != nil {
			t.Errorf("damaged section %x: got the error %v, %d entities and the log %q, want an error, 1 "+
				"entity and an empty log", b, err, r.w.Len(), r.log)
		}
	}
}
