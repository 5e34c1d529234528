package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
)

func TestTier(t *testing.T) {
	for _, c := range []struct {
		sizes []int64
		most  int
		want  int
	}{
		{[]int64{9}, 0, -1},
		{[]int64{9, 1}, 0, 0},
		{[]int64{9, 1, 1, 1}, 3, -1},
		{[]int64{9, 1, 1, 1, 1}, 3, 3},
		{[]int64{9, 1, 1, 2, 1}, 3, 1}, // the oldest delta has a quarter of the bytes of the newer deltas
		{[]int64{9, 2, 1, 2, 1}, 3, 3},
		{[]int64{9, 5, 1, 4, 4}, 3, 2},
		{[]int64{9, 5, 1, 4, 4}, 4, -1},
	} {
		if got := tier(c.sizes, c.most); got != c.want {
			t.Errorf("sizes %v, at most %d deltas: tier returns %d, want %d", c.sizes, c.most, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for name, size := range map[string]func() int64{
		"equal":   func() int64 { return 100 },
		"uniform": func() int64 { return 1 + r.Int64N(1000) },
		"uneven":  func() int64 { return int64(10 / (1 - r.Float64())) },
	} {
		const deltas, most = 20_000, 64
		chain := []int64{1 << 50}
		changed, written, merges := int64(0), int64(0), 0
		for range deltas {
			n := size()
			changed += n
			chain = append(chain, n)
			if from := tier(chain, most); from > 0 {
				merges++
				for _, one := range chain[from : len(chain)-1] {
					n += one
				}
				chain = append(chain[:from], n)
			}
			if written += n; len(chain)-1 > most {
				t.Fatalf("%s: the chain has %d deltas", name, len(chain)-1)
			}
		}
		times := float64(written) / float64(changed)
		if most := 2 + math.Log(deltas/16)/math.Log(5); times > most {
			t.Errorf("%s: each byte was written %.1f times, want at most %.1f", name, times, most)
		}
		if merges > deltas/16 {
			t.Errorf("%s: %d of %d checkpoints merge, which is too many", name, merges, deltas)
		}
	}
}

func TestSmallChanges(t *testing.T) {
	d := sim.New(1)
	f := openPlain(t, d, 1<<16)
	whole := f.st.kept[0].bytes
	const most = 16
	f.st.maxDeltas = most
	r := rand.New(rand.NewPCG(1, 2))
	rounds := longtest.Pick(200, 1000)
	changed, written, tiers := int64(0), int64(0), 0
	for range rounds {
		f.all[r.IntN(len(f.all))].B++
		f.checkpoint(t)
		last := f.st.kept[len(f.st.kept)-1]
		if last.base == 0 {
			t.Fatalf("checkpoint %d holds everything", last.number)
		}
		if len(f.st.kept)-1 > most {
			t.Fatalf("the chain has %d deltas", len(f.st.kept)-1)
		}
		if last.base == last.number-1 {
			changed += last.bytes
		} else {
			tiers++
		}
		written += last.bytes
	}
	changed += changed * int64(tiers) / int64(rounds-tiers) // estimates the changes in the merged deltas
	before := changed + int64(rounds/(most+1))*whole
	t.Logf("%d checkpoints after a complete one of %d bytes: %d bytes have changed, and %d bytes were "+
		"written, with %d merges; with a complete file after each %d deltas, %d bytes would be written",
		rounds, whole, changed, written, tiers, most, before)
	if tiers == 0 || written > 4*changed || written > before/4 {
		t.Errorf("%d bytes have changed, and %d bytes were written, with %d merges", changed, written, tiers)
	}
	mustHold(t, d, f)
}

// mustHold checks that the disk holds the world of f.
func mustHold(t *testing.T, d *sim.Disk, f *plain) {
	t.Helper()
	copied := d.Copy(1)
	copied.Kill()
	c, err := openChain(copied.Restart(), f.st.kept[len(f.st.kept)-1].number)
	if err != nil {
		t.Fatal(err)
	}
	var file, want bytes.Buffer
	if err := errors.Join(c.merge(&file, 0), c.close(), Save(f.w, &want, Options{})); err != nil {
		t.Fatal(err)
	}
	elements := func(file []byte) (all []byte) {
		m, blocks := blocksOf(t, file)
		for _, b := range blocks {
			if b.kind == blockArray && m.Arrays[b.index].Kind == "elements" {
				all = append(all, b.content...)
			}
		}
		return all
	}
	if got := elements(file.Bytes()); len(got) == 0 || !bytes.Equal(got, elements(want.Bytes())) {
		t.Error("the folder holds another world")
	}
}

// TestSameChanges changes the same twentieth of the world before each checkpoint. When the deltas have too
// many bytes, a checkpoint merges them into one delta, and the complete file stays.
func TestSameChanges(t *testing.T) {
	d := sim.New(1)
	f := openPlain(t, d, 1<<15)
	whole := f.st.kept[0].bytes
	first := f.st.kept[0].number
	part := len(f.all) / 20
	rounds, merges, written := 60, 0, int64(0)
	for range rounds {
		for i := range f.all[:part] {
			f.all[i].B++
		}
		f.checkpoint(t)
		if f.st.kept[0].number != first {
			t.Fatalf("checkpoint %d holds everything", f.st.kept[0].number)
		}
		if len(f.st.kept) == 2 {
			merges++
		}
		written += f.last.Bytes
	}
	if merges < 4 || written > int64(rounds+20)*whole/20 {
		t.Errorf("%d merges have written %d bytes", merges, written)
	}
	mustHold(t, d, f)
	// Deltas of different parts of the world: a merge into one delta would save no bytes, so a checkpoint
	// writes a complete file.
	for i := 0; f.st.kept[0].number == first; i++ {
		if i > 20 {
			t.Fatal("no checkpoint has written a complete file")
		}
		at := (i + 1) % 19 * part
		for k := range f.all[at : at+part] {
			f.all[at+k].C++
		}
		f.checkpoint(t)
	}
	mustHold(t, d, f)
}

// TestClearedInDeltas merges two deltas: the first removes or clears elements of the complete file, and the
// second makes the array longer. The merged delta must clear these elements.
func TestClearedInDeltas(t *testing.T) {
	typ := schemaOf(reflect.TypeFor[uint64]())
	number := uint64(0)
	d := sim.New(1)
	folder := d.Folder()
	put := func(length int, gone bool, blocks ...fileBlock) {
		number++
		m := &manifest{Kept: &keptManifest{Store: "00", Number: number, Base: number - 1}}
		if !gone {
			m.Arrays = []arrayManifest{{Kind: "elements", Column: -1, Len: length, Type: typ}}
		}
		d.Put(checkpointName(number), fileOf(t, m, m.version(), append([]fileBlock{{block{kind: blockExtents},
			nil}}, blocks...)))
	}
	of := func(first int, values ...uint64) fileBlock {
		content := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*8)
		return fileBlock{block{kind: blockArray, first: uint64(first), count: uint64(len(values))}, content}
	}
	for what, build := range map[string]func(){
		"shorter for a while": func() {
			put(6, false, of(0, 1, 2, 3, 4, 5, 6))
			put(3, false, of(0, 7))
			put(8, false, of(4, 8), of(7, 9))
		},
		"gone for a while": func() {
			put(6, false, of(0, 1, 2, 3, 4, 5, 6))
			put(0, true)
			put(8, false, of(4, 8), of(7, 9))
		},
		"cleared": func() {
			put(6, false, of(0, 1, 2, 3, 4, 5, 6))
			put(6, false, fileBlock{block{kind: blockZero, first: 1, count: 4}, nil})
			put(8, false, of(3, 8), of(7, 9))
		},
	} {
		t.Run(what, func(t *testing.T) {
			number = 0
			build()
			want := mergedArrays(t, folder, 3)[0]
			c, err := openChain(folder, 3)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := errors.Join(c.merge(&file, 1), c.close()); err != nil {
				t.Fatal(err)
			}
			d.Put(checkpointName(3), file.Bytes())
			if m, _ := blocksOf(t, file.Bytes()); m.Kept.Base != 1 {
				t.Fatalf("the merged delta continues checkpoint %d, want 1", m.Kept.Base)
			}
			if got := mergedArrays(t, folder, 3)[0]; len(want) != 64 || !bytes.Equal(got, want) {
				t.Errorf("%v\ninstead of\n%v", got, want)
			}
		})
		for n := range number {
			d.Lose(checkpointName(n + 1))
		}
	}
}

// TestDeathWhileMerging stops the program at disk calls of a checkpoint that merges deltas and removes the
// replaced files.
func TestDeathWhileMerging(t *testing.T) {
	step := int64(longtest.Pick(4, 1))
	for _, keep := range []int{1, 3} {
		for _, how := range []func(*sim.Disk, int64){(*sim.Disk).KillAt, (*sim.Disk).PowerCutAt} {
			for call, past := int64(1), false; !past; call += step {
				d := sim.New(uint64(call))
				o := islandOptions()
				o.Every, o.Keep = time.Hour, keep
				l := chainedIsland(t, d.Folder(), o, 3)
				l.deltas(t, 3)
				before := l.hash()
				l.ticks(t, 1)
				how(d, d.Calls()+call)
				err := l.st.Checkpoint()
				past = !d.Stopped()
				if !past {
					if err == nil && l.st.DurableTick() != l.st.LastTick() {
						t.Fatalf("call %d: the checkpoint is not durable", call)
					}
				} else if last := l.st.kept[len(l.st.kept)-1]; last.base != 3 || last.number != 5 {
					t.Fatalf("checkpoint %d continues checkpoint %d, want 5 and 3", last.number, last.base)
				}
				d.Kill()
				after := l.hash()
				again, e := openedIsland(t, d.Restart(), o)
				if e != nil {
					t.Fatalf("call %d: %v", call, e)
				}
				if h := again.hash(); h != after && (err == nil || h != before) {
					t.Fatalf("call %d: another island was kept; Checkpoint has returned %v", call, err)
				}
				var names []string
				for _, name := range d.Names() {
					if strings.HasPrefix(name, checkpointPrefix) {
						names = append(names, name)
					}
				}
				if len(names) != len(again.st.kept) {
					t.Fatalf("call %d: the folder has the checkpoints %q, but the store has %d", call,
						names, len(again.st.kept))
				}
			}
		}
	}
}

// BenchmarkSmallChanges measures the bytes that a checkpoint of a world of 16 MiB writes, with writes to ten
// elements between two checkpoints. In the case tiers=false, deltas are not merged, and a complete file
// follows every 64 deltas.
func BenchmarkSmallChanges(b *testing.B) {
	for _, tiers := range []bool{false, true} {
		b.Run(fmt.Sprintf("tiers=%t", tiers), func(b *testing.B) {
			f := openPlain(b, sim.New(1), 16<<20/int(unsafe.Sizeof(sample{})))
			r := rand.New(rand.NewPCG(1, 2))
			written, rounds := int64(0), 0
			for b.Loop() {
				for range 10 {
					f.all[r.IntN(len(f.all))].B++
				}
				f.st.maxDeltas = 64
				if !tiers && len(f.st.kept) > 64 {
					f.st.maxDeltas = 0
				}
				f.checkpoint(b)
				written += f.last.Bytes
				rounds++
			}
			b.ReportMetric(float64(written)/float64(rounds), "written-B/op")
		})
	}
}
