package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/mapped"
)

// chainedIsland opens a store that merges a chain only if the chain has more than maxDeltas deltas, and
// recovers the store's island.
func chainedIsland(t *testing.T, f disk.Folder, o Options, maxDeltas int) *life {
	t.Helper()
	l, err := openedIsland(t, f, o)
	if err != nil {
		t.Fatal(err)
	}
	l.st.LongChains(maxDeltas)
	if l.st.New() {
		l.fill()
	}
	if err := l.st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	l.idle()
	return l
}

// deltas makes n ticks, and a checkpoint after each tick.
func (l *life) deltas(t *testing.T, n int) {
	t.Helper()
	for range n {
		l.ticks(t, 1)
		if err := l.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
}

// chainOf returns a disk with a chain of five files, and the hash of its island.
func chainOf(t *testing.T) (*sim.Disk, uint64) {
	t.Helper()
	d := sim.New(1)
	o := islandOptions()
	o.Every = time.Hour
	l := chainedIsland(t, d.Folder(), o, 100)
	l.deltas(t, 4)
	hash := l.hash()
	d.Kill()
	d.Restart()
	d.Kill()
	return d, hash
}

func TestDamagedChains(t *testing.T) {
	t.Run("usual", testDamagedChains)
	t.Run("placed", func(t *testing.T) {
		defer PlaceFrom(1)()
		testDamagedChains(t)
	})
}

func testDamagedChains(t *testing.T) {
	d, hash := chainOf(t)
	if names := d.Names(); len(names) != 6 || names[5] != newestName(5) {
		t.Fatalf("the chain has the files %q", names)
	}
	r := rand.New(rand.NewPCG(1, 1))
	mustFail := func(name, what string, damaged *sim.Disk) {
		t.Helper()
		for _, merge := range []bool{false, true} {
			d := damaged.Copy(1)
			f := d.Restart()
			before := listingOf(d)
			var err error
			if merge {
				err = compact(f, 5)
			} else {
				_, err = openedIsland(t, f, islandOptions())
			}
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s, %s, merge %t: the error is %v", name, what, merge, err)
			}
			if after := listingOf(d); after != before {
				t.Fatalf("%s, %s, merge %t: the folder had\n%s\nand now has\n%s", name, what, merge, before,
					after)
			}
		}
	}
	rounds := longtest.Pick(10, 60)
	for _, name := range d.Names()[:5] {
		file := d.Bytes(name)
		for range rounds {
			c := d.Copy(1)
			bit := r.Int64N(int64(len(file)) * 8)
			c.FlipBit(name, bit)
			mustFail(name, fmt.Sprintf("bit %d of %d", bit, len(file)*8), c)
			c = d.Copy(1)
			end := r.IntN(len(file))
			c.Put(name, file[:end])
			mustFail(name, fmt.Sprintf("cut at %d of %d", end, len(file)), c)
		}
		c := d.Copy(1)
		c.Lose(name)
		mustFail(name, "lost", c)
	}
	l, err := openedIsland(t, d.Restart(), islandOptions())
	if err != nil || l.hash() != hash {
		t.Errorf("the undamaged chain holds another island: %v", err)
	}
}

func listingOf(d *sim.Disk) string {
	var b strings.Builder
	for _, name := range d.Names() {
		fmt.Fprintf(&b, "%s %x\n", name, len(d.Bytes(name)))
	}
	return b.String()
}

func TestForeignBases(t *testing.T) {
	d, _ := chainOf(t)
	other, _ := chainOf(t)
	var copies [2]*sim.Disk // two copies of one folder, which continue separately
	for i := range copies {
		copies[i] = d.Copy(1)
		o := islandOptions()
		o.Every = time.Hour
		l := chainedIsland(t, copies[i].Restart(), o, 100)
		l.deltas(t, 2)
		copies[i].Kill()
		copies[i].Restart()
		copies[i].Kill()
	}
	for _, c := range []struct {
		disk       *sim.Disk
		name, want string
		file       []byte
	}{
		{d, "checkpoint-00000001", "belongs to store", other.Bytes("checkpoint-00000001")},
		{d, "checkpoint-00000003", "belongs to store", other.Bytes("checkpoint-00000003")},
		{d, "checkpoint-00000003", "is checkpoint 2 under another name", d.Bytes("checkpoint-00000002")},
		{copies[0], "checkpoint-00000006", "but another checkpoint with that number",
			copies[1].Bytes("checkpoint-00000006")},
		{copies[0], "checkpoint-00000007", "but another checkpoint with that number",
			copies[1].Bytes("checkpoint-00000007")},
	} {
		one := c.disk.Copy(1)
		one.Put(c.name, c.file)
		_, err := openedIsland(t, one.Restart(), islandOptions())
		if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
		}
	}
	empty := newIsland()
	defer empty.w.Close()
	delta := bytes.NewReader(d.Bytes("checkpoint-00000003"))
	if _, err := Load(empty.w, delta, islandOptions()); err == nil ||
		!strings.Contains(err.Error(), "open the folder with Open") {
		t.Errorf("Load of a delta: %v", err)
	}
}

// fileBlock is a block of a file that a test forges.
type fileBlock struct {
	block
	content []byte
}

func blocksOf(t *testing.T, file []byte) (m *manifest, blocks []fileBlock) {
	t.Helper()
	y, err := openLayer(stream{bytes.NewReader(file)}, "")
	if err != nil {
		t.Fatal(err)
	}
	for {
		b, err := y.r.next()
		if err != nil {
			t.Fatal(err)
		}
		if b.kind == blockEnd {
			return y.m, blocks
		}
		content, err := y.r.bytes(b)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, fileBlock{b, bytes.Clone(content)})
	}
}

func fileOf(t *testing.T, m *manifest, version uint16, blocks []fileBlock) []byte {
	t.Helper()
	var b bytes.Buffer
	out, err := newBlockWriter(&b, version)
	if err == nil {
		err = out.describe(m)
	}
	for _, one := range blocks {
		err = errors.Join(err, out.write(one.block, one.content))
	}
	if err = errors.Join(err, out.close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type forgery struct {
	m       *manifest
	version uint16
	blocks  []fileBlock
}

// TestForgedLists reads blocks of the kind blockHeaders, which list the headers of the blocks that follow.
// Only a file of version versionPlaced has such lists.
func TestForgedLists(t *testing.T) {
	elements := block{kind: blockArray, count: 3, size: 3}
	listed := func(b block) []byte { return appendHeader(nil, b, make([]byte, b.size)) }
	damaged := listed(elements)
	damaged[9] ^= 1
	for _, c := range []struct {
		what, want string
		count      uint64
		content    []byte
	}{
		{"a list", "", 2, slices.Concat(listed(elements), listed(elements))},
		{"padding", "", 1, append(listed(elements), make([]byte, mapped.PageSize)...)},
		{"an empty list", "lists 0 blocks", 0, nil},
		{"too few bytes", "lists 2 blocks in 40 bytes", 2, listed(elements)},
		{"too much padding", "lists 1 blocks in 4137 bytes", 1,
			append(listed(elements), make([]byte, mapped.PageSize+1)...)},
		{"too many blocks", "lists 1025 blocks", 1025, bytes.Repeat(listed(elements), 1025)},
		{"another kind", "has the kind 4, in a list", 1, listed(block{kind: blockValues})},
		{"a list in a list", "has the kind 8, in a list", 1, listed(block{kind: blockHeaders, count: 1})},
		{"damage", "its checksum is wrong", 1, damaged},
	} {
		for _, version := range []uint16{versionWhole, versionDelta, versionPlaced} {
			var file bytes.Buffer
			out, err := newBlockWriter(&file, version)
			if err == nil {
				b := block{kind: blockHeaders, count: c.count}
				err = errors.Join(out.write(b, c.content), out.dst.Flush())
			}
			if err != nil {
				t.Fatal(err)
			}
			file.Write(make([]byte, 6))
			r, err := newBlockReader(stream{&file})
			if err != nil {
				t.Fatal(err)
			}
			b, err := r.next()
			switch {
			case version != versionPlaced:
				if b.kind != blockHeaders || err != nil {
					t.Errorf("%s, version %d: kind %d, %v", c.what, version, b.kind, err)
				}
			case c.want != "":
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: the error is %v, want %q", c.what, err, c.want)
				}
			case b != elements || err != nil || r.skip(b) != nil:
				t.Errorf("%s: %v, %v", c.what, b, err)
			}
		}
	}
}

func TestForgedChains(t *testing.T) {
	d, _ := chainOf(t)
	const name = "checkpoint-00000005"
	arrayOf := func(m *manifest, blocks []fileBlock) int {
		i := slices.IndexFunc(blocks, func(b fileBlock) bool {
			return b.kind == blockArray && m.Arrays[b.index].Kind == "elements" && b.count > 1
		})
		if i < 0 {
			t.Fatal("no elements have changed")
		}
		return i
	}
	for what, forge := range map[string]func(m *manifest, blocks []fileBlock) forgery{
		"a base that is the file itself": func(m *manifest, b []fileBlock) forgery {
			m.Kept.Base = 5
			return forgery{m, 2, b}
		},
		"a base that is later": func(m *manifest, b []fileBlock) forgery {
			m.Kept.Base = 6
			return forgery{m, 2, b}
		},
		"a base and the version of a file without a base": func(m *manifest, b []fileBlock) forgery {
			return forgery{m, 1, b}
		},
		"no base and the version of a file with a base": func(m *manifest, b []fileBlock) forgery {
			m.Kept.Base = 0
			return forgery{m, 2, b}
		},
		"elements behind the end": func(m *manifest, b []fileBlock) forgery {
			b[arrayOf(m, b)].first += 1 << 20
			return forgery{m, 2, b}
		},
		"too many elements": func(m *manifest, b []fileBlock) forgery {
			b[arrayOf(m, b)].count += 1 << 20
			return forgery{m, 2, b}
		},
		"cleared elements behind the end": func(m *manifest, b []fileBlock) forgery {
			i := arrayOf(m, b)
			return forgery{m, 2, append(b, fileBlock{block: block{kind: blockZero, index: b[i].index,
				first: uint64(m.Arrays[b[i].index].Len), count: 1}})}
		},
		"cleared elements with bytes": func(m *manifest, b []fileBlock) forgery {
			i := arrayOf(m, b)
			b[i].kind = blockZero
			return forgery{m, 2, b}
		},
		"blocks that overlap": func(m *manifest, b []fileBlock) forgery {
			i := arrayOf(m, b)
			return forgery{m, 2, slices.Insert(b, i, b[i])}
		},
		"an array that does not exist": func(m *manifest, b []fileBlock) forgery {
			return forgery{m, 2, append(b, fileBlock{block: block{kind: blockZero, index: 1 << 20}})}
		},
		"an array twice": func(m *manifest, b []fileBlock) forgery {
			m.Arrays = append(m.Arrays, m.Arrays[0])
			return forgery{m, 2, b}
		},
		"another type": func(m *manifest, b []fileBlock) forgery {
			for i := range m.Arrays {
				if a := &m.Arrays[i]; a.Kind == "floors" {
					typ := *a.Type
					typ.Kind = "int32"
					a.Type = &typ
				}
			}
			return forgery{m, 2, b}
		},
		"values that are missing": func(m *manifest, b []fileBlock) forgery {
			for i := range m.Columns {
				m.Columns[i].Whole = true
			}
			without := slices.DeleteFunc(b, func(b fileBlock) bool { return b.kind == blockValues })
			return forgery{m, 2, without}
		},
		"a resource that is missing": func(m *manifest, b []fileBlock) forgery {
			m.Resources[0].Whole = true
			without := slices.DeleteFunc(b, func(b fileBlock) bool { return b.kind == blockResource })
			return forgery{m, 2, without}
		},
	} {
		m, blocks := blocksOf(t, d.Bytes(name))
		var copied manifest // forge may change the copy
		if b, err := json.Marshal(m); err != nil || json.Unmarshal(b, &copied) != nil {
			t.Fatal(err)
		}
		c := d.Copy(1)
		f := forge(&copied, blocks)
		c.Put(name, fileOf(t, f.m, f.version, f.blocks))
		if _, err := openedIsland(t, c.Restart(), islandOptions()); err == nil ||
			!strings.Contains(err.Error(), "checkpoint-0000000") {
			t.Errorf("%s: the error is %v", what, err)
		}
	}
}

// TestMergeOfForgedLengths merges files whose manifest claims an array that is larger than any memory. The
// merge must not allocate it.
func TestMergeOfForgedLengths(t *testing.T) {
	d, _ := chainOf(t)
	const number = 5
	name := checkpointName(number)
	for size, n := range map[int]int{1: math.MaxInt, 16: math.MaxInt / 16, math.MaxInt / 64: 1} {
		m, blocks := blocksOf(t, d.Bytes(name))
		for _, field := range []string{"a", "b"} {
			m.Arrays = append(m.Arrays, arrayManifest{Kind: "forged " + field, Column: -1, Len: n,
				Type: &schema{Kind: "struct", Size: size}})
		}
		if size < 100 { // the file holds the last element
			blocks = append(blocks, fileBlock{block{kind: blockArray, index: uint32(len(m.Arrays) - 1),
				first: uint64(n - 1), count: 1, size: uint64(size)}, make([]byte, size)})
		}
		c := d.Copy(1)
		c.Put(name, fileOf(t, m, versionDelta, blocks))
		if err := CompactFile(c.Restart(), number); err != nil {
			t.Errorf("%d elements of %d bytes: %v", n, size, err)
		}
		m.Arrays[len(m.Arrays)-1].Type.Size = math.MaxInt
		c.Kill()
		c.Put(name, fileOf(t, m, versionDelta, blocks))
		err := CompactFile(c.Restart(), number)
		if err == nil || !strings.Contains(err.Error(), "no memory has") {
			t.Errorf("elements of %d bytes: the error is %v", math.MaxInt, err)
		}
	}
}

// TestFailedDelta checks that the checkpoint after a failed checkpoint holds the changes of the failed one.
func TestFailedDelta(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Every = time.Hour
	l := chainedIsland(t, d.Folder(), o, 100)
	l.deltas(t, 2)
	d.SetCapacity(1)
	l.ticks(t, 1)
	if err := l.st.Checkpoint(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Checkpoint returns %v", err)
	}
	d.SetCapacity(0)
	l.deltas(t, 3)
	hash := l.hash()
	d.Kill()
	again, err := openedIsland(t, d.Restart(), o)
	if err != nil || again.hash() != hash {
		t.Errorf("the folder holds another island: %v", err)
	}
}

// TestMergeOfDamage checks that merging a damaged file fails, and that the next checkpoint holds the whole
// world.
func TestMergeOfDamage(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Every = time.Hour
	l := chainedIsland(t, d.Folder(), o, 3)
	l.deltas(t, 3)
	d.FlipBit(checkpointName(2), int64(len(d.Bytes(checkpointName(2))))*4)
	l.ticks(t, 1)
	if err := l.st.Checkpoint(); err == nil || !strings.Contains(err.Error(), checkpointName(2)) {
		t.Fatalf("Checkpoint returns %v", err)
	}
	l.deltas(t, 2)
	hash := l.hash()
	d.Kill()
	again, err := openedIsland(t, d.Restart(), o)
	if err != nil || again.hash() != hash {
		t.Errorf("the folder holds another island: %v", err)
	}
}

func TestKeepChains(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Every, o.Keep = time.Hour, 4
	l := chainedIsland(t, d.Folder(), o, 3)
	hashes := map[uint64]uint64{1: l.hash()}
	for number := uint64(2); number < 30; number++ {
		l.deltas(t, 1)
		hashes[number] = l.hash()
		needed := make(map[string]bool)
		for kept := max(number, 4) - 3; kept <= number; kept++ {
			c, err := openChain(d.Folder(), kept)
			if err != nil {
				t.Fatal(err)
			}
			for _, y := range c.layers {
				needed[y.name] = true
			}
			n := newIsland()
			_, err = c.read(n.w, islandOptions(), false)
			if err := errors.Join(err, c.close()); err != nil {
				t.Fatal(err)
			}
			if n.hash() != hashes[kept] {
				t.Fatalf("checkpoint %d holds another island", kept)
			}
			if err := n.w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range d.Names() {
			if strings.HasPrefix(name, checkpointPrefix) && !needed[name] {
				t.Fatalf("%s is in the folder after checkpoint %d, and no checkpoint needs it", name, number)
			}
		}
	}
}

func TestDeathWhileCompacting(t *testing.T) {
	whole, hash := chainOf(t)
	step := int64(longtest.Pick(7, 1))
	for _, how := range []func(*sim.Disk, int64){(*sim.Disk).KillAt, (*sim.Disk).PowerCutAt} {
		for call, past := int64(1), false; !past; call += step {
			d := whole.Copy(uint64(call))
			f := d.Restart()
			how(d, d.Calls()+call)
			err := compact(f, 5)
			past = !d.Stopped()
			if past != (err == nil) {
				t.Fatalf("call %d: %v", call, err)
			}
			d.Kill()
			l, err := openedIsland(t, d.Restart(), islandOptions())
			if err != nil || l.hash() != hash {
				t.Fatalf("call %d: the folder holds another island: %v", call, err)
			}
			for _, name := range d.Names() {
				if strings.HasSuffix(name, unfinished) {
					t.Fatalf("call %d: the unfinished file %s remains", call, name)
				}
			}
		}
	}
}

type sample struct{ A, B, C uint64 }

// plain is a world with one column, and its store.
type plain struct {
	w    *vast.World
	st   *Store
	all  []sample
	last Checkpoint
}

func openPlain(t testing.TB, d *sim.Disk, entities int) *plain {
	t.Helper()
	f := &plain{w: vast.NewWorld(vast.Options{Name: "plain", MaxEntities: 1 << 20})}
	t.Cleanup(func() {
		if err := errors.Join(f.st.Close(), f.w.Close()); err != nil {
			t.Error(err)
		}
	})
	c := vast.NewColumn[sample](f.w)
	o := Options{Every: time.Hour, Build: "a", Notify: func(c Checkpoint) { f.last = c }}
	var err error
	if f.st, err = open(d.Folder(), f.w, o); err != nil {
		t.Fatal(err)
	}
	f.w.Archetype(c).NewN(entities, func(run vast.Run) {
		if f.all = c.Slice(run); len(f.all) != entities {
			t.Fatalf("a run has %d entities, want %d", len(f.all), entities)
		}
		for i := range f.all {
			f.all[i] = sample{uint64(i), 1, 2}
		}
	})
	if err := f.st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	f.checkpoint(t)
	return f
}

func (f *plain) checkpoint(t testing.TB) {
	t.Helper()
	if err := f.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
}

// overwrite changes all elements of n random pages of 4096 bytes.
func (f *plain) overwrite(r *rand.Rand, n int) {
	const page, size = 4096, int(unsafe.Sizeof(sample{}))
	begin := -int(uintptr(unsafe.Pointer(&f.all[0]))) & (page - 1)
	for _, p := range r.Perm((len(f.all)*size - begin) / page)[:n] {
		at := begin + p*page
		for i := (at + size - 1) / size; i < (at+page)/size; i++ {
			f.all[i].A += uint64(i) + 1
		}
	}
}

func TestBytesOfDeltas(t *testing.T) {
	f := openPlain(t, sim.New(1), 1<<19)
	r := rand.New(rand.NewPCG(1, 2))
	pages := len(f.all) * int(unsafe.Sizeof(sample{})) / 4096 / 100
	for range 5 {
		f.overwrite(r, pages)
		f.checkpoint(t)
		if ratio := float64(f.last.Bytes) / float64(pages*4096); ratio > 1.3 {
			t.Errorf("%d dirty pages: %d bytes were written, %.2f times the bytes of these pages", pages,
				f.last.Bytes, ratio)
		}
	}
	f.all[17].B++ // one element
	f.checkpoint(t)
	if f.last.Bytes > 8<<10 {
		t.Errorf("%d bytes were written for one element", f.last.Bytes)
	}
}

func TestBytesOnDisk(t *testing.T) {
	d := sim.New(1)
	f := openPlain(t, d, 1<<15)
	var file bytes.Buffer
	if err := Save(f.w, &file, Options{}); err != nil {
		t.Fatal(err)
	}
	most, merges := 0, 0
	d.Watch(func(c sim.Call) {
		if c.Op == sim.Rename || c.Op == sim.Remove || c.Op == sim.SyncFile {
			total := 0
			for _, name := range d.Names() {
				total += len(d.Bytes(name))
			}
			most = max(most, total)
		}
	})
	r := rand.New(rand.NewPCG(1, 2))
	pages := len(f.all) * int(unsafe.Sizeof(sample{})) / 4096
	rounds := longtest.Pick(15, 60)
	for range rounds {
		f.overwrite(r, 1+r.IntN(pages*6/10))
		f.checkpoint(t)
		if len(f.st.kept) == 1 {
			merges++
		}
	}
	d.Watch(nil)
	if merges == 0 || merges == rounds {
		t.Errorf("%d of %d checkpoints hold a whole world", merges, rounds)
	}
	if ratio := float64(most) / float64(file.Len()); ratio > 2.5 {
		t.Errorf("the disk had %d bytes, %.2f times the bytes of a saved world", most, ratio)
	}
}

func TestStageMemory(t *testing.T) {
	f := openPlain(t, sim.New(1), 1<<18)
	for range spareCopies + 1 {
		for i := range f.all[:1<<10] {
			f.all[i].B++
		}
		f.checkpoint(t)
	}
	if s := f.st.stage.memory; s == nil || s.Committed() > 1<<20 {
		t.Errorf("the memory for the copy of 24 KiB is %v, want at most 1 MiB", s)
	}
}
