package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
)

func printTable(stdout io.Writer, rows []plan.Result) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "regions\tprocesses\tticks/s\tp50 ms\tp99 ms\tregion\tcores\tserver\tdisk\tnetwork\t"+
		"  cores mostly do\t  first bottleneck")
	for _, r := range rows {
		fmt.Fprintf(w, "%d\t%d\t%.3g\t%.3g\t%.3g\t", r.Regions, r.Processes, r.Rate, milliseconds(r.P50),
			milliseconds(r.P99))
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t  %s\t  %s\n", percent(r.Region), percent(r.Cores),
			percent(r.Server), percent(r.Disk), percent(r.Network), r.Mostly, r.Bottleneck)
	}
	return w.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// row is the prediction for one cluster, as -json prints it.
type row struct {
	Regions        int        `json:"regions"`
	Processes      int        `json:"processes"`
	TicksPerSecond float64    `json:"ticks_per_second"`
	TickMs         tickReport `json:"tick_ms"`
	Region         float64    `json:"region_utilisation"`
	Cores          float64    `json:"cores_utilisation"`
	Server         float64    `json:"server_utilisation"`
	Disk           float64    `json:"disk_utilisation"`
	Network        float64    `json:"network_utilisation"`
	Mostly         string     `json:"cores_mostly"`
	Bottleneck     string     `json:"bottleneck"`
}

type tickReport struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func printJSON(stdout io.Writer, costs *plan.Costs, results []plan.Result) error {
	var rows []row
	for _, r := range results {
		rows = append(rows, row{r.Regions, r.Processes, r.Rate,
			tickReport{milliseconds(r.P50), milliseconds(r.P99)}, r.Region, r.Cores, r.Server, r.Disk,
			r.Network, r.Mostly, r.Bottleneck})
	}
	return json.NewEncoder(stdout).Encode(struct {
		Costs *plan.Costs `json:"costs"`
		Rows  []row       `json:"rows"`
	}{costs, rows})
}
