package bitset

import "sync/atomic"

// Part is the slots of Set that are in no set of Off.
type Part struct {
	Set *Set
	Off []*Set
}

// parts are the conditions of a filter on parts of sets. The methods of Part read with atomic operations,
// because goroutines may toggle slots of the sets at the same time.
type parts struct {
	excluded []Part   // the filter chooses no slot of these parts
	groups   [][]Part // the filter chooses only slots of at least one part of each group
}

// WithParts returns a filter with further conditions: its slots are in no excluded part, and in at least one
// part of each group. The filter keeps the slices.
func (f Filter) WithParts(excluded []Part, groups [][]Part) Filter {
	f.grouped, f.parts = true, &parts{excluded, groups}
	return f
}

// further returns the slots of word i that meet the conditions of f.groups and of f.parts. It is not inlined,
// so that the loops over filters without these conditions stay short.
//
//go:noinline
func (f *Filter) further(i uint) uint64 {
	m := f.matchAny(i)
	if f.parts != nil {
		m &= f.parts.match(i)
	}
	return m
}

// match returns the slots of word i that meet the conditions.
func (p *parts) match(i uint) uint64 {
	m := ones
	for j := range p.excluded {
		m &^= p.excluded[j].word(i)
	}
	for _, group := range p.groups {
		var in uint64
		for j := range group {
			in |= group[j].word(i)
		}
		m &= in
	}
	return m
}

// candidates returns a mask of words of block b. It has all words with slots that meet the conditions.
func (p *parts) candidates(b uint) uint64 { return p.wordsOf(b, (*Part).full, (*Part).any) }

// whole returns a mask of words of block b whose slots all meet the conditions. It may lack such words.
func (p *parts) whole(b uint) uint64 { return p.wordsOf(b, (*Part).any, (*Part).full) }

// wordsOf returns the words of block b that f returns for no excluded part, and that g returns for at least
// one part of each group.
func (p *parts) wordsOf(b uint, f, g func(*Part, uint) uint64) uint64 {
	m := ones
	for j := range p.excluded {
		m &^= f(&p.excluded[j], b)
	}
	for _, group := range p.groups {
		var in uint64
		for j := range group {
			in |= g(&group[j], b)
		}
		m &= in
	}
	return m
}

// word returns the slots of word i that are in the part.
func (p *Part) word(i uint) uint64 {
	if i >= p.Set.usable {
		return 0
	}
	m := p.Set.Load64(i)
	for _, s := range p.Off {
		if i < s.usable {
			m &^= s.Load64(i)
		}
	}
	return m
}

// any returns a mask of words of block b. It has all words that are not empty in the part.
func (p *Part) any(b uint) uint64 {
	if b*64 >= p.Set.usable {
		return 0
	}
	m := atomic.LoadUint64(&p.Set.block(b).any)
	for _, s := range p.Off {
		if b*64 < s.usable {
			m &^= atomic.LoadUint64(&s.block(b).full)
		}
	}
	return m
}

// full returns a mask of words of block b that are full in the part. It may lack some of these words.
func (p *Part) full(b uint) uint64 {
	if b*64 >= p.Set.usable {
		return 0
	}
	m := atomic.LoadUint64(&p.Set.block(b).full)
	for _, s := range p.Off {
		if b*64 < s.usable {
			m &^= atomic.LoadUint64(&s.block(b).any)
		}
	}
	return m
}
