package bulk

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast/internal/state"
)

// hashIndexState implements state.Container. A file has the pairs in the order of [HashIndex.All].
//
// If the keys are short (see hasher), their hashes depend only on three seeds. The file then has the seeds
// and the control words of the buckets, too, so that loading puts each pair into its old slot. The hashes of
// other keys depend on the process: loading adds their pairs to an empty index. Loading also adds the pairs
// if their type has changed, or if the capacity of the index is too small for the level in the file.
type hashIndexState[K comparable, V any] struct {
	x       *HashIndex[K, V]
	once    sync.Once // collects the pairs once, at the first read
	pairs   []pairState[K, V]
	control []uint64
}

func (x *HashIndex[K, V]) keep() (any, error) {
	x.mustBeOpen()
	return &hashIndexState[K, V]{x: x}, nil
}

func (s *hashIndexState[K, V]) Of() []any { return []any{s.x} }

func (s *hashIndexState[K, V]) Describe() state.Contents {
	x := s.x
	c := state.Contents{Kind: kindHashIndex, Len: x.len}
	if !x.hash.short || x.level == noLevel {
		return c
	}
	moving := uint64(0)
	if x.moving {
		moving = 1
	}
	c.Numbers = map[string]uint64{"a": x.hash.a, "b": x.hash.b, "c": x.hash.c, "level": uint64(x.level),
		"moving": moving, "split": x.split, "buckets": x.firstUnreached(x.homes())}
	return c
}

func (s *hashIndexState[K, V]) Arrays(c state.Contents, column int) []state.Array {
	control := ordered(state.Control, column, int(c.Numbers["buckets"]), &s.control)
	control.Read = func(dst []byte, lo int) {
		for i := 0; i < len(dst); i += bytesWord {
			copy(dst[i:i+bytesWord], bytesOf(s.x.control(uint64(lo+i/bytesWord))))
		}
	}
	pairs := ordered(state.Pairs, column, c.Len, &s.pairs)
	read := pairs.Read
	pairs.Read = func(dst []byte, lo int) {
		s.once.Do(func() {
			s.pairs = make([]pairState[K, V], 0, s.x.Len())
			for k, v := range s.x.All() {
				s.pairs = appendPair(s.pairs, k, v)
			}
		})
		read(dst, lo)
	}
	return []state.Array{control, pairs}
}

func (s *hashIndexState[K, V]) Reserve(c state.Contents) error {
	if s.x.len > 0 || s.x.group > 0 {
		return s.x.plan.wasUsed()
	}
	if err := s.x.plan.mustHold(c.Len); err != nil {
		return err
	}
	if c.Numbers["buckets"] > uint64(s.x.span.size) {
		return s.x.plan.full(opGrow, c.Len, 0)
	}
	s.x.Clear() // also forgets what Grow has promised
	return nil
}

func (s *hashIndexState[K, V]) Settle(c state.Contents, arrays []state.Array) error {
	if len(s.pairs) != c.Len || len(s.control) != int(c.Numbers["buckets"]) {
		return fmt.Errorf("%s: the file has %d pairs, want %d, and %d control words, want %d",
			s.x.plan.name, len(s.pairs), c.Len, len(s.control), c.Numbers["buckets"])
	}
	for i := range s.pairs {
		if k := s.pairs[i].Key; k != k {
			return fmt.Errorf("%s: a key is NaN", s.x.plan.name)
		}
	}
	err := error(nil)
	level, moving, most := c.Numbers["level"], c.Numbers["moving"], uint64(levelFor(s.x.plan.capacity))
	if s.x.hash.short && len(s.control) > 0 && !arrays[1].Converted && level <= most && moving <= 1 &&
		level+moving <= most {
		if err = s.place(c); err == nil {
			err = sound(s.x.checkInvariants)
		}
		if err == nil {
			err = s.x.checkKeys()
		}
	} else {
		err = s.addAll()
	}
	s.pairs, s.control = nil, nil
	return err
}

// addAll adds the pairs to the empty index.
func (s *hashIndexState[K, V]) addAll() error {
	if err := s.x.Grow(len(s.pairs)); err != nil {
		return err
	}
	for i := range s.pairs {
		if p := &s.pairs[i]; !s.x.Add(p.Key, p.Value) {
			return fmt.Errorf("%s: the file has the pair of %v and %v twice", s.x.plan.name, p.Key, p.Value)
		}
	}
	return nil
}

// maxMeanDistance bounds the average number of buckets between an entry and the home of its key. The home is
// the bucket that the hash of the key selects. No real index comes near this bound. A forged file with larger
// distances could make checkKeys slow.
const maxMeanDistance = 64

// place puts each pair into its old slot. The caller must check the index afterwards.
func (s *hashIndexState[K, V]) place(c state.Contents) error {
	x, n := s.x, c.Numbers
	wrong := func() error {
		return fmt.Errorf("%s: the buckets and the pairs of the file do not fit together", x.plan.name)
	}
	level, buckets := int(n["level"]), uint64(len(s.control))
	small, large := bucketCounts[level], bucketCounts[level+1]
	homes := small
	if n["moving"] != 0 {
		homes = large
	}
	if n["b"]&n["c"]&1 == 0 || n["split"] > small || n["moving"] == 0 &&
		n["split"] != small || buckets < homes {
		return wrong()
	}
	if err := x.commit(opGrow, max(homes+spareBuckets, buckets)); err != nil {
		return err
	}
	x.hash.a, x.hash.b, x.hash.c = n["a"], n["b"], n["c"]
	x.start(level)
	if n["moving"] != 0 {
		x.moving, x.split, x.room = true, n["split"], slotsIn(large)
	}
	left, far := s.pairs, uint64(0)
	for i, control := range s.control {
		p := x.bucket(uint64(i))
		*(*uint64)(p) = control
		for m := fullSlots(control); m != 0; m &= m - 1 {
			if len(left) == 0 {
				return wrong()
			}
			slot, k := slotOf(m), left[0].Key
			home := x.home(x.hash.of(k))
			if home > uint64(i) {
				return wrong()
			}
			far += uint64(i) - home
			*x.key(p, slot) = k
			x.used++
			if control>>(8*slot)&manyBit == 0 {
				*x.value(p, slot) = left[0].Value
				left = left[1:]
				continue
			}
			x.group++
			*x.groupIn(place{uint64(i), slot, true}) = x.group
			for len(left) > 0 && left[0].Key == k {
				added, err := x.many.add(opGrow, x.group, left[0].Value)
				if err != nil {
					return err
				}
				if !added {
					return wrong()
				}
				left = left[1:]
			}
		}
	}
	if len(left) > 0 || far > maxMeanDistance*(uint64(x.used)+1) {
		return wrong()
	}
	x.len = c.Len
	x.countBeyond()
	return nil
}

// checkKeys returns an error if a key has a value twice, more than maxInSlots slots, or both slots and a
// group of values.
func (x *HashIndex[K, V]) checkKeys() error {
	for i := range x.end {
		p := x.bucket(i)
		control := *(*uint64)(p)
		for m := fullSlots(control); m != 0; m &= m - 1 {
			own := place{i, slotOf(m), control>>(8*slotOf(m))&manyBit != 0}
			k := *x.key(p, own.slot)
			h, before := x.hash.of(k), 0
			for at, ok := x.find(h, k); ok && at != own; at, ok = x.findNext(h, k, at) {
				if before++; own.many || at.many || before == maxInSlots ||
					bitsOf(x.valueAt(at)) == bitsOf(x.valueAt(own)) {
					return fmt.Errorf("%s: the key %v has a value twice, too many slots, or both slots and "+
						"a group of values", x.plan.name, k)
				}
			}
		}
	}
	return nil
}

func (s *hashIndexState[K, V]) Abandon(state.Contents) {
	s.x.Clear()
	s.x.group = 0
}
