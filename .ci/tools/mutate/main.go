// Command mutate makes mutants of a package, each with one small change to the code, and checks for each
// mutant whether a test fails.
//
//	mutate [-sample N] [-seed S] [-run REGEXP] [-skip REGEXP] [-tags TAGS]... [-files GLOB]
//		[-timeout D] [-workers N] [-json FILE] [-known FILE] PACKAGE
//
// Each flag -tags adds a build. Mutants that survive the tests of a build are tried with the next build. A
// mutant is killed when the tests fail or time out. Mutants that do not compile do not count. The code that a
// survivor changes is unnecessary, untested, or only an optimization. The file .ci/mutants.tsv lists the
// known survivors, each with the reason why no test can kill it: see [readKnown]. Mutate prints the other
// survivors.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type options struct {
	sample  int
	seed    uint64
	run     string
	skip    string
	tags    []string // the build tags, one element per build
	files   string
	timeout time.Duration
	workers int
	json    string
	known   string
}

func main() {
	var o options
	flag.IntVar(&o.sample, "sample", 0, "try this `number` of mutants, chosen at random; 0 tries all")
	flag.Uint64Var(&o.seed, "seed", 1, "`seed` of the random choice")
	flag.StringVar(&o.run, "run", ".", "tests to run, as for go test")
	flag.StringVar(&o.skip, "skip", "", "tests to skip, as for go test, such as slow tests of other code")
	flag.Func("tags", "build `tags`; repeat the flag for more builds; a build with invariants kills more",
		func(tags string) error { o.tags = append(o.tags, tags); return nil })
	flag.StringVar(&o.files, "files", "*.go", "comma-separated `patterns` of the package's files to change")
	flag.DurationVar(&o.timeout, "timeout", 0,
		"`time` after which the tests count as failed; 0 means four times as long as without a mutant, "+
			"plus 5s")
	flag.IntVar(&o.workers, "workers", 2, "mutants tried at the same time")
	flag.StringVar(&o.json, "json", "", "write all results into this `file`")
	flag.StringVar(&o.known, "known", ".ci/mutants.tsv",
		"`file` of mutants that no test can kill, with reasons; empty for no file")
	flag.Parse()
	if len(o.tags) == 0 {
		o.tags = []string{""}
	}
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := mutate(flag.Arg(0), o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

type result string

const (
	killed   result = "killed"
	survived result = "survived"
	timedOut result = "timeout"
	invalid  result = "invalid" // the mutant does not compile
)

type outcome struct {
	mutant
	Result result `json:"result"`
	Reason string `json:"why,omitempty"` // set for a known survivor
}

func mutate(pkg string, o options) error {
	mutants, dir, err := find(pkg, o.files)
	if err != nil {
		return err
	}
	reasons, err := readKnown(o.known)
	if err != nil {
		return err
	}
	found := len(mutants)
	random := rand.New(rand.NewPCG(o.seed, 0))
	random.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	tmp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	t := &trial{options: o, pkg: pkg, dir: dir, tmp: tmp, reasons: reasons}
	unchanged, took, err := t.try(-1, mutant{})
	if err != nil {
		return err
	}
	if unchanged != survived {
		return fmt.Errorf("the tests of %s do not pass without a mutant: the result is %q", pkg, unchanged)
	}
	if t.timeout == 0 {
		t.timeout = 4*took + 5*time.Second
	}
	outcomes, err := t.all(mutants)
	if err != nil {
		return err
	}
	report(found, outcomes)
	if o.json == "" {
		return nil
	}
	b, err := json.MarshalIndent(outcomes, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, b, 0o644)
}

// find returns the mutants of a package's files, and the package's folder.
func find(pkg, patterns string) (all []mutant, dir string, err error) {
	out, err := exec.Command("go", "list", "-f", `{{.Dir}}{{range .GoFiles}} {{.}}{{end}}`, pkg).Output()
	if err != nil {
		return nil, "", fmt.Errorf("go list %s: %w", pkg, err)
	}
	names := strings.Fields(string(out))
	for _, name := range names[1:] {
		if !slices.ContainsFunc(strings.Split(patterns, ","), func(p string) bool {
			ok, _ := filepath.Match(p, name)
			return ok
		}) {
			continue
		}
		path := filepath.Join(names[0], name)
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		found, err := mutantsOf(path, source)
		if err != nil {
			return nil, "", err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, "", fmt.Errorf("no mutants in the files %s of %s", patterns, pkg)
	}
	return all, names[0], nil
}

// trial tries mutants of one package.
type trial struct {
	options
	pkg, dir, tmp string
	reasons       known
}

// all tries mutants, and ends after the requested number of mutants that compile.
func (t *trial) all(mutants []mutant) ([]outcome, error) {
	want := t.sample
	if want == 0 {
		want = len(mutants)
	}
	var (
		mu       sync.Mutex
		outcomes []outcome
		valid    int
		next     int
		failure  error
		workers  sync.WaitGroup
	)
	for range t.workers {
		workers.Go(func() {
			for {
				mu.Lock()
				i := next
				if failure != nil || valid >= want || i == len(mutants) {
					mu.Unlock()
					return
				}
				next++
				valid++ // taken back below if the mutant is invalid
				mu.Unlock()
				m := mutants[i]
				reason := t.reasons.reason(m)
				result, _, err := t.try(i, m)
				mu.Lock()
				if err != nil {
					failure = err
				}
				if result == invalid {
					valid--
				}
				outcomes = append(outcomes, outcome{m, result, reason})
				mu.Unlock()
				where := fmt.Sprintf("%s:%d: %s: %s", filepath.Base(m.File), m.Line, m.Change, m.Text)
				switch {
				case result == survived && reason == "":
					fmt.Println("survived", where)
				case (result == killed || result == timedOut) && reason != "":
					fmt.Println("killed, but listed as a known survivor:", where)
				}
			}
		})
	}
	workers.Wait()
	return outcomes, failure
}

// try runs the tests of the builds, with the mutant's source in place of the original file, and stops at the
// first build that the mutant does not survive. It returns the result and, for a survivor, the time of the
// longest test run. If number is negative, try tests the code without a mutant.
func (t *trial) try(number int, m mutant) (r result, longest time.Duration, err error) {
	for _, tags := range t.tags {
		var took time.Duration
		if r, took, err = t.build(number, m, tags); err != nil || r != survived {
			return r, 0, err
		}
		longest = max(longest, took)
	}
	return r, longest, nil
}

// build runs the tests of the build with these tags, see try.
func (t *trial) build(number int, m mutant, tags string) (r result, took time.Duration, err error) {
	at := func(name string) string { return filepath.Join(t.tmp, fmt.Sprintf("%d%s", number, name)) }
	program := at(".test")
	defer os.Remove(program)
	args := []string{"test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-tags", tags, "-o", program}
	if number >= 0 {
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{m.File: at(".go")}})
		if err == nil {
			err = errors.Join(os.WriteFile(at(".go"), m.source, 0o644),
				os.WriteFile(at(".json"), overlay, 0o644))
		}
		if err != nil {
			return "", 0, err
		}
		defer os.Remove(at(".go"))
		defer os.Remove(at(".json"))
		args = append(args, "-overlay", at(".json"))
	}
	compile := exec.Command("go", append(args, t.pkg)...)
	// All mutants share a separate build cache, because no other build can use their results.
	compile.Env = append(os.Environ(), "GOCACHE="+filepath.Join(t.tmp, "cache"))
	if compile.Run() != nil {
		return invalid, 0, nil
	}
	ctx := context.Background()
	if t.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.timeout)
		defer cancel()
	}
	tests := exec.CommandContext(ctx, program, "-test.short", "-test.failfast", "-test.run", t.run,
		"-test.skip", t.skip)
	tests.Dir = t.dir
	tests.WaitDelay = time.Second
	began := time.Now()
	err = tests.Run()
	took = time.Since(began)
	switch {
	case ctx.Err() != nil:
		return timedOut, took, nil
	case err != nil:
		return killed, took, nil
	}
	return survived, took, nil
}

func report(found int, outcomes []outcome) {
	count, known := map[result]int{}, 0
	for _, o := range outcomes {
		count[o.Result]++
		if o.Result == survived && o.Reason != "" {
			known++
		}
	}
	valid := len(outcomes) - count[invalid]
	dead := count[killed] + count[timedOut]
	percent := func(total int) float64 { return 100 * float64(dead) / float64(max(total, 1)) }
	fmt.Printf("%d mutants found, %d tried, %d of them do not compile; "+
		"%d killed (%d by timeout), %d survived: %.1f %% killed, or %.1f %% if the %d "+
		"known survivors do not count\n", found, len(outcomes),
		count[invalid], dead, count[timedOut], count[survived], percent(valid), percent(valid-known), known)
}
