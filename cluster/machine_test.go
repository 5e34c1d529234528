package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// isle is a machine for tests. People live in its region and travel to other regions, and sometimes to their
// own. The travels depend on Guests, and therefore on the order of all earlier arrivals.
type isle struct {
	region, regions int
	world           *world
	People          []islander
	Guests          uint64 // hash of all arrivals, in their order
	Inputs          [][]byte
}

type islander struct{ ID, Gold uint64 }

// world is the common state of all machines of a test.
type world struct {
	regions int
	until   uint64       // last tick
	slow    atomic.Int64 // delay of each tick, in nanoseconds
	broken  atomic.Bool  // the method machine returns an error
	// If gate is not nil, the last two ticks of region 1 wait until gate is closed.
	gate chan struct{}

	mu    sync.Mutex
	last  map[int][]byte // state after the last tick, by region
	odd   error          // error if two processes have computed different states
	alive int            // number of machines that are not closed
}

func newWorld(regions int, until uint64) *world {
	return &world{regions: regions, until: until, last: make(map[int][]byte)}
}

func (w *world) machine(region int) (Machine, error) {
	if w.broken.Load() {
		return nil, fmt.Errorf("the machine of region %d is broken", region)
	}
	i := newIsle(region, w.regions)
	i.world = w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.alive++
	return i, nil
}

func newIsle(region, regions int) *isle {
	i := &isle{region: region, regions: regions}
	for n := range uint64(5) {
		i.People = append(i.People, islander{ID: uint64(region)<<32 | n, Gold: n})
	}
	return i
}

func mix(values ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range values {
		h = (h ^ v) * 1099511628211
		h ^= h >> 29
	}
	return h
}

func (i *isle) Tick(tick uint64, received, inputs [][]byte) ([][]byte, Hash, error) {
	if i.world != nil {
		time.Sleep(time.Duration(i.world.slow.Load()))
		if i.world.gate != nil && i.region == 1 && tick+2 > i.world.until {
			<-i.world.gate
		}
	}
	le := binary.LittleEndian
	for _, section := range received {
		for ; len(section) > 0; section = section[16:] {
			guest := islander{le.Uint64(section), le.Uint64(section[8:])}
			i.Guests = mix(i.Guests, guest.ID, guest.Gold)
			i.People = append(i.People, guest)
		}
	}
	for _, b := range inputs {
		i.Inputs = append(i.Inputs, bytes.Clone(b))
	}
	slices.SortFunc(i.People, func(a, b islander) int { return int(int64(a.ID - b.ID)) })
	sections := make([][]byte, i.regions)
	i.People = slices.DeleteFunc(i.People, func(p islander) bool {
		luck := mix(p.ID, p.Gold, tick, i.Guests)
		if luck%5 > 0 {
			return false
		}
		to := luck / 5 % uint64(i.regions)
		sections[to] = le.AppendUint64(sections[to], p.ID)
		sections[to] = le.AppendUint64(sections[to], p.Gold+luck%7)
		return true
	})
	b, err := i.Save()
	if w := i.world; w != nil && tick == w.until {
		w.mu.Lock()
		if before := w.last[i.region]; before != nil && !bytes.Equal(before, b) {
			w.odd = fmt.Errorf("two processes end region %d with %s and with %s", i.region, before, b)
		}
		w.last[i.region] = b
		w.mu.Unlock()
	}
	return sections, sha256.Sum256(b), err
}

func (i *isle) Save() ([]byte, error) { return json.Marshal(i) }

func (i *isle) Load(state []byte) error {
	i.People = nil
	return json.Unmarshal(state, i)
}

// Compare compares only the numbers of people.
func (i *isle) Compare(state []byte) error {
	var ofOwner isle
	if err := ofOwner.Load(state); err != nil {
		return err
	}
	if len(ofOwner.People) != len(i.People) {
		return fmt.Errorf("%d people here, and %d at the owner", len(i.People), len(ofOwner.People))
	}
	return nil
}

func (i *isle) Close() error {
	i.world.mu.Lock()
	defer i.world.mu.Unlock()
	i.world.alive--
	return nil
}

func (i *isle) Status() []byte { return fmt.Appendf(nil, `{"people":%d}`, len(i.People)) }

// check compares the last states with the states of a run without a cluster, and checks that all machines are
// closed. inputs has the inputs of each region in their order. They may have come in any ticks.
func (w *world) check(t *testing.T, lookahead uint64, inputs map[int][][]byte) {
	t.Helper()
	isles := make([]*isle, w.regions)
	for r := range isles {
		isles[r] = newIsle(r, w.regions)
	}
	sea := make(map[uint64][][][]byte) // sections by tick, sender and receiver
	for tick := uint64(1); tick <= w.until; tick++ {
		for r, isle := range isles {
			var received [][]byte
			if tick > lookahead {
				for _, from := range sea[tick-lookahead] {
					received = append(received, from[r])
				}
			}
			sections, _, err := isle.Tick(tick, received, nil)
			if err != nil {
				t.Fatal(err)
			}
			sea[tick] = append(sea[tick], sections)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.odd != nil {
		t.Error(w.odd)
	}
	for r, isle := range isles {
		isle.Inputs = inputs[r]
		want, err := isle.Save()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(w.last[r], want) {
			t.Errorf("region %d ends with\n%s, and in a run without a cluster with\n%s", r,
				w.last[r], want)
		}
	}
	if w.alive != 0 {
		t.Errorf("%d machines are not closed", w.alive)
	}
}
