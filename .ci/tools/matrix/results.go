package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// results counts the tests on one platform, without subtests.
type results struct {
	platform string
	packages map[string]*counts
	skips    map[string]int // the number of skipped tests for each reason
}

type counts struct{ passed, skipped, failed int }

func (c *counts) add(d counts) {
	c.passed += d.passed
	c.skipped += d.skipped
	c.failed += d.failed
}

// event is a line of go test -json, see "go doc test2json".
type event struct{ Action, Package, Test, Output string }

// reasonLine matches the line in which a test gives the reason for skipping: "    file_test.go:12: no such
// thing here".
var reasonLine = regexp.MustCompile(`^\s*[\w.]+_test\.go:\d+: (.*)\n$`)

const module = "github.com/vastgo/vast"

// readResults reads the output of go test -json for a platform. The file has the name of the platform and the
// extension .json.
func readResults(path string) (*results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := parseResults(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.platform = strings.TrimSuffix(filepath.Base(path), ".json")
	return r, nil
}

func parseResults(in io.Reader) (*results, error) {
	r := &results{packages: map[string]*counts{}, skips: map[string]int{}}
	reasonOf := map[string]string{} // for each test, the last reason that it gave
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return r, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		r.add(e, reasonOf)
	}
}

func (r *results) add(e event, reasonOf map[string]string) {
	if e.Test == "" || strings.Contains(e.Test, "/") {
		return
	}
	name := "." + strings.TrimPrefix(e.Package, module)
	c := r.packages[name]
	if c == nil {
		c = &counts{}
		r.packages[name] = c
	}
	test := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if m := reasonLine.FindStringSubmatch(e.Output); m != nil {
			reasonOf[test] = m[1]
		}
	case "pass":
		c.passed++
	case "fail":
		c.failed++
	case "skip":
		c.skipped++
		r.skips[reasonOf[test]]++
	}
}

func (r *results) total() (sum counts, packages int) {
	for _, c := range r.packages {
		sum.add(*c)
	}
	return sum, len(r.packages)
}

func (r *results) line() string {
	sum, packages := r.total()
	s := fmt.Sprintf("%s: %d tests passed, %d skipped, %d failed in %d packages", r.platform, sum.passed,
		sum.skipped, sum.failed, packages)
	for _, reason := range r.reasons() {
		s += fmt.Sprintf("\n  skipped %d: %s", r.skips[reason], reason)
	}
	return s
}

// reasons returns the reasons for skipped tests, the most frequent first.
func (r *results) reasons() []string {
	all := make([]string, 0, len(r.skips))
	for reason := range r.skips {
		all = append(all, reason)
	}
	slices.SortFunc(all, func(a, b string) int {
		if d := r.skips[b] - r.skips[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return all
}
