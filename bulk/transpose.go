package bulk

import (
	"fmt"
	"iter"
	"unsafe"
)

// defaultScratch is the default of TransposeOptions.Scratch. If most fields have columns, the columns of a
// block and the block's elements fit together into a first-level cache.
const defaultScratch = 16 << 10

// TransposeOptions say how a transposition is made. The zero value works.
type TransposeOptions struct {
	// Scratch is the memory for the columns in bytes. It is raised if 64 rows do not fit. Default: 16 KiB.
	Scratch int
}

// Transpose copies some fields of consecutive elements to temporary columns, one block of elements at a time,
// and writes the fields back. The program keeps its array of elements, and a calculation finds the values of
// a field side by side. Transposing pays if the calculation saves more time with columns, for example by
// vector instructions, than the copying takes.
//
//	t := bulk.NewTranspose[particle](bulk.TransposeOptions{})
//	y := bulk.ColumnOf(t, func(p *particle) *float32 { return &p.position[1] }) // read and written back
//	v := bulk.InputOf(t, func(p *particle) *float32 { return &p.velocity[1] })  // only read
//	for range t.Pool(particles) {
//		y, v := y.Slice(), v.Slice()
//		for i := range y {
//			y[i] += v[i] * dt
//		}
//	}
//
// The columns lie on Go's heap, need no Close, and are reused for each block. Only one goroutine may use a
// Transpose at a time. An iteration is an access to the elements: the caller must synchronize it like any
// other access.
//
// The method is from Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery, 2019).
type Transpose[T any] struct {
	columns []temporary
	scratch int // bytes
	rows    int // the largest number of rows of a block, a multiple of 64; 0 before the columns have memory
	pass    int // the number of the current iteration, or of the last one

	// The current block.
	n      int      // number of rows
	first  int      // index of the block's first element in a slice
	words  []uint   // indices of the block's presence words in a pool
	live   []uint64 // bits of the live elements of each of these words
	pool   *Pool[T] // nil if the elements lie in a slice
	padded int      // number of rows, including padding
}

// temporary is a [Temporary] without its type parameter.
type temporary interface {
	bytes() int                            // bytes of a value
	written() (lo, hi uintptr)             // range of bytes of an element that is written back
	place(memory unsafe.Pointer, rows int) // gives the column memory
	// gather copies the field of n consecutive elements to n rows, from the given row on. scatter copies the
	// rows back.
	gather(row int, elements unsafe.Pointer, n int)
	scatter(row int, elements unsafe.Pointer, n int)
	// gatherSome and scatterSome copy only those of 64 rows whose bits are set in mask. gatherSome sets the
	// other rows to the safe value (see [Temporary.Safe]).
	gatherSome(row int, elements unsafe.Pointer, mask uint64)
	scatterSome(row int, elements unsafe.Pointer, mask uint64)
	// pad sets rows [from, to) to the safe value.
	pad(from, to int)
}

// NewTranspose makes a transposition of elements of type T. Name the fields with [ColumnOf] and [InputOf].
// NewTranspose panics when the option is negative.
func NewTranspose[T any](o TransposeOptions) *Transpose[T] {
	if o.Scratch < 0 {
		panic(fmt.Sprintf("bulk: NewTranspose: TransposeOptions.Scratch is %d: leave it zero for the default",
			o.Scratch))
	}
	if o.Scratch == 0 {
		o.Scratch = defaultScratch
	}
	return &Transpose[T]{scratch: o.Scratch}
}

// Slice iterates over the elements of s block by block and yields the number of rows of each block. After
// each run of the loop's body, even if it ends by break, Slice writes the columns of [ColumnOf] back.
func (t *Transpose[T]) Slice(s []T) iter.Seq[int] {
	return func(yield func(int) bool) {
		pass := t.start(nil)
		for from := 0; from < len(s); from += t.n {
			t.take(s, from)
			more := yield(t.n)
			t.mustBeCurrent(pass)
			t.putBack(s)
			if !more {
				break
			}
		}
		t.n, t.padded = 0, 0
	}
}

// Pool iterates over the elements of p block by block, in ascending order of slots, and yields the number of
// rows of each block. Each row stands for a slot. Pool leaves out words of 64 slots without an element. Rows
// of other holes hold the columns' safe values (see [Temporary.Safe]). The loop's body may remove elements
// (see [Transpose.HandleAt]), but must not insert any. After each run of the body, even if it ends by break,
// Pool writes the columns of [ColumnOf] back.
func (t *Transpose[T]) Pool(p *Pool[T]) iter.Seq[int] {
	return func(yield func(int) bool) {
		pass := t.start(p)
		for word := t.takeWords(0); t.n > 0; word = t.takeWords(word) {
			more := yield(t.n)
			t.mustBeCurrent(pass)
			t.putBackWords()
			if !more {
				break
			}
		}
		t.n, t.padded = 0, 0
	}
}

// start gives the columns memory, begins an iteration and returns its number.
func (t *Transpose[T]) start(p *Pool[T]) (pass int) {
	if len(t.columns) == 0 {
		panic("bulk: a Transpose without columns: name the fields with ColumnOf and InputOf before passing " +
			"elements")
	}
	if t.rows == 0 {
		t.arrange()
	}
	t.pass++
	t.pool, t.n, t.padded = p, 0, 0
	return t.pass
}

// arrange divides the scratch memory among the columns, so that each column begins at a cache line.
func (t *Transpose[T]) arrange() {
	bytesRow := 0
	for _, c := range t.columns {
		bytesRow += c.bytes()
	}
	t.rows = max(wordBits, t.scratch/bytesRow/wordBits*wordBits)
	// The collector need not scan this memory: layout.Check has refused fields with pointers.
	memory := make([]byte, t.rows*bytesRow+cacheLine)
	at := unsafe.Pointer(&memory[-uintptr(unsafe.Pointer(&memory[0]))%cacheLine])
	for _, c := range t.columns {
		c.place(at, t.rows)
		at = unsafe.Add(at, t.rows*c.bytes())
	}
	t.words, t.live = make([]uint, 0, t.rows/wordBits), make([]uint64, 0, t.rows/wordBits)
}

// mustBeCurrent panics if the body of iteration pass has begun another iteration of t.
func (t *Transpose[T]) mustBeCurrent(pass int) {
	if t.pass != pass {
		panic("bulk: a Transpose is used inside its own iteration: make another Transpose for the inner loop")
	}
}

// Index returns the index of a row's element in the slice, or its slot in the pool. It returns -1 for a hole.
// It panics if the current block does not have the row.
func (t *Transpose[T]) Index(row int) int {
	if uint(row) >= uint(t.n) {
		panic(fmt.Sprintf("bulk: row %d of a block of %d rows", row, t.n))
	}
	if t.pool == nil {
		return t.first + row
	}
	if t.live[row/wordBits]>>(row%wordBits)&1 == 0 {
		return -1
	}
	return int(t.words[row/wordBits])*wordBits + row%wordBits
}

// HandleAt returns the handle of a row's element in the pool. It returns the zero Handle for a hole, and for
// an element of a slice. It returns a stale Handle for an element that the loop's body has removed. It panics
// if the current block does not have the row.
func (t *Transpose[T]) HandleAt(row int) Handle[T] {
	i := t.Index(row)
	if i < 0 || t.pool == nil {
		return Handle[T]{}
	}
	return Handle[T]{uint32(i), t.pool.generations.of(uint(i))}
}

func (t *Transpose[T]) take(s []T, first int) {
	t.first, t.n = first, min(t.rows, len(s)-first)
	t.padded = roundUp(t.n, rowsPadded)
	for _, c := range t.columns {
		c.gather(0, unsafe.Pointer(&s[first]), t.n)
		c.pad(t.n, t.padded)
	}
}

func (t *Transpose[T]) putBack(s []T) {
	for _, c := range t.columns {
		c.scatter(0, unsafe.Pointer(&s[t.first]), t.n)
	}
}

// takeWords gathers the next block: the words with elements, from the given word on, as many as fit. It
// returns the word after the last one.
func (t *Transpose[T]) takeWords(from uint) uint {
	p := t.pool
	t.words, t.live = t.words[:0], t.live[:0]
	for len(t.words) < t.rows/wordBits {
		i := p.next(from * wordBits)
		if i >= p.room {
			break
		}
		from = i / wordBits
		t.words, t.live = append(t.words, from), append(t.live, *p.word(from))
		from++
	}
	t.n = len(t.words) * wordBits
	t.padded = t.n
	for k := 0; k < len(t.words); {
		n := t.fullWords(k)
		for _, c := range t.columns {
			if n > 0 {
				c.gather(k*wordBits, unsafe.Pointer(p.slot(t.words[k]*wordBits)), n*wordBits)
			} else {
				c.gatherSome(k*wordBits, unsafe.Pointer(p.slot(t.words[k]*wordBits)), t.live[k])
			}
		}
		k += max(1, n)
	}
	return from
}

// putBackWords writes the block back to the elements that are still live.
func (t *Transpose[T]) putBackWords() {
	p := t.pool
	p.mustBeOpen()
	for k, word := range t.words {
		t.live[k] &= *p.word(word)
	}
	for k := 0; k < len(t.words); {
		n := t.fullWords(k)
		for _, c := range t.columns {
			if n > 0 {
				c.scatter(k*wordBits, unsafe.Pointer(p.slot(t.words[k]*wordBits)), n*wordBits)
			} else {
				c.scatterSome(k*wordBits, unsafe.Pointer(p.slot(t.words[k]*wordBits)), t.live[k])
			}
		}
		k += max(1, n)
	}
}

// fullWords returns how many consecutive words of the block, from index k on, have no holes and lie side by
// side in the pool.
func (t *Transpose[T]) fullWords(k int) (n int) {
	for k+n < len(t.words) && t.live[k+n] == full && t.words[k+n] == t.words[k]+uint(n) {
		n++
	}
	return n
}
