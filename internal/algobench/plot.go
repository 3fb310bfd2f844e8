package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"math/bits"
	"strings"
)

// The plot of a sweep: the left edge, the top, and the size of its area, in pixels.
const (
	plotLeft, plotTop     = 70, 40
	plotWidth, plotHeight = 640, 420
	plotLegend            = 120 // on the right
)

// plotColors are those of the curves, in the order of the figures (Okabe and Ito, 2008).
var plotColors = []string{"#000000", "#e69f00", "#56b4e9", "#009e73", "#d55e00", "#0072b2", "#cc79a7", "#999999"}

// writePlot writes the figures of a sweep as an SVG image: the bytes per second of each algorithm
// by the number of elements. Both axes are logarithmic.
func writePlot(w io.Writer, r *Report) error {
	if len(r.Figures) == 0 {
		return fmt.Errorf("no figures to plot")
	}
	var names []string
	curves := make(map[string][]Figure)
	low, high := math.Inf(1), math.Inf(-1)
	least, most := math.MaxInt, 0
	for _, f := range r.Figures {
		if curves[f.Name] == nil {
			names = append(names, f.Name)
		}
		curves[f.Name] = append(curves[f.Name], f)
		low, high = min(low, f.GBs), max(high, f.GBs)
		least, most = min(least, f.Elements), max(most, f.Elements)
	}
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	to = max(to, from+1)
	first, last := bits.Len(uint(least))-1, max(bits.Len(uint(most))-1, bits.Len(uint(least)))
	x := func(elements int) float64 {
		return plotLeft + plotWidth*(math.Log2(float64(elements))-float64(first))/float64(last-first)
	}
	y := func(gbs float64) float64 { return plotTop + plotHeight*(to-math.Log10(gbs))/(to-from) }
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		plotLeft+plotWidth+plotLegend, plotTop+plotHeight+50)
	fmt.Fprintf(&s, `<rect width="100%%" height="100%%" fill="white"/><text x="%d" y="24" font-size="14">%s: GB/s by number of elements</text>`+"\n",
		plotLeft, html.EscapeString(r.Device))
	for e := first; e <= last; e += 2 {
		at := x(1 << e)
		fmt.Fprintf(&s, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" text-anchor="middle">2^%d</text>`+"\n",
			at, at, plotTop, plotTop+plotHeight, at, plotTop+plotHeight+20, e)
	}
	for e := from; e <= to; e++ {
		at := y(math.Pow(10, e))
		fmt.Fprintf(&s, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#dddddd"/><text x="%d" y="%.1f" text-anchor="end">%g</text>`+"\n",
			plotLeft, plotLeft+plotWidth, at, at, plotLeft-8, at+4, math.Pow(10, e))
	}
	for i, name := range names {
		color := plotColors[i%len(plotColors)]
		var points strings.Builder
		for _, f := range curves[name] {
			fmt.Fprintf(&points, "%.1f,%.1f ", x(f.Elements), y(f.GBs))
		}
		fmt.Fprintf(&s, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`, color, strings.TrimSpace(points.String()))
		fmt.Fprintf(&s, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+plotWidth+12, plotTop+12+18*i, color, html.EscapeString(name))
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}
