package sched

import (
	"fmt"
	"strings"
)

// Graph describes the order of a schedule. It marshals to JSON, and [Graph.DOT] draws it.
type Graph struct {
	// Systems are in the order in which one worker runs them.
	Systems []GraphSystem `json:"systems"`
	// Edges order systems within a phase. Each Before and After between systems of one phase has an edge.
	// If other edges already order two systems that conflict, there is mostly no edge for the conflict.
	Edges []Edge `json:"edges"`
}

// GraphSystem is a system in a [Graph].
type GraphSystem struct {
	Name            string   `json:"name"`
	Phase           Phase    `json:"phase"`
	Exclusive       bool     `json:"exclusive,omitempty"`
	Sets            []Set    `json:"sets,omitempty"`
	Every           int      `json:"every,omitempty"`
	Rate            int      `json:"rate,omitempty"`
	Offset          int      `json:"offset,omitempty"`
	Reads           []string `json:"reads,omitempty"`
	Writes          []string `json:"writes,omitempty"`
	ReadsResources  []string `json:"readsResources,omitempty"`
	WritesResources []string `json:"writesResources,omitempty"`
}

// Edge says that the system To starts after the system From is done, and why.
type Edge struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Why  []string `json:"why"`
}

func (n *node) describe() GraphSystem {
	g := GraphSystem{Name: n.Name, Phase: n.Phase, Exclusive: n.Exclusive, Sets: n.Sets, Every: n.Every,
		Rate: n.Rate, Offset: n.Offset}
	for _, c := range n.reads {
		g.Reads = append(g.Reads, c.Name)
	}
	for _, c := range n.writes {
		g.Writes = append(g.Writes, c.Name)
	}
	for _, r := range n.ReadsResources {
		g.ReadsResources = append(g.ReadsResources, r.String())
	}
	for _, r := range n.WritesResources {
		g.WritesResources = append(g.WritesResources, r.String())
	}
	return g
}

// DOT returns the graph in the language of Graphviz, with a box around each phase.
func (g Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph schedule {\n\trankdir=LR;\n\tnode [shape=box];\n")
	for i := 0; i < len(g.Systems); {
		phase := g.Systems[i].Phase
		fmt.Fprintf(&b, "\tsubgraph %s {\n\t\tlabel=%s;\n",
			dotQuote("cluster "+string(phase)), dotQuote(string(phase)))
		for ; i < len(g.Systems) && g.Systems[i].Phase == phase; i++ {
			s := &g.Systems[i]
			label := s.Name
			for _, part := range []struct {
				what  string
				names []string
			}{{"reads", append(s.Reads[:len(s.Reads):len(s.Reads)], s.ReadsResources...)},
				{"writes", append(s.Writes[:len(s.Writes):len(s.Writes)], s.WritesResources...)}} {
				if len(part.names) > 0 {
					label += "\n" + part.what + " " + strings.Join(part.names, ", ")
				}
			}
			if s.Exclusive {
				label += "\nexclusive"
			}
			if len(s.Sets) > 0 {
				label += "\nin " + strings.Join(s.Sets, ", ")
			}
			if s.Every > 1 {
				label += fmt.Sprintf("\none in %d ticks", s.Every)
			}
			if s.Rate > 0 {
				label += fmt.Sprintf("\n%d times a second", s.Rate)
			}
			fmt.Fprintf(&b, "\t\t%s [label=%s];\n", dotQuote(s.Name), dotQuote(label))
		}
		b.WriteString("\t}\n")
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "\t%s -> %s [label=%s];\n",
			dotQuote(e.From), dotQuote(e.To), dotQuote(strings.Join(e.Why, "\n")))
	}
	b.WriteString("}\n")
	return b.String()
}

// dotQuote returns s as a quoted string of the DOT language.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", `\n`).Replace(s) + `"`
}
