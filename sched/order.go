package sched

import (
	"fmt"
	"slices"
	"strings"
)

// stage is a part of a phase between two applications of commands: one exclusive system, or the systems
// between two exclusive systems.
type stage struct {
	nodes []*node // in an order that fits all edges
	roots int     // number of nodes that wait for no other node
}

// ordering finds an order of the systems of one phase. It identifies a system by its index in nodes.
type ordering struct {
	nodes []*node    // in the order in which they were added
	next  [][]int    // next[i] lists systems that run after system i
	reach [][]uint64 // bit k of reach[i] is set if next has a path from system i to system k
	edges []Edge     // for the Graph

	explained map[[2]int]int // index in edges of the edge between two systems
}

// plan divides all systems into stages, and describes their order.
func (s *Schedule) plan() ([]stage, Graph, error) {
	var stages []stage
	graph := Graph{Systems: make([]GraphSystem, 0, len(s.nodes))}
	for _, n := range s.nodes {
		if err := s.resolve(n); err != nil {
			return nil, Graph{}, err
		}
	}
	for _, phase := range s.phases {
		o := ordering{explained: make(map[[2]int]int)}
		for _, n := range s.nodes {
			if n.Phase == phase {
				o.nodes = append(o.nodes, n)
			}
		}
		o.next = make([][]int, len(o.nodes))
		o.reach = make([][]uint64, len(o.nodes))
		for i := range o.reach {
			o.reach[i] = make([]uint64, (len(o.nodes)+63)/64)
		}
		if err := o.named(); err != nil {
			return nil, Graph{}, err
		}
		o.conflicts()
		order := o.sorted()
		for place, n := range order {
			n.place = place
			graph.Systems = append(graph.Systems, n.describe())
		}
		graph.Edges = append(graph.Edges, o.edges...)
		stages = append(stages, o.stages(order)...)
	}
	return stages, graph, nil
}

// resolve finds the systems that Before and After of n name, and checks their phases.
func (s *Schedule) resolve(n *node) error {
	n.before, n.after = n.before[:0], n.after[:0]
	for _, name := range n.Before {
		others := s.named(name, n)
		if others == nil {
			return unknownName(n, name, "Before")
		}
		n.before = append(n.before, others...)
	}
	for _, name := range n.After {
		others := s.named(name, n)
		if others == nil {
			return unknownName(n, name, "After")
		}
		n.after = append(n.after, others...)
	}
	phase := slices.Index(s.phases, n.Phase)
	for _, other := range n.before {
		if phase > slices.Index(s.phases, other.Phase) {
			return wrongPhase(n, other, "Before", "after")
		}
	}
	for _, other := range n.after {
		if phase < slices.Index(s.phases, other.Phase) {
			return wrongPhase(n, other, "After", "before")
		}
	}
	return nil
}

// named returns the systems that a name in Before or After of system n stands for.
func (s *Schedule) named(name string, n *node) (others []*node) {
	for _, other := range s.nodes {
		if other != n && (other.Name == name || other.given == name) {
			others = append(others, other)
		}
	}
	if others == nil && s.byName[name] == n {
		return []*node{n} // a cycle of one system
	}
	return others
}

func unknownName(n *node, name, list string) error {
	return &OrderError{[]string{n.Name, name}, fmt.Sprintf("system %q names %q in %s, and there is no "+
		"such system: add the system, or correct the name", n.Name, name, list)}
}

func wrongPhase(n, other *node, list, order string) error {
	return &OrderError{[]string{n.Name, other.Name}, fmt.Sprintf("system %q names %q in %s, but phase %q of "+
		"%[1]q comes %[5]s phase %[6]q of %[2]q", n.Name, other.Name, list, n.Phase, order, other.Phase)}
}

// named adds the edges that Before and After require.
func (o *ordering) named() error {
	for i, n := range o.nodes {
		for _, other := range n.before {
			if k := slices.Index(o.nodes, other); k >= 0 {
				if err := o.name(i, k, fmt.Sprintf("%s is Before %s", n.Name, other.Name)); err != nil {
					return err
				}
			}
		}
		for _, other := range n.after {
			if k := slices.Index(o.nodes, other); k >= 0 {
				if err := o.name(k, i, fmt.Sprintf("%s is After %s", n.Name, other.Name)); err != nil {
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
	for _, c := range n.reads {
		if _, writes := m.uses(c.ID); writes {
			if _, both := n.uses(c.ID); !both {
				why = append(why, fmt.Sprintf("%s reads %s, %s writes it", n.Name, c.Name, m.Name))
			}
		}
	}
	for _, r := range n.WritesResources {
		if slices.Contains(m.WritesResources, r) {
			why = append(why, "both write "+r.String())
		} else if slices.Contains(m.ReadsResources, r) {
			why = append(why, fmt.Sprintf("%s writes %s, %s reads it", n.Name, r, m.Name))
		}
	}
	for _, r := range n.ReadsResources {
		if slices.Contains(m.WritesResources, r) && !slices.Contains(n.WritesResources, r) {
			why = append(why, fmt.Sprintf("%s reads %s, %s writes it", n.Name, r, m.Name))
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
