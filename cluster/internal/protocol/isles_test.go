package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// isles is a machine for simulations. Each region is an isle with islanders, who sail to other isles, and
// sometimes to their own. In the second version of the program, islanders have an age, which increases with
// each journey.
type isles struct {
	s       *sim
	region  int
	version int
	People  []islander
	Guests  uint64 // hash of all arrivals, so that the results depend on their order
}

type islander struct{ ID, Gold, Age uint64 }

func newIsles(s *sim, region, version int) *isles {
	i := &isles{s: s, region: region, version: version}
	for n := range uint64(5) {
		i.People = append(i.People, islander{ID: uint64(region)<<32 | n, Gold: n})
	}
	return i
}

// isleInput returns an input that adds an islander.
func isleInput(gold uint64) []byte { return binary.LittleEndian.AppendUint64(nil, gold) }

func mix(values ...uint64) uint64 {
	h := uint64(14695981039346656037)
	for _, v := range values {
		h = (h ^ v) * 1099511628211
		h ^= h >> 29
	}
	return h
}

func (i *isles) Tick(tick uint64, received, inputs [][]byte) ([][]byte, Hash, error) {
	for _, section := range received {
		for len(section) > 0 {
			le := binary.LittleEndian
			arrival := islander{ID: le.Uint64(section), Gold: le.Uint64(section[8:])}
			size := i.s.bytesIslander(tick - i.s.lookahead)
			if size > 16 {
				arrival.Age = le.Uint64(section[16:])
			}
			i.Guests = mix(i.Guests, arrival.ID, arrival.Gold, arrival.Age)
			i.People = append(i.People, arrival)
			section = section[size:]
		}
	}
	for n, input := range inputs {
		gold := binary.LittleEndian.Uint64(input)
		id := 1<<63 | uint64(i.region)<<48 | tick<<8 | uint64(n)
		i.People = append(i.People, islander{ID: id, Gold: gold})
	}
	slices.SortFunc(i.People, func(a, b islander) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	sections := make([][]byte, i.s.regions)
	i.People = slices.DeleteFunc(i.People, func(p islander) bool {
		luck := mix(p.ID, p.Gold, tick, i.Guests)
		if luck%5 > 0 {
			return false
		}
		to := luck / 5 % uint64(i.s.regions)
		sections[to] = binary.LittleEndian.AppendUint64(sections[to], p.ID)
		sections[to] = binary.LittleEndian.AppendUint64(sections[to], p.Gold+luck%7)
		if i.version > 0 {
			sections[to] = binary.LittleEndian.AppendUint64(sections[to], p.Age+1)
		}
		return true
	})
	b, err := i.Save()
	return sections, sha256.Sum256(b), err
}

// bytesIslander returns the size of an islander in the sections that a tick has sent.
func (s *sim) bytesIslander(tick uint64) int {
	if s.versionOf(tick) == 0 {
		return 16
	}
	return 24
}

func (i *isles) Save() ([]byte, error) { return json.Marshal(i) }

func (i *isles) Load(_ uint64, state []byte) error {
	i.People = nil
	return json.Unmarshal(state, i)
}

// compare runs the isles without a cluster, and compares the result of each tick with its message in the
// outbox. The cut of this message says which inputs the tick reads. compare also checks that each islander is
// at one place: on an isle or at sea.
func (s *sim) compare() error {
	isles := make([]*isles, s.regions)
	before := make([]Hash, s.regions)
	cuts := make([]uint64, s.regions)
	sea := make(map[uint64][][][]byte) // by tick, sender and receiver
	people := 0
	for n := range isles {
		isles[n] = newIsles(s, n, 0)
		people += len(isles[n].People)
	}
	for tick := uint64(1); tick <= s.until; tick++ {
		sent := make([][][]byte, s.regions)
		for n, isle := range isles {
			m := s.outboxes[n].kept[tick]
			inputs := s.inputs[n].all[cuts[n]:m.cut]
			cuts[n] = m.cut
			people += len(inputs)
			var received [][]byte
			if tick > s.lookahead {
				for _, from := range sea[tick-s.lookahead] {
					received = append(received, from[n])
				}
			}
			isle.version = s.versionOf(tick)
			sections, state, err := isle.Tick(tick, received, inputs)
			if err != nil {
				return err
			}
			want := message{region: uint32(n), tick: tick, before: before[n], code: codeOf(isle.version),
				cut: m.cut, state: state, sections: sections}
			if before[n] = want.hash(); before[n] != m.hash() {
				return fmt.Errorf("tick %d of region %d differs from a run without a cluster", tick, n)
			}
			sent[n] = sections
		}
		sea[tick] = sent
		delete(sea, tick-s.lookahead)
		seen := make(map[uint64]bool)
		for _, isle := range isles {
			for _, p := range isle.People {
				seen[p.ID] = true
			}
		}
		count := len(seen)
		for departure, senders := range sea {
			for _, receivers := range senders {
				for _, section := range receivers {
					for ; len(section) > 0; section = section[s.bytesIslander(departure):] {
						seen[binary.LittleEndian.Uint64(section)] = true
						count++
					}
				}
			}
		}
		if count != people || len(seen) != people {
			return fmt.Errorf("after tick %d there are %d islanders with %d different IDs, want %d of each",
				tick, count, len(seen), people)
		}
	}
	return nil
}
