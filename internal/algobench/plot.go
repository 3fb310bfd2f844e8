package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"math/bits"
	"strconv"
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
// by the number of elements. Both axes are logarithmic. The curves of peers are dashed, and have
// the color of their algorithm.
func writePlot(w io.Writer, r *Report, peers []Figure) error {
	if len(r.Figures) == 0 {
		return fmt.Errorf("no figures to plot")
	}
	var names []string
	curves, dashed := make(map[string][]Figure), make(map[string][]Figure)
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
	for _, f := range peers {
		if curves[f.Name] != nil && least <= f.Elements && f.Elements <= most {
			dashed[f.Name] = append(dashed[f.Name], f)
			low, high = min(low, f.GBs), max(high, f.GBs)
		}
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
		line := func(figures []Figure, style string) {
			var points strings.Builder
			for _, f := range figures {
				fmt.Fprintf(&points, "%.1f,%.1f ", x(f.Elements), y(f.GBs))
			}
			fmt.Fprintf(&s, `<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>`, color, style, strings.TrimSpace(points.String()))
		}
		line(curves[name], "")
		if len(dashed[name]) > 0 {
			line(dashed[name], ` stroke-dasharray="6 4"`)
		}
		fmt.Fprintf(&s, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft+plotWidth+12, plotTop+12+18*i, color, html.EscapeString(name))
	}
	if len(dashed) > 0 {
		fmt.Fprintf(&s, `<text x="%d" y="%d">dashed: peer</text>`+"\n", plotLeft+plotWidth+12, plotTop+12+18*len(names))
	}
	s.WriteString("</svg>\n")
	_, err := io.WriteString(w, s.String())
	return err
}

// readPeers reads the figures of a sweep of another library, in the same CSV.
func readPeers(r io.Reader) (figures []Figure, err error) {
	lines, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	for i, l := range lines {
		if i == 0 {
			continue // the names of the columns
		}
		if len(l) < 4 {
			return nil, fmt.Errorf("line %d: %d columns, want 4 at least", i+1, len(l))
		}
		f := Figure{Name: l[0]}
		var errs [3]error
		f.Elements, errs[0] = strconv.Atoi(l[1])
		f.Seconds, errs[1] = strconv.ParseFloat(l[2], 64)
		f.GBs, errs[2] = strconv.ParseFloat(l[3], 64)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if !(f.GBs > 0) || math.IsInf(f.GBs, 0) || f.Elements < 1 {
			return nil, fmt.Errorf("line %d: %d elements and %v GB/s, which are not positive", i+1, f.Elements, f.GBs)
		}
		figures = append(figures, f)
	}
	return figures, nil
}
