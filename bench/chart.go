package main

import (
	"bytes"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chartReport draws a chart as SVG after the last row. For each number of entities, the chart shows the
// time of the fastest other store divided by the time of Vast. The chart has a panel for each kind of work.
// Both axes are logarithmic.
type chartReport struct {
	out    io.Writer
	stores *grid
}

func newChartReport(out io.Writer) *chartReport {
	return &chartReport{out: out, stores: newGrid()}
}

func (c *chartReport) add(r row) error {
	c.stores.add(r)
	return nil
}

// The sizes of the chart's parts, in points of 1/72 inch. 600 points are 800 pixels.
const (
	chartWidth    = vg.Length(600)
	chartHeight   = vg.Length(610)
	chartTitle    = vg.Length(38) // height of the title
	chartMargin   = vg.Length(8)
	legendLine    = vg.Length(13)
	legendLines   = 3
	legendColumns = 2 // columns of names below a panel
	markRadius    = vg.Length(2.2)
)

// The chart's colours. For readers who prefer dark colours, chartStyle replaces paper, ink and faint.
var (
	paper = color.NRGBA{0xFF, 0xFF, 0xFE, 0xFF}
	ink   = color.NRGBA{0x1F, 0x23, 0x28, 0xFF}
	faint = color.NRGBA{0xE1, 0xE4, 0xE9, 0xFF}
	grey  = color.NRGBA{0x84, 0x8B, 0x94, 0xFF}

	lineColors = []color.Color{
		color.NRGBA{0x1F, 0x83, 0xD0, 0xFF}, color.NRGBA{0xD9, 0x60, 0x1A, 0xFF},
		color.NRGBA{0x14, 0xA0, 0x7A, 0xFF},
		color.NRGBA{0xC6, 0x5F, 0xA3, 0xFF}, color.NRGBA{0xC9, 0x92, 0x00, 0xFF},
		color.NRGBA{0x8C, 0x6B, 0xD9, 0xFF},
	}
	lineMarks = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{},
		draw.TriangleGlyph{},
	}
)

const chartStyle = `<style>
svg { font-family: "Liberation Sans", Arial, Helvetica, sans-serif }
@media (prefers-color-scheme: dark) {
	[style*="fill:#FFFFFE"] { fill: #0D1117 !important }
	[style*="fill:#1F2328"] { fill: #E6EDF3 !important }
	[style*="stroke:#E1E4E9"] { stroke: #2A3038 !important }
}
</style>
`

func (c *chartReport) finish() error {
	file := vgsvg.New(chartWidth, chartHeight)
	canvas := draw.New(file)
	canvas.FillPolygon(paper, []vg.Point{
		{X: 0, Y: 0}, {X: chartWidth, Y: 0}, {X: chartWidth, Y: chartHeight}, {X: 0, Y: chartHeight},
	})
	canvas.FillText(textStyle(12, draw.XLeft), vg.Point{X: chartMargin, Y: chartHeight - chartTitle/2},
		"Times faster than the fastest other store, over the number of entities")
	tiles := draw.Tiles{Rows: 2, Cols: 2, PadTop: chartTitle, PadLeft: chartMargin, PadRight: 2 * chartMargin,
		PadBottom: chartMargin, PadX: 2 * chartMargin, PadY: 2 * chartMargin}
	for i, name := range []string{panelQueries, panelEdits, panelCreates, panelDeletes} {
		c.panel(name, tiles.At(canvas, i%2, i/2))
	}
	var drawn bytes.Buffer
	if _, err := file.WriteTo(&drawn); err != nil {
		return err
	}
	// The style goes before the first drawn element, which is a group.
	before, after, _ := bytes.Cut(drawn.Bytes(), []byte("<g "))
	_, err := c.out.Write(bytes.Join([][]byte{before, []byte(chartStyle + "<g "), after}, nil))
	return err
}

func textStyle(size vg.Length, align text.XAlignment) text.Style {
	style := text.Style{Color: ink, Font: plot.DefaultFont, XAlign: align, YAlign: draw.YCenter,
		Handler: plot.DefaultTextHandler}
	style.Font.Variant, style.Font.Size = "Sans", size
	return style
}

// panel draws the lines of one kind of work, with a legend below.
func (c *chartReport) panel(name string, canvas draw.Canvas) {
	p := plot.New()
	p.Title.Text, p.Title.TextStyle = name, textStyle(11, draw.XCenter)
	p.BackgroundColor = nil
	legend := draw.Crop(canvas, 0, 0, 0, -(canvas.Max.Y - canvas.Min.Y - legendLines*legendLine))
	minRatio, maxRatio := 0.8, 1.25
	lines := 0
	for _, l := range c.stores.lines {
		if workNamed(l.work).panel != name {
			continue
		}
		var points plotter.XYs
		for _, n := range c.stores.sizes {
			if ratio, _ := c.stores.cells[cell{l, n}].best(); ratio > 0 && !math.IsInf(ratio, 1) {
				points = append(points, plotter.XY{X: float64(n), Y: ratio})
				minRatio, maxRatio = min(minRatio, ratio), max(maxRatio, ratio)
			}
		}
		c.line(p, &legend, l.name(), lines, points)
		lines++
	}
	minRatio, maxRatio = minRatio/1.1, maxRatio*1.1
	for _, y := range ratioTicks(minRatio, maxRatio) {
		rule := plotter.NewFunction(func(float64) float64 { return y.Value })
		rule.LineStyle = draw.LineStyle{Color: faint, Width: 0.6}
		if y.Value == 1 {
			rule.LineStyle = draw.LineStyle{Color: grey, Width: 1.2}
		}
		rule.Samples = 2
		p.Add(rule)
	}
	axis(&p.X, 0.8, 1.25*float64(publicSizes[len(publicSizes)-1]), countTicks())
	axis(&p.Y, minRatio, maxRatio, ratioTicks(minRatio, maxRatio))
	p.Draw(draw.Crop(canvas, 0, 0, legendLines*legendLine+chartMargin, 0))
}

// line adds the line with the given index to a panel, and its name to the legend.
func (c *chartReport) line(p *plot.Plot, legend *draw.Canvas, name string, index int, points plotter.XYs) {
	style := draw.LineStyle{Color: lineColors[index%len(lineColors)], Width: 1.4}
	mark := draw.GlyphStyle{Color: style.Color, Radius: markRadius, Shape: lineMarks[index%len(lineMarks)]}
	p.Add(&plotter.Line{XYs: points, LineStyle: style}, &plotter.Scatter{XYs: points, GlyphStyle: mark})
	width := (legend.Max.X - legend.Min.X) * 0.54 // the names in the second column are shorter
	at := vg.Point{
		X: legend.Min.X + width*vg.Length(index%legendColumns),
		Y: legend.Max.Y - legendLine*(vg.Length(index/legendColumns)+0.5),
	}
	legend.StrokeLine2(style, at.X, at.Y, at.X+16, at.Y)
	legend.DrawGlyph(mark, vg.Point{X: at.X + 8, Y: at.Y})
	legend.FillText(textStyle(8, draw.XLeft), vg.Point{X: at.X + 20, Y: at.Y}, name)
}

func axis(a *plot.Axis, minValue, maxValue float64, ticks []plot.Tick) {
	a.Min, a.Max, a.Scale = minValue, maxValue, plot.LogScale{}
	a.LineStyle.Color, a.Tick.LineStyle.Color = grey, grey
	align, vertical := a.Tick.Label.XAlign, a.Tick.Label.YAlign
	a.Tick.Label = textStyle(8.5, align)
	a.Tick.Label.YAlign = vertical
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

func countTicks() []plot.Tick {
	var ticks []plot.Tick
	for i, label := range []string{"1", "10", "100", "1 k", "10 k", "100 k", "1 M"} {
		ticks = append(ticks, plot.Tick{Value: math.Pow10(i), Label: label})
	}
	return ticks
}

// ratioTicks returns the powers of ten between two ratios. For a small range it also returns two times and
// five times each power.
func ratioTicks(minRatio, maxRatio float64) []plot.Tick {
	steps := []float64{1, 2, 5}
	if maxRatio/minRatio > 300 {
		steps = steps[:1]
	}
	var ticks []plot.Tick
	for power := math.Pow10(int(math.Floor(math.Log10(minRatio)))); power <= maxRatio; power *= 10 {
		for _, step := range steps {
			// The value is rounded, because powers below one are inexact.
			value, _ := strconv.ParseFloat(strconv.FormatFloat(power*step, 'g', 3, 64), 64)
			if value >= minRatio && value <= maxRatio {
				ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', -1, 64)})
			}
		}
	}
	return ticks
}
