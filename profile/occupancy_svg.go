package profile

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// Measures of the plot in pixels.
const (
	plotWidth, plotHeight         = 720, 360
	plotLeft, plotRight           = 56, 16
	plotTop, plotBottom           = 64, 48
	plotBarShare          float64 = 0.8 // of the room of a bar
)

// limitNames are what limits occupancy, in the order of the legend. Number i has class li.
var limitNames = []string{"threads", "blocks", "registers", "shared memory"}

// plotStyle has colors for light and dark pages that differ in brightness too.
const plotStyle = `
text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:14px;font-weight:600}.axis{stroke:#8c959f;stroke-width:1}.grid{stroke:#d0d7de;stroke-width:1}
.back{fill:#fff}.l0{fill:#0969da}.l1{fill:#54aeff}.l2{fill:#bc4c00}.l3{fill:#8250df}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#30363d}.l0{fill:#1f6feb}.l1{fill:#79c0ff}.l2{fill:#f0883e}.l3{fill:#bc8cff}}
`

// WriteSVG writes a plot: a bar for each block size, whose color is what limits the number of
// blocks. It follows the light or dark mode of the page.
func (t *OccupancyTable) WriteSVG(w io.Writer) error {
	var b strings.Builder
	title := html.EscapeString(t.title())
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n",
		plotWidth, plotHeight, plotWidth, plotHeight, title)
	fmt.Fprintf(&b, "<style>%s</style>\n<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", plotStyle, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text class="title" x="%d" y="24">%s</text>`+"\n", plotLeft, title)
	width, height := float64(plotWidth-plotLeft-plotRight), float64(plotHeight-plotTop-plotBottom)
	y := func(ratio float64) float64 { return plotTop + height*(1-ratio) }
	for percent := 0; percent <= 100; percent += 25 {
		at := y(float64(percent) / 100)
		fmt.Fprintf(&b, `<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f" text-anchor="end">%d %%</text>`+"\n",
			plotLeft, plotWidth-plotRight, at, at, plotLeft-8, at+4, percent)
	}
	room := width / float64(max(1, len(t.Rows)))
	every := max(1, (len(t.Rows)+15)/16) // rows between two numbers on the axis
	for i, r := range t.Rows {
		ratio := min(1, t.Ratio(r))
		x := plotLeft + room*(float64(i)+(1-plotBarShare)/2)
		class := max(0, slices.Index(limitNames, r.Limit))
		fmt.Fprintf(&b, `<rect class="l%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%d threads per block: %d blocks, %.1f %%, limited by %s</title></rect>`+"\n",
			class, x, y(ratio), room*plotBarShare, height*ratio, r.Block, r.Blocks, 100*ratio, html.EscapeString(r.Limit))
		if (i+1)%every == 0 || len(t.Rows) == 1 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", plotLeft+room*(float64(i)+0.5), plotHeight-plotBottom+16, r.Block)
		}
	}
	fmt.Fprintf(&b, `<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/>`+"\n", plotLeft, plotWidth-plotRight, plotHeight-plotBottom, plotHeight-plotBottom)
	axis := "threads per block"
	if r := t.Resources.describe(); r != "" {
		axis += " (" + r + ")"
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", plotLeft+int(width/2), plotHeight-10, axis)
	x := plotLeft
	for i, name := range limitNames {
		if !slices.ContainsFunc(t.Rows, func(r OccupancyRow) bool { return r.Limit == name }) {
			continue
		}
		fmt.Fprintf(&b, `<rect class="l%d" x="%d" y="36" width="12" height="12"/><text x="%d" y="46">limited by %s</text>`+"\n", i, x, x+18, name)
		x += 40 + 8*len("limited by "+name)
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write occupancy: %w", err)
	}
	return nil
}
