// Command bench compares Vast with other entity stores, work by work.
//
// README.md explains the rows.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if status, asked := runOutside(os.Stdout, os.Stderr); asked {
		os.Exit(status)
	}
	removeOnSignal()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses of the command.
const (
	exitOK     = 0
	exitFailed = 1 // a wrong result, or a build, a measurement or a write that failed
	exitUsage  = 2
)

// publicSizes are the numbers of entities of the public suite.
var publicSizes = []int{1, 4, 16, 64, 256, 1024, 16_000, 256_000, 1_000_000}

// maxSize is the limit of -n: query2comp has 11·n entities, and slots have 32-bit numbers.
const maxSize = 64 << 20

// A plan is one row to measure: a match with a number of entities.
type plan struct {
	work  *workload
	match *match
	n     int
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	works := flags.String("work", "",
		"comma-separated `works` to measure: "+strings.Join(workNames(), ", ")+" (default all)")
	sizes := flags.String("n", "",
		"comma-separated `numbers` of entities (default 1,4,16,64,256,1024,16000,256000,1000000; some works "+
			"have other defaults)")
	peers := flags.String("peer", "",
		"comma-separated `peers` to compare with: "+strings.Join(peerNames(), ", ")+" (default all)")
	asJSON := flags.Bool("json", false, "print one JSON object instead of a table")
	chart := flags.String("svg", "", "also draw the ratios to the fastest other store as SVG, to this `file`")
	asMarkdown := flags.Bool("markdown", false,
		"print ratios to Ark and to the fastest other store, as Markdown tables")
	m := defaultMeasurement
	flags.DurationVar(&m.rowTime, "rowtime", m.rowTime,
		"`time` after which a row gets fewer rounds; 0 for no limit")
	flags.IntVar(&m.rounds, "rounds", m.rounds, "timed `rounds` per row, each with one sample of each side")
	for _, s := range cppStores {
		flags.StringVar(&s.folder, s.name, os.Getenv(s.folderVariable()), fmt.Sprintf(
			"`folder` with %s, to compare with %s (default $%s)", s.header, s.name, s.folderVariable()))
	}
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: go run . [-work list] [-n list] [-peer list] [-rounds n] [-rowtime t] "+
			"[-json | -markdown] [-svg file] [-entt folder] [-flecs folder]")
		flags.PrintDefaults()
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}

	var folderErrors []error
	for _, s := range cppStores {
		folderErrors = append(folderErrors, s.checkFolder())
	}
	plans, err := choose(*works, *sizes, *peers)
	switch err = cmp.Or(errors.Join(folderErrors...), err); {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q; works are chosen with -work", flags.Arg(0))
	case m.rounds < 1:
		err = fmt.Errorf("-rounds %d: at least one round is needed", m.rounds)
	case m.rowTime < 0:
		err = fmt.Errorf("-rowtime %v: a time cannot be negative; 0 is no limit", m.rowTime)
	case *asJSON && *asMarkdown:
		err = errors.New("-json and -markdown: use only one of them")
	}
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitUsage
	}

	var out report = newTable(stdout)
	switch {
	case *asJSON:
		out = newJSONReport(stdout)
	case *asMarkdown:
		out = newMarkdownReport(stdout)
	}
	if *chart != "" {
		file, err := os.Create(*chart)
		if err != nil {
			fmt.Fprintln(stderr, "bench: -svg:", err)
			return exitUsage
		}
		defer file.Close()
		out = reports{out, newChartReport(file)}
	}
	for _, s := range cppStores {
		if *peers == "" && s.folder == "" {
			fmt.Fprintf(stderr, "bench: no rows for %s: give the folder of its sources with -%[1]s\n",
				s.name)
		}
	}
	removePrograms, err := buildPrograms(plans, stderr)
	defer removePrograms()
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitFailed
	}
	if err := m.measureAll(plans, out, stderr); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitFailed
	}
	return exitOK
}

// choose returns the rows that three comma-separated lists select, in the order of the workloads. An empty
// list of works or of peers selects all. If the list of sizes is empty, each work has its default sizes, and
// choose leaves out the sizes above a peer's maxN and the works that this system cannot measure. In any case,
// choose leaves out the sizes below a work's minN, sizes other than 1 of a single work, and the peers whose
// folders are not given. It returns an error if the list of peers names such a peer, or if no row is left.
func choose(works, sizes, peers string) ([]plan, error) {
	chosenWorks, err := parseNames("work", works, workNames())
	if err != nil {
		return nil, err
	}
	chosenPeers, err := parseNames("peer", peers, peerNames())
	if err != nil {
		return nil, err
	}
	chosenSizes, err := parseSizes(sizes)
	if err != nil {
		return nil, err
	}
	for _, name := range chosenPeers {
		if peers != "" && absent(name) {
			return nil, fmt.Errorf("-peer: %s needs the folder of its sources: give -%s", name,
				cppStoreOf(name).name)
		}
	}
	var plans []plan
	for i := range workloads {
		work := &workloads[i]
		if !work.isIn(chosenWorks) {
			continue
		}
		ns := chosenSizes
		if sizes == "" && work.sizes != nil {
			ns = work.sizes
		}
		for _, n := range ns {
			if work.single && n != 1 || n < work.minN || sizes == "" && !work.canMeasure() {
				continue
			}
			for j := range work.matches {
				match := &work.matches[j]
				maxN := peerNamed(match.peer).maxN
				if slices.Contains(chosenPeers, match.peer) && !absent(match.peer) &&
					(sizes != "" || maxN == 0 || n <= maxN) {
					plans = append(plans, plan{work, match, n})
				}
			}
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("no row matches -work, -n and -peer: %s", pairings(chosenWorks))
	}
	return plans, nil
}

// pairings lists the peers of each work, with a note if the work has n = 1 only.
func pairings(works []string) string {
	var parts []string
	for i := range workloads {
		work := &workloads[i]
		if !work.isIn(works) {
			continue
		}
		var names []string
		for j := range work.matches {
			names = append(names, work.matches[j].peer)
		}
		part := work.name + " has the peers " + strings.Join(names, ", ")
		if work.single {
			part += " and n = 1 only"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// parseNames splits a comma-separated list of known names. An empty list means all known names.
func parseNames(flagName, list string, known []string) ([]string, error) {
	if list == "" {
		return known, nil
	}
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-%s: unknown name %q; use %s", flagName, name, strings.Join(known, ", "))
		}
		names = append(names, name)
	}
	return names, nil
}

// parseSizes splits a comma-separated list of positive numbers. An empty list means publicSizes.
func parseSizes(list string) ([]int, error) {
	if list == "" {
		return publicSizes, nil
	}
	var sizes []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 || n > maxSize {
			return nil, fmt.Errorf("-n: %q is not a number from 1 to %d", field, maxSize)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}
