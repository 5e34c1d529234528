package vast

import (
	"cmp"
	"slices"
)

// combinedBuffer holds Commands and the model of the recorded commands.
type combinedBuffer struct {
	*Commands
	position int
	pending  []*combinedCommand
	made     []*combinedPlaceholder // the latest placeholders, including stale placeholders
	done     bool                   // whether the batch is applied
}

// combinedPlaceholder models a placeholder of Commands.New.
type combinedPlaceholder struct {
	buffer *combinedBuffer // nil after the placeholder has become stale
	handle Entity
	entity Entity // zero until Apply
}

// combinedRef is an entity or a placeholder in a command.
type combinedRef struct {
	e Entity
	p *combinedPlaceholder // nil for an entity
}

type combinedCommand struct {
	kind     commandKind
	col      int
	position int
	e, other combinedRef
	v        uint64
	made     *combinedPlaceholder // the placeholder of a commandNew
	a        int                  // the number of the archetype of a commandNew
}

// begin begins a new batch if the current batch is applied. The old placeholders become stale.
func (c *combinedBuffer) begin() {
	if !c.done {
		return
	}
	c.done = false
	for _, p := range c.made {
		p.buffer = nil
	}
	c.made = c.made[max(0, len(c.made)-5):]
}

func (r combinedRef) handle() Entity {
	if r.p != nil {
		return r.p.handle
	}
	return r.e
}

// in returns the entity that r refers to in the buffer c. For a stale placeholder or a placeholder of another
// buffer, it returns the zero entity.
func (r combinedRef) in(c *combinedBuffer) Entity {
	switch {
	case r.p == nil:
		return r.e
	case r.p.buffer == c:
		return r.p.entity
	}
	return Entity{}
}

// ref chooses an entity or a placeholder of one of the buffers.
func (m *combinedModel) ref(b *byteStream) combinedRef {
	v := b.next()
	c := m.buffers[v/3%2]
	if n := len(c.made); v%3 == 0 && n > 0 {
		return combinedRef{p: c.made[n-1-v/6%min(n, 8)]}
	}
	return combinedRef{e: m.any(b)}
}

// applyRecord records some commands: commands of any kind for the entities of a query, in a loop over the
// query, or only calls of Commands.New, or commands of any kind for any entities and placeholders.
func (m *combinedModel) applyRecord(b *byteStream) {
	m.operation = "record"
	switch b.next() % 6 {
	case 0:
		q := m.query(b)
		n := b.next() % 20
		for e := range q.All() {
			if n--; n < 0 {
				break
			}
			m.record(b, combinedRef{e: e})
		}
		return
	case 1:
		buffer, a := m.buffers[b.next()%2], b.next()
		for range 1 + b.next()%12 {
			if b.next()%4 == 0 {
				a++
			}
			k := &combinedCommand{kind: commandNew, position: buffer.position, a: a % len(m.archetypes)}
			m.recordWith(buffer, k, m.recordNew(k, buffer))
		}
		return
	}
	for range 1 + b.next()%12 {
		m.record(b, m.ref(b))
	}
}

func (m *combinedModel) record(b *byteStream, e combinedRef) {
	buffer := m.buffers[b.next()%2]
	if p := b.next(); p < 60 {
		buffer.position = p%7 - 3
		buffer.At(buffer.position)
	}
	k := &combinedCommand{e: e, position: buffer.position, col: b.next() % combinedValues,
		v: uint64(b.next()) + 1}
	var f func()
	switch how := b.next() % 16; {
	case how < 3:
		k.kind, k.a = commandNew, b.next()%len(m.archetypes)
		f = m.recordNew(k, buffer)
	case how < 4:
		k.kind = commandDelete
		f = func() { buffer.Delete(e.handle()) }
	case how < 10:
		f = m.recordComponent(k, buffer, how)
	case how < 14:
		k.kind, k.col, k.other = commandSet, combinedLinks+2*(b.next()%len(m.relations)), m.ref(b)
		r := m.relations[(k.col-combinedLinks)/2]
		f = func() { r.SetLater(buffer.Commands, e.handle(), k.other.handle()) }
		if how == 13 {
			k.kind = commandRemove
			f = func() { r.RemoveLater(buffer.Commands, e.handle()) }
		}
	default:
		k.kind, k.col, k.other = commandAdd, combinedRoads, m.ref(b)
		f = func() { m.roads.AddLater(buffer.Commands, e.handle(), k.other.handle(), k.v) }
		if k.v%4 == 0 {
			k.kind = commandRemove
			f = func() { m.roads.RemoveLater(buffer.Commands, e.handle(), k.other.handle()) }
		}
	}
	m.recordWith(buffer, k, f)
}

func (m *combinedModel) recordNew(k *combinedCommand, buffer *combinedBuffer) func() {
	return func() { k.made = &combinedPlaceholder{buffer: buffer, handle: buffer.New(m.archetypes[k.a])} }
}

func (m *combinedModel) recordWith(buffer *combinedBuffer, k *combinedCommand, f func()) {
	buffer.begin()
	if m.try(f) {
		buffer.pending = append(buffer.pending, k)
		if k.made != nil {
			buffer.made = append(buffer.made, k.made)
		}
	}
}

func (m *combinedModel) recordComponent(k *combinedCommand, buffer *combinedBuffer, how int) func() {
	c, e := m.values[k.col], k.e.handle()
	switch {
	case how < 7:
		k.kind = commandAdd
		return func() { c.addLater(buffer.Commands, e, k.v) }
	case how < 9 && !c.tag:
		k.kind = commandSet
		return func() { c.setLater(buffer.Commands, e, k.v) }
	}
	k.kind = commandRemove
	return func() { c.removeLater(buffer.Commands, e) }
}

func (m *combinedModel) applyCommands(b *byteStream) {
	m.operation = "Apply"
	buffers := slices.Clone(m.buffers)
	how := b.next()
	if how%2 == 0 {
		slices.Reverse(buffers)
	}
	if how%5 == 0 {
		buffers = buffers[:1]
	}
	var order []*combinedCommand
	of := map[*combinedCommand]*combinedBuffer{}
	var cs []*Commands
	for _, c := range buffers {
		cs = append(cs, c.Commands)
		order = append(order, c.pending...)
		for _, k := range c.pending {
			of[k] = c
		}
		c.pending, c.position = nil, 0
	}
	slices.SortStableFunc(order, func(a, b *combinedCommand) int {
		return cmp.Compare(a.position, b.position)
	})
	var applied Applied
	var err error
	v := panicOf(func() { applied, err = m.world.Apply(cs...) })
	got := Applied{}
	at := 0
	for ; at < len(order) && (err == nil || got.Done+got.Skipped < applied.Done+applied.Skipped); at++ {
		k := order[at]
		if m.circles(k, of[k]) {
			m.mustBeCircle(v)
			v = nil
			at++ // Apply drops the command
			break
		}
		if m.do(k, of[k]) {
			got.Done++
		} else {
			got.Skipped++
		}
	}
	m.must(v == nil, "panic: %v", v)
	m.applied += got.Done + got.Skipped
	rest := order[at:]
	if err != nil {
		m.must(len(rest) > 0, "Apply returns %v, although it applied all commands", err)
		if !m.failing(err) {
			m.try(func() { panic(err) })
		}
		m.world.checkInvariants()
	}
	if err != nil || len(rest) == 0 && at > 0 {
		m.must(err == nil && applied == Applied{} || applied == got,
			"Apply returns %+v, want %+v", applied, got)
	}
	if len(rest) > 0 {
		m.resumed++
	}
	for _, k := range rest {
		of[k].pending = append(of[k].pending, k)
	}
	for _, c := range buffers {
		c.done = c.done || len(c.pending) == 0
	}
	if err != nil && how%3 == 0 {
		m.forget(how / 3 % 2)
	}
	m.note("applied", got.Done, got.Skipped)
}

func (m *combinedModel) forget(i int) {
	c := m.buffers[i]
	for range 2 {
		m.done("Commands.Close", c.Close)
	}
	for _, p := range c.made {
		p.buffer = nil
	}
	m.buffers[i] = &combinedBuffer{Commands: NewCommands(m.world, CommandsOptions{}), made: c.made}
}

// circles reports whether a command closes a circle. Apply panics at this command.
func (m *combinedModel) circles(k *combinedCommand, c *combinedBuffer) bool {
	if k.kind != commandSet || k.col < combinedLinks {
		return false
	}
	e, t := k.e.in(c), k.other.in(c)
	r := m.relations[(k.col-combinedLinks)/2]
	return m.entities[e] != nil && m.entities[t] != nil && r.target[e] != t && r.closes(e, t)
}

// do runs a command on the model and reports whether Apply counts it as done.
func (m *combinedModel) do(k *combinedCommand, c *combinedBuffer) bool {
	if k.kind == commandNew {
		k.made.entity = c.Resolve(k.made.handle)
		m.must(!k.made.entity.IsZero(), "placeholder %v resolves to no entity", k.made.handle)
		m.born(k.made.entity, k.a)
		return true
	}
	e, other := k.e.in(c), k.other.in(c)
	alive, had := m.entities[e] != nil, k.kind != commandDelete && m.has(e, k.col)
	switch {
	case k.kind == commandDelete:
		if !alive {
			return false
		}
		goes := m.closure([]Entity{e})
		m.die(goes)
		return len(goes) > 0
	case k.col == combinedRoads && k.kind == commandAdd:
		if !alive || m.entities[other] == nil {
			return false
		}
		m.connect(e, other, k.v)
		return true
	case k.col == combinedRoads:
		if had = m.roads.has(e, other); had {
			m.disconnect(e, other)
		}
		return had
	case k.col >= combinedLinks && k.kind == commandSet:
		if !alive || m.entities[other] == nil {
			return false
		}
		m.link((k.col-combinedLinks)/2, e, other)
		return true
	case k.col >= combinedLinks:
		m.relations[(k.col-combinedLinks)/2].unlink(e)
		return had
	case k.kind == commandAdd:
		if alive && (!had || m.values[k.col].writtenByAdd) {
			m.put(e, k.col, k.v)
		}
		return alive
	case k.kind == commandSet:
		if had {
			m.put(e, k.col, k.v)
		}
		return had
	}
	if had {
		delete(m.entities[e].values, k.col)
	}
	return had
}
