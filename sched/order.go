package sched

import (
	"fmt"
	"slices"
	"strings"
)

// stage is a part of a phase between two applications of commands: one exclusive system, or the systems
// between two exclusive systems. Outside the phases, a stage has a single node, such as the condition of a
// set.
type stage struct {
	nodes []*node // in an order that fits all edges
	roots int     // number of nodes that wait for no other node; 0 outside the phases
}

// ordering finds an order of the systems of one phase. It identifies a system by its index in nodes.
type ordering struct {
	nodes []*node    // in the order in which they were added
	next  [][]int    // next[i] lists systems that run after system i
	reach [][]uint64 // bit k of reach[i] is set if next has a path from system i to system k
	edges []Edge     // for the Graph

	explained map[[2]int]int // index in edges of the edge between two systems
}

// plan divides all systems into stages, and describes their order. conditions are the stages that call the
// conditions of sets.
func (s *Schedule) plan() (conditions, stages []stage, graph Graph, err error) {
	graph.Systems = make([]GraphSystem, 0, len(s.nodes))
	for _, n := range s.nodes {
		if err := s.resolve(n); err != nil {
			return nil, nil, Graph{}, err
		}
	}
	for _, g := range s.sets {
		if g.condition != nil {
			conditions = append(conditions, stage{nodes: []*node{g.condition}})
		}
	}
	for _, phase := range s.phases {
		o := ordering{explained: make(map[[2]int]int)}
		for _, n := range s.nodes {
			if n.Phase == phase {
				n.place = len(o.nodes) // until the order is known
				o.nodes = append(o.nodes, n)
			}
		}
		o.next = make([][]int, len(o.nodes))
		o.reach = make([][]uint64, len(o.nodes))
		for i := range o.reach {
			o.reach[i] = make([]uint64, (len(o.nodes)+63)/64)
		}
		if err := o.named(); err != nil {
			return nil, nil, Graph{}, err
		}
		o.conflicts()
		order := o.sorted()
		for place, n := range order {
			n.place, n.rank = place, len(graph.Systems)
			graph.Systems = append(graph.Systems, n.describe())
		}
		graph.Edges = append(graph.Edges, o.edges...)
		stages = append(stages, o.stages(order)...)
	}
	return conditions, stages, graph, nil
}

// required is a system that must run before or after another one.
type required struct {
	*node
	why string
}

// resolve finds the conditions of the sets of n. It also finds the systems that are named in the fields
// Before and After of n and of the sets, and checks the phases of these systems.
func (s *Schedule) resolve(n *node) error {
	n.before, n.after = n.before[:0], n.after[:0]
	if err := s.require(n, nil); err != nil {
		return err
	}
	n.groups = n.groups[:0]
	for _, g := range s.sets {
		if !slices.Contains(n.Sets, g.name) {
			continue
		}
		if g.condition != nil {
			n.groups = append(n.groups, g)
		}
		if err := s.require(n, g); err != nil {
			return err
		}
	}
	phase := slices.Index(s.phases, n.Phase)
	for _, other := range n.before {
		if phase > slices.Index(s.phases, other.Phase) {
			return wrongPhase(n, other, "after")
		}
	}
	for _, other := range n.after {
		if phase < slices.Index(s.phases, other.Phase) {
			return wrongPhase(n, other, "before")
		}
	}
	return nil
}

// require finds the systems that n must run before or after. If g is nil, n names these systems. Otherwise
// the set g names them.
func (s *Schedule) require(n *node, g *group) error {
	who, quoted, before, after := n.Name, fmt.Sprintf("system %q", n.Name), n.Before, n.After
	if g != nil {
		who, quoted = fmt.Sprintf("set %s", g.name), fmt.Sprintf("set %q", g.name)
		before, after = g.options.Before, g.options.After
	}
	for i, name := range slices.Concat(before, after) {
		others, list := &n.before, "Before"
		if i >= len(before) {
			others, list = &n.after, "After"
		}
		if !s.known[name] {
			return &OrderError{[]string{n.Name, name}, fmt.Sprintf("%s names %q in %s, and there is no such "+
				"system or set: add it, or correct the name", quoted, name, list)}
		}
		count := len(*others)
		for _, other := range s.nodes {
			if other != n && other.goesBy(name) {
				*others = append(*others, required{other, fmt.Sprintf("%s is %s %s", who, list, name)})
			}
		}
		if len(*others) == count && g == nil && s.byName[name] == n {
			*others = append(*others, required{n, fmt.Sprintf("%s is %s itself", who, list)}) // a cycle
		}
	}
	return nil
}

func wrongPhase(n *node, other required, order string) error {
	return &OrderError{[]string{n.Name, other.Name}, fmt.Sprintf("%s, but phase %q of %q comes %s phase %q "+
		"of %q: change one of the phases, or remove the name", other.why, n.Phase, n.Name, order,
		other.Phase, other.Name)}
}

// named adds the edges that Before and After require.
func (o *ordering) named() error {
	for i, n := range o.nodes {
		for _, other := range n.before {
			if other.Phase == n.Phase {
				if err := o.name(i, other.place, other.why); err != nil {
					return err
				}
			}
		}
		for _, other := range n.after {
			if other.Phase == n.Phase {
				if err := o.name(other.place, i, other.why); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o *ordering) name(from, to int, why string) error {
	if from == to || o.reaches(to, from) {
		names := []string{o.nodes[from].Name}
		for _, k := range o.path(to, from) {
			names = append(names, o.nodes[k].Name)
		}
		return &OrderError{names, "the order of systems is a cycle: " + strings.Join(names, " → ") +
			": remove one Before or After"}
	}
	o.explain(from, to, why)
	o.link(from, to)
	return nil
}

// conflicts adds an edge for each pair of conflicting systems that have no order yet: the system that was
// added first runs first. It also adds conflicts to the reasons of existing edges.
func (o *ordering) conflicts() {
	for later := range o.nodes {
		// The nearest system is first: its edges often make edges of farther systems unnecessary.
		for earlier := later - 1; earlier >= 0; earlier-- {
			from, to := earlier, later
			if o.reaches(later, earlier) {
				from, to = later, earlier
			}
			fresh := !o.reaches(from, to)
			if _, explained := o.explained[[2]int{from, to}]; !fresh && !explained {
				continue
			}
			why := o.nodes[earlier].conflicts(o.nodes[later])
			if len(why) == 0 {
				continue
			}
			o.link(from, to)
			o.explain(from, to, why...)
		}
	}
}

// conflicts returns the reasons why two systems cannot run in parallel.
func (n *node) conflicts(m *node) (why []string) {
	if n.Exclusive || m.Exclusive {
		return []string{"exclusive"}
	}
	for _, c := range n.writes {
		if declared, writes := m.uses(c.ID); writes {
			why = append(why, "both write "+c.Name)
		} else if declared {
			why = append(why, fmt.Sprintf("%s writes %s, %s reads it", n.Name, c.Name, m.Name))
		}
	}
	why = append(why, n.toggles(m)...)
	why = append(why, m.toggles(n)...)
	for _, c := range n.reads {
		if _, writes := m.uses(c.ID); writes {
			if _, both := n.uses(c.ID); !both {
				why = append(why, fmt.Sprintf("%s reads %s, %s writes it", n.Name, c.Name, m.Name))
			}
		}
	}
	for _, r := range n.WritesResources {
		if r.queue == nil && slices.Contains(m.WritesResources, r) {
			why = append(why, "both write "+r.String())
		} else if slices.Contains(m.ReadsResources, r) {
			why = append(why, fmt.Sprintf("%s writes %s, %s reads it", n.Name, r, m.Name))
		}
	}
	for _, r := range n.ReadsResources {
		both := slices.Contains(n.WritesResources, r) &&
			(r.queue == nil || slices.Contains(m.ReadsResources, r))
		if slices.Contains(m.WritesResources, r) && !both { // otherwise the loop above has noted it
			why = append(why, fmt.Sprintf("%s reads %s, %s writes it", n.Name, r, m.Name))
		}
	}
	return why
}

// toggles returns the reasons why system m cannot run beside n if n writes the tag of a vast.Disabled that m
// does not declare. Queries of m obey the tag even if the queries do not name it.
func (n *node) toggles(m *node) (why []string) {
	for _, c := range n.writes {
		if declared, _ := m.uses(c.ID); c.Disabled && !declared {
			why = append(why, fmt.Sprintf("%s writes %s, which queries of %s may obey", n.Name, c.Name,
				m.Name))
		}
	}
	return why
}

func (o *ordering) reaches(from, to int) bool { return o.reach[from][to/64]>>(to%64)&1 != 0 }

// link adds an edge to next, and all new paths to reach. It does nothing if there is a path already.
func (o *ordering) link(from, to int) {
	if o.reaches(from, to) {
		return
	}
	o.next[from] = append(o.next[from], to)
	for i := range o.nodes {
		if i != from && !o.reaches(i, from) {
			continue
		}
		o.reach[i][to/64] |= 1 << (to % 64)
		for k, word := range o.reach[to] {
			o.reach[i][k] |= word
		}
	}
}

// path returns the systems on a path, including its two ends. There must be a path.
func (o *ordering) path(from, to int) []int {
	path := []int{from}
	for from != to {
		for _, k := range o.next[from] {
			if k == to || o.reaches(k, to) {
				from = k
				break
			}
		}
		path = append(path, from)
	}
	return path
}

// explain adds reasons to an edge of the Graph. The first call for an edge adds the edge.
func (o *ordering) explain(from, to int, why ...string) {
	i, explained := o.explained[[2]int{from, to}]
	if !explained {
		i = len(o.edges)
		o.explained[[2]int{from, to}] = i
		o.edges = append(o.edges, Edge{From: o.nodes[from].Name, To: o.nodes[to].Name})
	}
	o.edges[i].Why = append(o.edges[i].Why, why...)
}

// sorted returns the systems in an order that fits all edges. If several systems could come next, it chooses
// the system that was added first.
func (o *ordering) sorted() []*node {
	inDegree := make([]int, len(o.nodes))
	for _, next := range o.next {
		for _, k := range next {
			inDegree[k]++
		}
	}
	order := make([]*node, 0, len(o.nodes))
	for len(order) < len(o.nodes) {
		k := slices.Index(inDegree, 0)
		inDegree[k] = -1
		order = append(order, o.nodes[k])
		for _, next := range o.next[k] {
			inDegree[next]--
		}
	}
	return order
}

// stages cuts an order into stages at the exclusive systems. It sets next and waitsFor of the nodes, and
// roots of the stages. Edges between two stages do not count.
func (o *ordering) stages(order []*node) (stages []stage) {
	for _, n := range order {
		if len(stages) == 0 || n.Exclusive || stages[len(stages)-1].nodes[0].Exclusive {
			stages = append(stages, stage{})
		}
		last := &stages[len(stages)-1]
		last.nodes = append(last.nodes, n)
	}
	for i, n := range o.nodes {
		n.next, n.waitsFor = nil, 0
		for k, other := range o.nodes {
			if slices.Contains(o.next[i], k) && sameStage(stages, n, other) {
				n.next = append(n.next, other)
			}
		}
	}
	for _, n := range o.nodes {
		for _, other := range n.next {
			other.waitsFor++
		}
	}
	for i := range stages {
		for _, n := range stages[i].nodes {
			if n.waitsFor == 0 {
				stages[i].roots++
			}
		}
	}
	return stages
}

func sameStage(stages []stage, a, b *node) bool {
	for _, st := range stages {
		if slices.Contains(st.nodes, a) {
			return slices.Contains(st.nodes, b)
		}
	}
	return false
}
