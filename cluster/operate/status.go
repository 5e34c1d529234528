package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/vastgo/vast/cluster"
)

// find returns the name of the only process whose name begins with prefix.
func find(processes []cluster.Process, prefix string) (string, error) {
	var found []string
	for _, p := range processes {
		if strings.HasPrefix(p.Name, prefix) {
			found = append(found, p.Name)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no process has a name that begins with %q", prefix)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("several processes have names that begin with %q: %s", prefix,
		strings.Join(found, ", "))
}

// regionJSON is a region in the output of -json.
type regionJSON struct {
	Region    int             `json:"region"`
	Process   string          `json:"process"`
	Tick      uint64          `json:"tick"`
	Failovers int             `json:"failovers"`
	Moves     int             `json:"moves"`
	Waiting   string          `json:"waiting,omitempty"`
	Machine   json.RawMessage `json:"machine,omitempty"`
}

// processJSON is a process in the output of -json.
type processJSON struct {
	Name     string `json:"process"`
	Host     string `json:"host"`
	Program  string `json:"program"`
	System   string `json:"system"`
	Build    string `json:"build"`
	Alive    bool   `json:"alive"`
	Draining bool   `json:"draining"`
	Failing  bool   `json:"failing"`
	Regions  int    `json:"regions"`
}

func (o options) status(c *cluster.Operator, stdout io.Writer) error {
	processes, regions := c.Processes(), c.Regions()
	if o.json {
		return printJSON(stdout, processes, regions)
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tREGIONS\tSTATE\tHOST\tPROGRAM\tSYSTEM\tBUILD")
	for _, p := range processes {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%.12s\n", p.Name, p.Regions, state(p), p.Host, p.Program,
			p.System, p.Build)
	}
	fmt.Fprintln(w, "\nREGION\tPROCESS\tTICK\tFAILOVERS\tMOVES\tWAITING")
	for _, r := range regions {
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%s\n", r.Region, r.Process, r.Tick, r.Failovers, r.Moves,
			r.Waiting)
	}
	return w.Flush()
}

func state(p cluster.Process) string {
	switch {
	case !p.Alive:
		return "dead"
	case p.Failing:
		return "failing"
	case p.Draining:
		return "draining"
	}
	return "alive"
}

func printJSON(w io.Writer, processes []cluster.Process, regions []cluster.Status) error {
	var all struct {
		Processes []processJSON `json:"processes"`
		Regions   []regionJSON  `json:"regions"`
	}
	for _, p := range processes {
		all.Processes = append(all.Processes, processJSON(p))
	}
	for _, r := range regions {
		all.Regions = append(all.Regions, regionJSON{r.Region, r.Process, r.Tick, r.Failovers, r.Moves,
			r.Waiting, r.Machine})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
}
