package vast

// First returns the matching entity with the lowest slot, and whether there is one. Complexity: as the first step of
// running the query.
func (q Query) First() (Entity, bool) {
	var k walk
	k.start(q.q)
	if !k.next() {
		return Entity{}, false
	}
	return k.run().Entity(0), true
}

// Single returns the one entity that matches, and true. Where none does it returns the zero Entity and false; where
// several do, the first of them and false. Complexity: as the first two steps of running the query.
func (q Query) Single() (Entity, bool) {
	var k walk
	k.start(q.q)
	if !k.next() {
		return Entity{}, false
	}
	run := k.run()
	return run.Entity(0), run.n == 1 && !k.next()
}
