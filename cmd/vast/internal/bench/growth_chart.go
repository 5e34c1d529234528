package bench

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
)

// The sizes are in units of the chart's view box. chartWidth is the width of a small phone in pixels, so that
// the text is legible on the phone without zooming.
const (
	chartWidth  = 360
	chartHeight = 478
	plotLeft    = 50
	plotRight   = 350
	plotHeight  = 150
)

// A panel is one of the two diagrams of the chart. Its horizontal axis shows the number of elements.
type panel struct {
	title string
	top   float64               // top edge of the plot
	y     func(p point) float64 // height of a point: 0 at the bottom, 1 at the top
	ticks []tick
}

// A tick is a labelled value on the vertical axis.
type tick struct {
	at    float64 // height of the value: 0 at the bottom, 1 at the top
	label string
}

// growthLines has the line of each strategy: its label in the legend, the class of its colour, and its dash
// pattern, for readers who do not see colours.
var growthLines = map[string]struct{ label, class, dash string }{
	"vast":             {"one reservation (Array)", "a", ""},
	"slice-grown":      {"reallocated (append)", "b", "6 3"},
	"geometric-blocks": {"geometric blocks", "c", "2 2"},
	"fixed-blocks":     {"blocks of 16 KiB", "d", "8 2 2 2"},
}

const growthStyle = `<style>
svg { --paper: #fffffe; --ink: #1f2328; --soft: #59636e; --rule: #e1e4e9; ` +
	`--a: #1f83d0; --b: #d9601a; --c: #14a07a; --d: #a05fc6;
  font: 12px system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif }
@media (prefers-color-scheme: dark) {
  svg { --paper: #0d1117; --ink: #e6edf3; --soft: #9198a1; --rule: #2a3038; ` +
	`--b: #f0803c; --c: #2cbf96; --d: #bf87e0; --a: #4aa3ea }
}
.paper { fill: var(--paper) }
text { fill: var(--ink) }
.soft { fill: var(--soft); font-size: 11px }
.rule { stroke: var(--rule); fill: none }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round }
.a { stroke: var(--a) } .b { stroke: var(--b) } .c { stroke: var(--c) } .d { stroke: var(--d) }
</style>
`

// growthChart draws the traces as SVG, in two panels: the longest single append, and the bytes held for each
// byte of elements.
func growthChart(o options, traces []trace) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" `+
		`viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		chartWidth, chartHeight, chartWidth*2, chartHeight*2)
	fmt.Fprintln(&b, "<title>Growth strategies: the longest append, and the memory held, over the number "+
		"of elements</title>")
	b.WriteString(growthStyle)
	fmt.Fprintf(&b, `<rect class="paper" width="%d" height="%d" rx="6"/>`+"\n", chartWidth, chartHeight)
	for i, t := range traces {
		l := growthLines[t.Strategy]
		x, y := 10+175*(i%2), 20+18*(i/2)
		fmt.Fprintf(&b, `<path class="line %s" stroke-dasharray="%s" d="M%d %dh22"/>`+
			`<text x="%d" y="%d" font-size="11">%s</text>`+"\n",
			l.class, l.dash, x, y-4, x+27, y, l.label)
	}
	longest := panel{title: "Longest single append", top: 78, y: func(p point) float64 {
		return logarithmic(float64(p.LongestNs), 100, 1e9)
	}}
	for i, label := range []string{"100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"} {
		longest.ticks = append(longest.ticks, tick{float64(i) / 7, label})
	}
	held := panel{title: "Most bytes held for each byte of elements", top: 288, y: func(p point) float64 {
		return (min(p.Held, 3) - 1) / 2
	}}
	for i, label := range []string{"1", "1.5", "2", "2.5", "3"} {
		held.ticks = append(held.ticks, tick{float64(i) / 4, label})
	}
	for _, p := range []panel{longest, held} {
		p.draw(&b, traces, float64(max(o.n, 10*pointsFrom)))
	}
	fmt.Fprintf(&b, `<text class="soft" x="10" y="%d">`+
		"%d elements of %d bytes, best of %d rounds, %s/%s</text>\n</svg>\n",
		chartHeight-8, o.n, bytesElement, o.rounds, runtime.GOOS, runtime.GOARCH)
	return b.Bytes()
}

// draw draws a panel. rightEnd is the number of elements at the right end of the horizontal axis.
func (p *panel) draw(b *bytes.Buffer, traces []trace, rightEnd float64) {
	x := func(elements float64) float64 {
		return plotLeft + (plotRight-plotLeft)*logarithmic(elements, pointsFrom, rightEnd)
	}
	y := func(at float64) float64 { return p.top + plotHeight*(1-at) }
	fmt.Fprintf(b, `<text x="10" y="%.0f" font-weight="600">%s</text>`+"\n", p.top-10, p.title)
	for _, t := range p.ticks {
		fmt.Fprintf(b, `<path class="rule" d="M%d %.1fH%d"/>`+
			`<text class="soft" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			plotLeft, y(t.at), plotRight, plotLeft-5, y(t.at)+4, t.label)
	}
	for n := float64(pointsFrom); n <= rightEnd; n *= 10 {
		fmt.Fprintf(b, `<text class="soft" x="%.1f" y="%.0f" text-anchor="middle">%s</text>`+"\n",
			min(x(n), plotRight-8), p.top+plotHeight+16,
			count(n))
	}
	// The line of vast is the first trace. It is drawn last, so that it covers the other lines.
	for i := len(traces) - 1; i >= 0; i-- {
		l := growthLines[traces[i].Strategy]
		fmt.Fprintf(b, `<path class="line %s" stroke-dasharray="%s" d="`, l.class, l.dash)
		for j, at := range traces[i].Points {
			command := "L"
			if j == 0 {
				command = "M"
			}
			fmt.Fprintf(b, "%s%.1f %.1f", command, x(float64(max(at.Elements, pointsFrom))), y(p.y(at)))
		}
		fmt.Fprintln(b, `"/>`)
	}
}

// logarithmic returns the position of v on a logarithmic scale: 0 if v ≤ low, 1 if v ≥ high.
func logarithmic(v, low, high float64) float64 {
	return min(1, max(0, math.Log(v/low)/math.Log(high/low)))
}

// count formats a power of ten of at least 1,000.
func count(n float64) string {
	if n >= 1e6 {
		return fmt.Sprintf("%.0f M", n/1e6)
	}
	return fmt.Sprintf("%.0f k", n/1e3)
}
