// Command matrix summarizes the test results that .ci/platform leaves for each platform.
//
//	matrix line FILE           prints the counts of tests on one platform, and the reasons for skipped tests
//	matrix page PAGE FILE…     writes the table of all platforms into the page
//	matrix check PAGE FILE…    fails if a platform of the table did not run, passed no test or failed a test
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: matrix line FILE | page PAGE FILE… | check PAGE FILE…")
	}
	files := args[1:]
	if args[0] != "line" {
		files = args[2:]
	}
	var all []*results
	for _, file := range files {
		r, err := readResults(file)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	switch args[0] {
	case "line":
		for _, r := range all {
			fmt.Println(r.line())
		}
		return nil
	case "page":
		return write(args[1], all)
	case "check":
		return check(args[1], all)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func write(path string, all []*results) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	replaced, err := replaceTable(string(page), table(all))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(replaced), 0o644)
}

func check(path string, all []*results) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	platforms := platformsOf(string(page))
	if len(platforms) == 0 {
		return fmt.Errorf("%s has no table", path)
	}
	var wrong []error
	for _, name := range platforms {
		i := slices.IndexFunc(all, func(r *results) bool { return r.platform == name })
		if i < 0 {
			wrong = append(wrong, fmt.Errorf("%s names the platform %s, which did not run", path, name))
			continue
		}
		fmt.Println(all[i].line())
		if sum, _ := all[i].total(); sum.failed > 0 || sum.passed == 0 {
			wrong = append(wrong, fmt.Errorf("%s: %d tests passed, %d failed", name, sum.passed, sum.failed))
		}
	}
	return errors.Join(wrong...)
}
