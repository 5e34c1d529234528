package vastsql

import (
	"fmt"
	"slices"
	"strings"
)

// table returns a table with a new alias. The alias begins with the letter by which g.column knows the table.
func (g *generator) table() (from, alias string) {
	g.tables++
	name := g.of("odd o", "traveller v", "position p", `"`+pqTable+`" r`, "odd o", "roads w")
	alias = fmt.Sprint(name[strings.LastIndexByte(name, ' ')+1:], g.tables)
	return g.of("", "", "main.") + name[:strings.LastIndexByte(name, ' ')] + g.of(" ", " AS ") + alias, alias
}

// figures returns a SELECT of aggregates whose columns have the given aliases. If the conditions of the
// SELECT allow this, the package computes the aggregates in place of SQLite: see rewrite. outer holds the
// aliases of tables of surrounding SELECTs. The SELECT may name the columns of these tables.
func (g *generator) figures(outer []string, columns ...string) string {
	from, alias := g.table()
	text := "SELECT " + g.of("", "", "", "ALL ", "DISTINCT ")
	for i, column := range columns {
		if i > 0 {
			text += ", "
		}
		x := g.aggregate(alias)
		switch g.rng.IntN(9) {
		case 0:
			x = "round(" + x + ", 2)"
		case 1:
			x = "coalesce(" + x + ", " + g.constant() + ")"
		case 2:
			x = x + g.of(" = ", " < ", " IS ") + g.constant()
		case 3:
			x = "CASE WHEN " + x + " > " + g.constant() + " THEN " + g.aggregate(alias) + " ELSE " +
				g.constant() + " END"
		case 4:
			x = "CAST(" + x + " AS TEXT)"
		case 5:
			if len(outer) > 0 {
				x += " + " + g.column(g.of(outer...))
			}
		}
		text += x + g.of(" ", " AS ", " /* ä */ AS ") + column
	}
	text += " FROM " + from
	for i := range g.rng.IntN(4) {
		text += map[bool]string{true: " WHERE ", false: " AND "}[i == 0]
		other := g.constant()
		if len(outer) > 0 && g.rng.IntN(2) == 0 {
			other = g.column(g.of(outer...))
		}
		choice := g.rng.IntN(6)
		if len(outer) > 1 && choice == 3 {
			choice = 0
		}
		switch choice {
		case 0:
			text += g.condition([]string{alias})
		case 1:
			text += g.column(alias) + " BETWEEN " + g.constant() + " AND " + other
		case 2:
			text += other + g.of(" < ", " = ") + g.column(alias)
		case 3:
			text += g.column(alias) + " >= (" + g.figures(append(slices.Clip(outer), alias), "x") + ")"
		default:
			text += g.column(alias) + g.of(" < ", " <= ", " > ", " >= ", " = ") + other
		}
	}
	return text
}

// nested returns a statement that contains several SELECTs.
func (g *generator) nested() string {
	from, a := g.table()
	switch g.rng.IntN(9) {
	case 0:
		return "SELECT " + g.column(a) + ", (" + g.figures([]string{a}, "n") + ") FROM " + from
	case 1:
		return "SELECT q.*, " + g.column(a) + " FROM (" + g.figures(nil, "n", "m") + ") AS q" +
			g.of(" JOIN ", " LEFT JOIN ") + from + " ON q.n" + g.of(" < ", " = ") + g.column(a)
	case 2:
		return "SELECT q.*, " + g.column(a) + " FROM " + from + g.of(" JOIN ", " LEFT JOIN ") + "(" +
			g.figures(nil, "n", "m") + ") AS q ON q.m" + g.of(" > ", " = ") + g.column(a) + " WHERE q.n" +
			g.of(" < ", " = ", " IS NOT ") + g.constant()
	case 3:
		return "WITH w AS (" + g.figures(nil, "n") + "), u(n) AS (" + g.figures(nil, "k") +
			") SELECT w.n, u.n, v.n + 1 FROM w, u, w AS v"
	case 4:
		return g.figures(nil, "n", "m") + g.of(" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT ") +
			g.figures(nil, "n", "m") + g.of("", " ORDER BY 2, 1", " ORDER BY n", " ORDER BY m LIMIT 5")
	case 5:
		return "SELECT " + g.column(a) + " FROM " + from + " WHERE " + g.column(a) +
			g.of(" < ", " IN ", " >= ") + "(" + g.figures([]string{a}, "n") + ")"
	case 6:
		return "SELECT count(*), sum(" + g.column(a) + ") FROM " + from + " WHERE " + g.of("", "NOT ") +
			"EXISTS (" + g.figures([]string{a}, "n") + ")"
	case 7:
		return "WITH " + g.of("odd", "position", "ODD") + "(a, x) AS (" + g.figures(nil, "n", "m") +
			") SELECT sum(" + g.of("a", "x") + "), count(*) FROM " +
			g.of("odd", "position", "main.odd", "main.position")
	}
	return "SELECT (" + g.figures(nil, "n") + ") + (" + g.figures(nil, "n") + ") AS \"é\", (" +
		g.figures(nil, "n") + g.of("", " ORDER BY n", " LIMIT 1") + ")"
}

func overflows(err error) bool {
	return err != nil && strings.Contains(err.Error(), "integer overflow")
}
