package bulk

import (
	"fmt"
	"iter"
	"unsafe"
)

// defaultScratch is the memory of a transposition in bytes: small enough that the columns stay in a
// first-level cache together with the elements that they come from.
const defaultScratch = 16 << 10

// TransposeOptions say how a transposition is made. The zero value works.
type TransposeOptions struct {
	// Scratch is the memory for the columns in bytes; it is raised if 64 rows do not fit. Default: 16 KiB.
	Scratch int
}

// Transpose copies some fields of consecutive elements to temporary columns, one block of elements at a time,
// and writes the fields back. The program keeps its array of elements, and a calculation finds the values of
// a field side by side. Transposing pays if the calculation gains more from the columns, for example by
// vector instructions, than the copying costs.
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
// The columns lie on Go's heap, need no Close, and are reused for each block. One goroutine may use a
// Transpose at a time; the Transpose reads and writes the elements as that goroutine would.
//
// The method is from Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery, 2019).
type Transpose[T any] struct {
	columns []temporary
	scratch int // bytes
	rows    int // the largest number of rows of a block, a multiple of 64; 0 before the columns have memory
	pass    int // the number of the current iteration, or of the last one

	// The block under way.
	n      int      // rows
	first  int      // of a slice: the index of the block's first element
	words  []uint   // of a pool: the numbers of the block's presence words
	live   []uint64 // of a pool: one bit for each live element of each word
	pool   *Pool[T] // nil if the elements lie in a slice
	padded int      // rows, including padding
}

// temporary is a column without its type.
type temporary interface {
	bytes() int                            // bytes of a value
	written() (lo, hi uintptr)             // the bytes of an element that are written back
	place(memory unsafe.Pointer, rows int) // gives the column memory
	// gather and scatter copy values between n rows, of which row is the first, and n consecutive elements.
	gather(row int, elements unsafe.Pointer, n int)
	scatter(row int, elements unsafe.Pointer, n int)
	// gatherSome and scatterSome copy only those of 64 rows whose bits are set in mask. gatherSome gives the
	// other rows the safe value.
	gatherSome(row int, elements unsafe.Pointer, mask uint64)
	scatterSome(row int, elements unsafe.Pointer, mask uint64)
	// pad gives rows [from, to) the safe value.
	pad(from, to int)
}

// NewTranspose makes a transposition of elements of type T. Name its fields with [ColumnOf] and [InputOf]. It
// panics when the option is negative.
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

// Slice iterates over the elements of s block by block and yields the number of rows of each block. It writes
// the columns of [ColumnOf] back each time the loop's body ends, also by break.
func (t *Transpose[T]) Slice(s []T) iter.Seq[int] {
	return func(yield func(int) bool) {
		pass := t.start(nil)
		for from := 0; from < len(s); from += t.n {
			t.take(s, from)
			more := yield(t.n)
			t.mustBeUnderWay(pass)
			t.putBack(s)
			if !more {
				break
			}
		}
		t.n, t.padded = 0, 0
	}
}

// Pool iterates over the elements of p block by block, in ascending order of slots, and yields the number of
// rows of each block. A row is a slot. Words of 64 slots without an element are left out, and the rows of
// other holes hold the columns' safe values. Pool writes the columns of [ColumnOf] back each time the loop's
// body ends, also by break. The body may remove elements (see [Transpose.HandleAt]), but must not insert any.
func (t *Transpose[T]) Pool(p *Pool[T]) iter.Seq[int] {
	return func(yield func(int) bool) {
		pass := t.start(p)
		for word := t.takeWords(0); t.n > 0; word = t.takeWords(word) {
			more := yield(t.n)
			t.mustBeUnderWay(pass)
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

// mustBeUnderWay panics if the body of iteration pass has begun another iteration with the same columns.
func (t *Transpose[T]) mustBeUnderWay(pass int) {
	if t.pass != pass {
		panic("bulk: a Transpose is used inside its own iteration: make another Transpose for the inner loop")
	}
}

// Index returns which element a row of the current block stands for: its index in the slice, or its slot in
// the pool, or -1 for a hole.
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

// HandleAt returns the handle of the element that a row of a pool stands for. For a hole it returns the zero
// Handle. For an element that the body has removed it returns a stale Handle.
func (t *Transpose[T]) HandleAt(row int) Handle[T] {
	i := t.Index(row)
	if i < 0 || t.pool == nil {
		return Handle[T]{}
	}
	return Handle[T]{uint32(i), t.pool.generations.of(uint(i))}
}

// take gathers the block whose first element has the given index.
func (t *Transpose[T]) take(s []T, first int) {
	t.first, t.n = first, min(t.rows, len(s)-first)
	t.padded = roundUp(t.n, rowsPadded)
	for _, c := range t.columns {
		c.gather(0, unsafe.Pointer(&s[first]), t.n)
		c.pad(t.n, t.padded)
	}
}

// putBack scatters the block.
func (t *Transpose[T]) putBack(s []T) {
	for _, c := range t.columns {
		c.scatter(0, unsafe.Pointer(&s[t.first]), t.n)
	}
}

// takeWords searches for words that have elements, beginning at the given word, and gathers as many as fit
// into a block. It returns the word after them.
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

// putBackWords scatters the block to the elements that are still in the pool.
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

// fullWords returns how many words of the block, counted from the k-th, have no holes and lie side by side.
func (t *Transpose[T]) fullWords(k int) (n int) {
	for k+n < len(t.words) && t.live[k+n] == full && t.words[k+n] == t.words[k]+uint(n) {
		n++
	}
	return n
}
