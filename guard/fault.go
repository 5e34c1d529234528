package guard

import (
	"fmt"
	"strings"
)

// Kind says what is wrong with an access or a call.
type Kind uint8

const (
	// Nothing: the address lies in a live block, and nothing is wrong: see [Describe].
	Nothing Kind = iota
	// AfterFree: memory of a freed block was accessed.
	AfterFree
	// PastEnd: memory behind a block was accessed.
	PastEnd
	// BeforeStart: memory before a block was accessed.
	BeforeStart
	// Overwritten: bytes before or behind the block, in its pages, were overwritten. The time of the write is
	// not known.
	Overwritten
	// Wild: the address belongs to an allocator, but is near no known block.
	Wild
	// DoubleFree: a freed block was freed again.
	DoubleFree
	// InteriorFree: an address inside a block was freed.
	InteriorFree
	// ForeignFree: an address was freed that is not the address of a block of this allocator.
	ForeignFree
)

var kindNames = [...]string{"nothing wrong", "use after free", "access past the end",
	"access before the start", "overwritten",
	"wild access", "double free", "free of an interior address", "free of a foreign address"}

// String returns the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Fault is a report about a bad access or call: the kind, the block, and where the block was allocated and
// freed. [vm.Do] and [vm.Watch] panic with a *Fault after a bad access. A wrong free also panics with a
// *Fault.
type Fault struct {
	Kind      Kind
	Allocator string  // the allocator's Options.Name
	Address   uintptr // the accessed, overwritten or freed address
	Type      string  // the block's content, such as "ship" or "[5]ship"; "" for plain bytes or no block
	Size      int     // size of the block in bytes
	Offset    int     // bytes from the block's start to Address
	Distance  int     // bytes from the block to Address: 0 inside the block, 1 next to it

	At          Stack // stack of the access, the wrong call, or the call that found the damage; or nil
	AllocatedAt Stack // nil if there is no block
	FreedAt     Stack // nil if the block is live, or if there is no block
}

// Error returns a text of several lines.
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString("guard: " + f.Kind.String() + ": ")
	remedy, at := "", "at"
	switch f.Kind {
	case Nothing:
		fmt.Fprintf(&b, "byte %d of %s is in order", f.Offset, f.subject())
	case AfterFree:
		fmt.Fprintf(&b, "byte %d of %s, which was freed", f.Offset, f.subject())
		remedy = "keep a handle instead of the pointer, or drop the pointer where the block is freed"
	case PastEnd:
		fmt.Fprintf(&b, "%s past the end of %s", count(f.Distance), f.subject())
		remedy = "compare the index with the length before the access"
	case BeforeStart:
		fmt.Fprintf(&b, "%s before the start of %s", count(f.Distance), f.subject())
		remedy = "compare the index with zero before the access"
	case Overwritten:
		side := "before the start"
		if f.Offset >= f.Size {
			side = "past the end"
		}
		fmt.Fprintf(&b, "%s %s of %s", count(f.Distance), side, f.subject())
		remedy = "find the write: call Check often to narrow down the time, or change Options.AtStart so " +
			"that the write faults"
		at = "found at"
	case Wild:
		fmt.Fprintf(&b, "%#x is near no block of %s", f.Address, f.Allocator)
		remedy = "look for pointer arithmetic, or raise Options.Addresses: a freed block may be out of " +
			"quarantine"
	case DoubleFree:
		fmt.Fprintf(&b, "%s", f.subject())
		remedy = "free a block only once, where its pointer is dropped"
	case InteriorFree:
		fmt.Fprintf(&b, "byte %d of %s", f.Offset, f.subject())
		remedy = "free the address that the allocator returned"
	case ForeignFree:
		fmt.Fprintf(&b, "%#x is no block of %s", f.Address, f.Allocator)
		remedy = "free a block with the allocator that allocated it"
	}
	if remedy != "" {
		b.WriteString("\n\t" + remedy)
	}
	for _, s := range []struct {
		what  string
		stack Stack
	}{{at, f.At}, {"allocated at", f.AllocatedAt}, {"freed at", f.FreedAt}} {
		if len(s.stack) > 0 {
			b.WriteString("\n" + s.what + "\n\t" + strings.ReplaceAll(s.stack.String(), "\n", "\n\t"))
		}
	}
	return b.String()
}

func (f *Fault) subject() string {
	what := f.Type
	if what == "" {
		what = "a block"
	}
	return fmt.Sprintf("%s (%s) of %s", what, count(f.Size), f.Allocator)
}

func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// report makes a report about a byte in or near a block, at an offset from the block's start.
func (a *Allocator) report(k Kind, b *block, offset int) *Fault {
	f := &Fault{Kind: k, Allocator: a.o.Name, Address: uintptr(a.base) + uintptr(b.start+offset),
		Type: b.what.String(),
		Size: b.size, Offset: offset, AllocatedAt: b.allocated.stack(), FreedAt: b.freed.stack()}
	switch {
	case offset < 0:
		f.Distance = -offset
	case offset >= b.size:
		f.Distance = offset - b.size + 1
	}
	return f
}

// String returns the block's type in Go syntax.
func (k kind) String() string {
	if k.count < 0 || k.name == "" {
		return k.name
	}
	return fmt.Sprintf("[%d]%s", k.count, k.name)
}
