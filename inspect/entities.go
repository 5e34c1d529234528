package inspect

import (
	"net/http"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

const (
	pageRows = 500       // limit of the rows of one page
	maxRank  = 1<<31 - 1 // limit of the offset of a page
)

// searchRoutes returns the routes for requests in the query language.
func (in *Inspector) searchRoutes() []route {
	return []route{
		{method: "GET", pattern: "entities", answer: in.listEntities},
		{method: "GET", pattern: "count", answer: in.countEntities},
		{method: "GET", pattern: "rows", raw: in.streamRows, stream: true},
		{method: "GET", pattern: "histogram", answer: in.describeNumbers},
		{method: "GET", pattern: "query/check", answer: in.checkQuery},
		{method: "GET", pattern: "query/complete", answer: in.completeQuery},
	}
}

// pageAnswer is a page of the entities that match a query, in the order of slots.
type pageAnswer struct {
	Query     string      `json:"query"`
	Total     int         `json:"total"`
	Exact     bool        `json:"exact"` // whether Total and Rows are the matches of one moment
	Offset    int         `json:"offset"`
	Rows      []rowAnswer `json:"rows"`
	Truncated bool        `json:"truncated"` // whether the search ended before it had found all matches
}

// rowAnswer is an entity in a list.
type rowAnswer struct {
	ID   string `json:"id"`
	Slot int    `json:"slot"`
	Name string `json:"name"`
	// Disabled reports whether a vast.Disabled switches the entity off.
	Disabled bool              `json:"disabled"`
	Values   map[string]string `json:"values"` // short text of each value, by column
}

func (r *rowReader) answer(one *row) rowAnswer {
	a := rowAnswer{ID: one.entity.String(), Slot: int(one.entity.Slot()), Name: one.name,
		Disabled: one.off, Values: make(map[string]string, len(one.cells))}
	for i := range one.cells {
		if one.cells[i].has {
			a.Values[r.shown[i].Name] = r.shown[i].text(&one.cells[i])
		}
	}
	return a
}

func (in *Inspector) listEntities(r *http.Request) (any, error) {
	offset, err := wholeNumber(r, "offset", 0, 0, maxRank)
	if err != nil {
		return nil, err
	}
	limit, err := wholeNumber(r, "limit", 100, 0, pageRows)
	if err != nil {
		return nil, err
	}
	s, err := in.searchFor(r, wanted{}, answerTime)
	if err != nil {
		return nil, err
	}
	defer s.end()
	p := &pager{search: s, offset: offset, limit: limit}
	if err := p.find(); err != nil {
		return nil, err
	}
	a := pageAnswer{Query: r.URL.Query().Get("query"), Total: p.total, Offset: offset, Truncated: p.cut,
		Rows: []rowAnswer{}}
	for i := range p.rows {
		a.Rows = append(a.Rows, p.reader.answer(&p.rows[i]))
	}
	a.Exact = p.exact && !p.cut && s.whole()
	return a, nil
}

func (in *Inspector) searchFor(r *http.Request, want wanted, most time.Duration) (*search, error) {
	q := r.URL.Query()
	want.columns, want.given = q.Get("columns"), q.Has("columns")
	return in.newSearch(r, q.Get("query"), want, most)
}

// pager finds the entities of a page.
type pager struct {
	*search
	offset, limit int

	known  *ranks        // cached numbers of matches by step; nil if there were none at the start
	counts []int         // number of matches in each step so far
	passed int           // sum of counts; only set if known is not nil
	picked []vast.Entity // entities of the page
	rows   []row         // rows of the picked entities that were read so far
	total  int           // number of matches
	exact  bool          // whether the matches are from one moment
	cut    bool          // whether the search ended before it had found all matches
}

func (p *pager) find() error {
	// The first look (see search) sets p.found.
	counted := false
	err := p.look(func() (done bool) {
		if !p.found.Plain() {
			return true
		}
		counted = counted || p.findPlain()
		return counted && p.read()
	})
	if err != nil {
		return err
	}
	if p.found.Plain() {
		p.exact, p.cut = true, p.over
		return nil
	}
	err = p.findCompared()
	p.cut = p.cut || p.over
	return err
}

// read reads rows of the picked entities until the look is late. It reports whether it has read all rows.
func (p *pager) read() (done bool) {
	for len(p.rows) < len(p.picked) {
		if p.rows = append(p.rows, p.reader.read(p.picked[len(p.rows)])); p.late() {
			break
		}
	}
	return len(p.rows) == len(p.picked)
}

// pick adds entities to the page until the page is full: the entities whose bits in words are set. Bit i
// stands for slot lo + i. pick leaves out the first of these entities; skip is their number.
func (p *pager) pick(lo int, words []uint64, skip int) {
	eachEntity(p.in.world, lo, words, skip, func(e vast.Entity) bool {
		p.picked = append(p.picked, e)
		return len(p.picked) < p.limit
	})
}

// findPlain counts the matches of a query without comparisons, and picks the entities of the page. It reports
// whether it is done.
func (p *pager) findPlain() (done bool) {
	if p.next == 0 {
		p.known = p.in.asked.ranksOf(p.search)
	}
	if p.known != nil {
		return p.jump()
	}
	for {
		lo, words, n, ok := p.step()
		if !ok {
			break
		}
		if p.total+n > p.offset && len(p.picked) < p.limit {
			p.pick(lo, words, max(0, p.offset-p.total))
		}
		p.total += n
		p.counts = append(p.counts, n)
		if p.late() {
			return false
		}
	}
	// Disabling an entity is no structural change, so ranks of a query that names a Disabled would be
	// outdated.
	if !p.moved && len(p.counts) > 0 && !p.plan.NamesDisabled() {
		p.in.asked.keepRanks(&ranks{p.key(), p.before, p.found.Step(), p.counts})
	}
	return true
}

// jump does the work of findPlain with p.known: it searches only the steps with entities of the page.
func (p *pager) jump() (done bool) {
	p.total = p.known.total()
	for i := len(p.counts); i < len(p.known.counts) && len(p.picked) < p.limit; i++ {
		n := p.known.counts[i]
		p.counts = append(p.counts, n)
		if p.passed += n; n > 0 && p.passed > p.offset {
			p.next = i * p.known.step
			lo, words, _, _ := p.step()
			p.pick(lo, words, max(0, p.offset-(p.passed-n)))
			if p.late() {
				return false
			}
		}
	}
	return true
}

// findCompared reads the page of a query with comparisons. It uses cached matches, or finds and caches them.
func (p *pager) findCompared() error {
	for {
		m, fill := p.in.asked.claim(p.key())
		if fill {
			p.fill(m)
		}
		select {
		case <-m.ready:
		case <-p.ctx.Done():
			return p.look(func() bool { return true }) // returns the error of p.ctx
		}
		if m.err != nil {
			if fill {
				return m.err
			}
			continue // the search of another request has failed
		}
		p.total, p.cut = m.total, !m.whole
		p.exact = fill
		slots := m.from(p.offset, p.limit)
		return p.look(func() bool {
			for ; len(slots) > 0; slots = slots[1:] {
				if e, ok := probe.EntityAt(p.in.world, slots[0]); ok {
					p.picked = append(p.picked, e)
				}
			}
			return p.read()
		})
	}
}

// fill finds all matches and stores them in m. It closes m.ready at the end.
func (p *pager) fill(m *matches) {
	defer close(m.ready)
	m.words = make([]uint64, min(p.in.world.Options().MaxEntities, maxSlots)/64)
	m.err = p.look(func() (done bool) {
		for !p.late() {
			p.words = m.words[min(p.next/64, len(m.words)):] // step writes its matches to p.words
			_, _, n, ok := p.step()
			if m.total += n; !ok {
				return true
			}
		}
		return false
	})
	m.at, m.whole = time.Now(), !p.over && p.next >= p.slots
}
