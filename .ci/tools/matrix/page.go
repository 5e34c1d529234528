package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// These lines of the page enclose the table. The rest of the page is written by hand.
const (
	begins = "<!-- made by .ci/matrix page -->"
	ends   = "<!-- end -->"
)

// table returns a table with one row per package, a row of sums, and one column per platform. A cell is the
// number of passed tests, with the number of skipped tests in parentheses. The reasons for skipped tests
// follow the table.
func table(all []*results) string {
	var b strings.Builder
	cell := func(c *counts) string {
		switch {
		case c == nil:
			return "–"
		case c.skipped == 0:
			return strconv.Itoa(c.passed)
		}
		return fmt.Sprintf("%d (%d)", c.passed, c.skipped)
	}
	row := func(first string, cells []string) {
		fmt.Fprintf(&b, "| %s | %s |\n", first, strings.Join(cells, " | "))
	}
	var names, rules, sums []string
	packages := map[string]bool{}
	for _, r := range all {
		names = append(names, r.platform)
		rules = append(rules, "--:")
		sum, _ := r.total()
		sums = append(sums, cell(&sum))
		for p := range r.packages {
			packages[p] = true
		}
	}
	row("package", names)
	fmt.Fprintf(&b, "|:--|%s|\n", strings.Join(rules, "|"))
	order := make([]string, 0, len(packages))
	for p := range packages {
		order = append(order, p)
	}
	slices.Sort(order)
	for _, p := range order {
		var cells []string
		for _, r := range all {
			cells = append(cells, cell(r.packages[p]))
		}
		row("`"+p+"`", cells)
	}
	row("all", sums)
	for _, r := range all {
		if len(r.skips) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\nSkipped on %s:\n\n", r.platform)
		for _, reason := range r.reasons() {
			fmt.Fprintf(&b, "* %d: %s\n", r.skips[reason], reason)
		}
	}
	return b.String()
}

// replaceTable returns page with its old table replaced by table.
func replaceTable(page, table string) (string, error) {
	before, rest, ok := strings.Cut(page, begins)
	_, after, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		return "", fmt.Errorf("the page lacks the lines %s and %s, which enclose the table", begins, ends)
	}
	return before + begins + "\n\n" + table + "\n" + ends + after, nil
}

// platformsOf returns the platforms in the header row of the page's table.
func platformsOf(page string) []string {
	_, rest, _ := strings.Cut(page, begins)
	for line := range strings.Lines(rest) {
		if columns, ok := strings.CutPrefix(line, "| package | "); ok {
			return strings.Split(strings.TrimSuffix(strings.TrimSpace(columns), " |"), " | ")
		}
	}
	return nil
}
