package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/state"
)

// model is a world that has only arrays, in Go memory.
type model struct {
	r      *rand.Rand
	arrays []*modelArray
}

type modelArray struct {
	typ     reflect.Type
	memory  []byte
	len     int
	kept    []uint64 // a bit for each element: whether it belongs to the state; nil if all elements do
	written []bool   // for each page, whether it was written since the last scan
	gone    bool     // whether the world lacks the array
}

const modelPage = 4096

// change makes random changes: elements die and are born, values change, and arrays become longer and
// shorter. The bytes of dead elements may change, too.
func (m *model) change() {
	for _, a := range m.arrays {
		size := int(a.typ.Size())
		most := len(a.memory) / size
		for range m.r.IntN(6) {
			lo := m.r.IntN(most)
			hi := min(lo+1+m.r.IntN(1<<m.r.IntN(10)), most)
			switch m.r.IntN(6) {
			case 0: // random values, some of them unchanged
				for i := lo * size; i < hi*size; i++ {
					a.write(i, byte(m.r.IntN(2)))
				}
			case 1: // writes without a change
				for i := lo * size; i < hi*size; i++ {
					a.write(i, a.memory[i])
				}
			case 2:
				for i := lo * size; i < hi*size; i++ {
					a.write(i, 0)
				}
			case 3, 4:
				for i := lo; i < hi && a.kept != nil; i++ {
					a.kept[i/64] ^= 1 << (i % 64) // death, or birth without a write
				}
			case 5:
				switch m.r.IntN(8) {
				case 3:
					a.gone = !a.gone
				case 0, 1:
					a.len = m.r.IntN(most + 1)
				case 2: // changes all elements, so that the pieces become hot (see hotFor)
					for i := range a.memory {
						a.write(i, byte(m.r.IntN(256)))
					}
				}
			}
		}
	}
}

// flip makes a few elements die or be born. A program may do this after the pause of a checkpoint, before the
// checkpoint has copied its late arrays (the arrays that it does not copy in the pause).
func (m *model) flip() {
	for _, a := range m.arrays {
		for range m.r.IntN(4) {
			if i := m.r.IntN(len(a.memory) / int(a.typ.Size())); a.kept != nil {
				a.kept[i/64] ^= 1 << (i % 64)
			}
		}
	}
}

func (a *modelArray) write(i int, b byte) {
	a.memory[i] = b
	a.written[i/modelPage] = true
}

// canonical returns the elements as files hold them.
func (a *modelArray) canonical() []byte {
	size := int(a.typ.Size())
	b := bytes.Clone(a.memory[:a.len*size])
	for i := range a.len {
		if a.kept != nil && a.kept[i/64]>>(i%64)&1 == 0 {
			clear(b[i*size : (i+1)*size])
		}
	}
	return b
}

func (m *model) picture(kept *keptManifest) *picture {
	p := &picture{state: new(state.World), m: &manifest{Kept: kept}}
	for n, a := range m.arrays {
		p.state.Columns = append(p.state.Columns, state.Column{Name: strconv.Itoa(n)})
		if a.gone {
			continue
		}
		one := state.Array{Kind: state.Elements, Column: n, Number: n, Type: a.typ, Len: a.len,
			Base: unsafe.Pointer(unsafe.SliceData(a.memory))}
		if a.kept != nil {
			one.Kept = func(group int) uint64 {
				mask := a.kept[group]
				if rest := a.len - group*64; rest < 64 {
					mask &= 1<<rest - 1
				}
				return mask
			}
		}
		p.state.Arrays = append(p.state.Arrays, one)
		p.m.Arrays = append(p.m.Arrays, arrayManifest{Kind: one.Kind, Column: -1, Number: n, Len: a.len,
			Type: schemaOf(a.typ)})
	}
	return p
}

// modelPages knows which memory of a model was written. Sometimes it reports that nothing is known.
type modelPages struct {
	*model
	parts map[unsafe.Pointer][][2]int
}

func (p *modelPages) scan() {
	p.parts = make(map[unsafe.Pointer][][2]int)
	for _, a := range p.arrays {
		var parts [][2]int
		for i, w := range a.written {
			if w {
				parts = append(parts, [2]int{i * modelPage, (i + 1) * modelPage})
			}
		}
		clear(a.written)
		p.parts[unsafe.Pointer(unsafe.SliceData(a.memory))] = parts
	}
}

func (p *modelPages) changed(base unsafe.Pointer, n int) ([][2]int, bool) {
	return p.parts[base], p.r.IntN(8) > 0
}

func (p *modelPages) guard(unsafe.Pointer, int) bool { return p.r.IntN(2) > 0 }

func (*modelPages) release(unsafe.Pointer, int) bool { return true }

func (*modelPages) close() error { return nil }

// TestDeltas changes arrays at random, and checks that chains of deltas hold the arrays as they were in the
// pause. In some chains, the stage knows which pages were written. Some files are results of merges.
func TestDeltas(t *testing.T) {
	defer FindWritten(ByTheKernel)() // makes small arrays late, too
	var late, warm, hot bool
	seeds := uint64(longtest.Pick(12, 60))
	types := []reflect.Type{reflect.TypeFor[byte](), reflect.TypeFor[uint32](), reflect.TypeFor[[3]float64](),
		reflect.TypeFor[[33]byte](), reflect.TypeFor[[5000]byte](), reflect.TypeFor[uint64]()}
	for seed := range seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			m := &model{r: rand.New(rand.NewPCG(seed, 1))}
			for i, typ := range types {
				n := 1 + m.r.IntN(40000/int(typ.Size()))
				a := &modelArray{typ: typ, memory: make([]byte, n*int(typ.Size())), len: n}
				a.written = make([]bool, len(a.memory)/modelPage+1)
				if i%2 == m.r.IntN(2) {
					a.kept = make([]uint64, n/64+1)
				}
				m.arrays = append(m.arrays, a)
			}
			d := sim.New(seed)
			folder := d.Folder()
			s := new(stage)
			defer s.close()
			if seed%3 > 0 {
				s.pages = &modelPages{model: m}
			}
			wants := make([][]byte, len(m.arrays)) // expected elements of each array in the checkpoint
			for number := uint64(1); number < 12; number++ {
				m.change()
				kept := &keptManifest{Store: "00", Number: number}
				merge := m.r.IntN(3) == 0 && number > 1
				if number > 1 {
					kept.Base = number - 1
				}
				all := number == 1 || m.r.IntN(9) == 0
				was := wants
				wants = make([][]byte, len(m.arrays))
				for i, a := range m.arrays {
					if !a.gone {
						wants[i] = a.canonical()
					}
				}
				err := s.take(m.picture(kept), all, m.r.IntN(3) > 0)
				m.flip()
				if err == nil {
					err = s.complete()
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range s.work {
					c := &s.work[i]
					late, warm, hot = late || c.late, warm || c.warm, hot || c.late && c.hot
					if before := was[c.array.Number]; c.warm && len(before) == len(wants[c.array.Number]) {
						mustHaveChanged(t, c, before, wants[c.array.Number])
					}
				}
				s.hash()
				f, err := folder.Create(checkpointName(number))
				if err != nil {
					t.Fatal(err)
				}
				if merge && !all {
					err = mergeWith(m.r, folder, f, s)
				} else {
					err = s.writeTo(f)
				}
				if err := errors.Join(err, f.Close()); err != nil {
					t.Fatal(err)
				}
				merged := mergedArrays(t, folder, number)
				for i, a := range m.arrays {
					got, ok := merged[i]
					if ok == a.gone {
						t.Fatalf("seed %d, checkpoint %d: the file has array %d: %t, want %t", seed, number,
							i, ok, !a.gone)
					}
					if a.gone {
						continue
					}
					if want := wants[i]; !bytes.Equal(got, want) {
						at := 0
						for got[at] == want[at] {
							at++
						}
						t.Fatalf("seed %d, checkpoint %d, array %d: byte %d of %d is %d, want %d", seed,
							number, i, at, len(want), got[at], want[at])
					}
				}
			}
		})
	}
	if !late || !warm || !hot {
		t.Errorf("late pieces: %t, warm pieces: %t, hot late pieces: %t; want all true",
			late, warm, hot)
	}
}

// mustHaveChanged fails if the copy of a piece has unchanged units. It ignores units of zeros, in which
// elements may have died or have been born.
func mustHaveChanged(t *testing.T, c *comparison, before, now []byte) {
	t.Helper()
	size := int(c.array.Type.Size())
	unit := unitOf(size)
	for _, b := range c.blocks {
		for lo := int(b.first); lo < int(b.first+b.count); lo += unit {
			from, to := lo*size, min(lo+unit, int(b.first+b.count))*size
			if bytes.Equal(before[from:to], now[from:to]) && len(bytes.Trim(now[from:to], "\x00")) > 0 {
				t.Fatalf("elements %d to %d of array %d are unchanged, but the copy has them", lo, to/size,
					c.array.Number)
			}
		}
	}
}

// mergeWith writes the copy in s to f, merged with the last files of its chain. r chooses the number of
// files.
func mergeWith(r *rand.Rand, folder disk.Folder, f disk.File, s *stage) error {
	c, err := openChain(folder, s.m.Kept.Base)
	if err != nil {
		return err
	}
	from := r.IntN(len(c.layers))
	if err = c.addCopy(s); err == nil {
		err = c.merge(f, from)
	}
	return errors.Join(err, c.close())
}

// mergedArrays merges the chain of a checkpoint into one file, and returns the elements of the file's arrays,
// by the number of the array.
func mergedArrays(t *testing.T, folder disk.Folder, number uint64) map[int][]byte {
	t.Helper()
	c, err := openChain(folder, number)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := errors.Join(c.merge(&file, 0), c.close()); err != nil {
		t.Fatal(err)
	}
	y, err := openLayer(stream{&file}, "")
	if err != nil {
		t.Fatal(err)
	}
	arrays := make(map[int][]byte)
	for _, a := range y.m.Arrays {
		arrays[a.Number] = make([]byte, a.Len*a.Type.Size)
	}
	for {
		b, err := y.r.next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := y.r.bytes(b)
		if err != nil {
			t.Fatal(err)
		}
		switch b.kind {
		case blockArray:
			a := &y.m.Arrays[b.index]
			copy(arrays[a.Number][int(b.first)*a.Type.Size:], content)
		case blockEnd:
			return arrays
		}
	}
}

// surePages are modelPages that always report which memory was written.
type surePages struct{ *modelPages }

func (p surePages) changed(base unsafe.Pointer, _ int) ([][2]int, bool) { return p.parts[base], true }

// TestArrayGrowsAgain: an array becomes shorter, and longer again without a write. The next checkpoint holds
// the elements that the array has regained.
func TestArrayGrowsAgain(t *testing.T) {
	a := &modelArray{typ: reflect.TypeFor[[64]byte](), memory: bytes.Repeat([]byte{7}, 4096), len: 64,
		kept: []uint64{^uint64(0)}, written: make([]bool, 1)}
	m := &model{arrays: []*modelArray{a}}
	s := &stage{pages: surePages{&modelPages{model: m}}}
	for step, n := range []int{64, 48, 64} {
		a.len = n
		err := s.take(m.picture(nil), step == 0, false)
		if err == nil {
			err = s.complete()
		}
		if err != nil {
			t.Fatal(err)
		}
		s.hash()
		elements := 0
		for _, b := range s.blocks {
			if b.kind == blockArray {
				elements += int(b.count)
			}
		}
		if want := []int{64, 0, 16}[step]; elements != want {
			t.Errorf("the checkpoint of %d elements has %d changed elements, want %d", n, elements, want)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}
