package bench

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/vastgo/vast/internal/measure"
)

// row compares the library with another way to do the same work.
type row struct {
	Family         string  `json:"family"`
	Work           string  `json:"work"`
	Against        string  `json:"against"`
	OursMs         float64 `json:"ours_ms"` // of the best round
	TheirsMs       float64 `json:"theirs_ms"`
	Ratio          float64 `json:"ratio"` // theirs_ms ÷ ours_ms; above 1 if the library is faster
	OursMedianMs   float64 `json:"ours_median_ms"`
	TheirsMedianMs float64 `json:"theirs_median_ms"`
	OursMB         float64 `json:"ours_mb,omitempty"` // growth of the resident memory, 1 MB = 10⁶ bytes
	TheirsMB       float64 `json:"theirs_mb,omitempty"`
	OursWastedMB   float64 `json:"ours_wasted_mb,omitempty"` // the part of ours_mb that is not elements
	TheirsWastedMB float64 `json:"theirs_wasted_mb,omitempty"`
}

// newRow makes a row from two results. bytes is the size of the work's data.
func newRow(family, work string, bytes int, ours, theirs result) row {
	r := row{
		Family: family, Work: work, Against: theirs.name,
		OursMs: ours.times.Best(), TheirsMs: theirs.times.Best(),
		Ratio:        measure.Ratio(ours.times, theirs.times),
		OursMedianMs: ours.times.Median(), TheirsMedianMs: theirs.times.Median(),
		OursMB: mb(ours.growth), TheirsMB: mb(theirs.growth),
	}
	if ours.growth > 0 {
		r.OursWastedMB = max(0, mb(ours.growth-bytes))
	}
	if theirs.growth > 0 {
		r.TheirsWastedMB = max(0, mb(theirs.growth-bytes))
	}
	return r
}

func mb(bytes int) float64 { return float64(bytes) / 1e6 }

func table(out io.Writer, o options, rows []row) error {
	fmt.Fprintf(out, "N = %d, best and median of %d rounds; %s/%s, %s\n",
		o.n, o.rounds, runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, f := range families {
		own := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Family != f.name })
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n\n", f.about)
		if err := familyTable(out, own); err != nil {
			return err
		}
	}
	return nil
}

func familyTable(out io.Writer, rows []row) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "work\tagainst\tours ms\tmedian\ttheirs ms\tmedian\tratio\tours MB\twasted\t"+
		"theirs MB\twasted\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%s\t%s\t\n", r.Work, r.Against,
			number(r.OursMs), number(r.OursMedianMs), number(r.TheirsMs), number(r.TheirsMedianMs), r.Ratio,
			memory(r.OursMB), waste(r.OursMB, r.OursWastedMB), memory(r.TheirsMB),
			waste(r.TheirsMB, r.TheirsWastedMB))
	}
	return w.Flush()
}

func number(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.4f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

func memory(mb float64) string {
	if mb == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", mb)
}

func waste(mb, wasted float64) string {
	if mb == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", wasted)
}
