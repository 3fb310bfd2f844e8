package profile

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// plot is a picture of a pattern, as shapes. WriteSVG and WritePNG draw the same shapes.
type plot struct {
	width, height int
	title         string
	shapes        []shape
}

// shape is a filled bar, a line or a text. Its class is a color of plotColors.
type shape struct {
	kind         shapeKind
	class        string
	x, y, x2, y2 float64 // of a bar: its corners; of a text: its base point in x, y
	text, tip    string
	anchor       float64 // of a text: 0 begins at x, 0.5 is centered, 1 ends there
	bold         bool
	points       []float64 // of a path: x and y in turn
}

type shapeKind uint8

const (
	barShape shapeKind = iota
	lineShape
	pathShape
	textShape
)

// plotColors are the colors of light pages, and of dark ones.
var plotColors = []struct{ class, light, dark string }{
	{"back", "#ffffff", "#0d1117"}, {"text", "#1f2328", "#e6edf3"}, {"grid", "#d0d7de", "#30363d"}, {"axis", "#8c959f", "#8c959f"},
	{"c0", "#0969da", "#58a6ff"}, {"c1", "#bc4c00", "#f0883e"}, {"c2", "#1a7f37", "#3fb950"}, {"c3", "#8250df", "#bc8cff"},
}

// seriesColors is the number of classes c0, c1, ...; more lines than this repeat them.
const seriesColors = 4

// plotGap is the height of a line of text in a plot.
const plotGap = 22

// plot lays out the pattern: bars if the labels are names, otherwise lines.
func (p *Pattern) plot() *plot {
	legend := 0
	if len(p.Lines) > 1 {
		legend = plotGap
	}
	f := &plot{width: plotWidth, height: plotHeight + legend, title: p.Title}
	left, right, top, bottom := 84.0, float64(plotWidth-plotRight), float64(plotTop+legend)-8, float64(f.height-plotBottom)-8
	f.add(shape{kind: barShape, class: "back", x2: float64(f.width), y2: float64(f.height)})
	f.add(shape{kind: textShape, class: "text", x: left, y: 26, text: p.Title, bold: true})
	most := 0.0
	for _, l := range p.Lines {
		for _, v := range l.Values {
			most = max(most, v)
		}
	}
	step := niceStep(most)
	end := max(step, math.Ceil(most/step)*step)
	y := func(v float64) float64 { return bottom - (bottom-top)*v/end }
	for v := 0.0; v <= end*1.001; v += step {
		f.add(shape{kind: lineShape, class: "grid", x: left, x2: right, y: y(v), y2: y(v)})
		label := p.text(v)
		if v == 0 {
			label = "0"
		}
		f.add(shape{kind: textShape, class: "text", x: left - 8, y: y(v) + 4, text: label, anchor: 1})
	}
	f.add(shape{kind: lineShape, class: "axis", x: left, x2: right, y: bottom, y2: bottom})
	room := (right - left) / float64(max(1, len(p.Labels)))
	for i, label := range p.Labels {
		f.add(shape{kind: textShape, class: "text", x: left + room*(float64(i)+0.5), y: bottom + 18, text: label, anchor: 0.5})
	}
	f.add(shape{kind: textShape, class: "text", x: (left + right) / 2, y: float64(f.height) - 12, text: p.Axis, anchor: 0.5})
	at := left
	for n, l := range p.Lines {
		class := fmt.Sprintf("c%d", n%seriesColors)
		if len(p.Lines) > 1 {
			f.add(shape{kind: barShape, class: class, x: at, y: 40, x2: at + 12, y2: 52})
			f.add(shape{kind: textShape, class: "text", x: at + 18, y: 51, text: l.Name})
			at += 44 + 7*float64(len(l.Name))
		}
		path := shape{kind: pathShape, class: class}
		for i, v := range l.Values {
			x, tip := left+room*(float64(i)+0.5), fmt.Sprintf("%s, %s: %s", l.Name, p.Labels[i], p.text(v))
			if p.bars() {
				f.add(shape{kind: barShape, class: class, x: x - 0.3*room, y: y(v), x2: x + 0.3*room, y2: bottom, tip: tip})
				f.add(shape{kind: textShape, class: "text", x: x, y: y(v) - 5, text: p.text(v), anchor: 0.5})
				continue
			}
			if v > 0 {
				path.points = append(path.points, x, y(v))
				f.add(shape{kind: barShape, class: class, x: x - 3, y: y(v) - 3, x2: x + 3, y2: y(v) + 3, tip: tip})
			}
		}
		f.add(path)
	}
	return f
}

func (f *plot) add(s shape) { f.shapes = append(f.shapes, s) }

// bars reports whether the labels are names and not sizes in their order.
func (p *Pattern) bars() bool {
	return len(p.Lines) == 1 && (p.Name == "stream" || p.Name == "latency")
}

// niceStep returns a round distance between the lines of a grid up to most.
func niceStep(most float64) float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, f := range []float64{5, 2} {
		if most/step < 2 {
			step /= f
		}
	}
	for most/step > 6 {
		step *= 2
	}
	return step
}

// WriteSVG writes a plot, which follows the light or dark mode of the page.
func (p *Pattern) WriteSVG(w io.Writer) error {
	f := p.plot()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n<style>\ntext{font:12px system-ui,sans-serif}.bold{font-size:14px;font-weight:600}\n",
		f.width, f.height, f.width, f.height, html.EscapeString(f.title))
	for _, dark := range []bool{false, true} {
		if dark {
			b.WriteString("@media (prefers-color-scheme:dark){")
		}
		for _, c := range plotColors {
			color := c.light
			if dark {
				color = c.dark
			}
			fmt.Fprintf(&b, ".%s{fill:%s}line.%s,polyline.%s{stroke:%s}", c.class, color, c.class, c.class, color)
		}
		if dark {
			b.WriteString("}")
		}
		b.WriteString("\n")
	}
	b.WriteString("polyline{stroke-width:2}polyline.c0,polyline.c1,polyline.c2,polyline.c3{fill:none}\n</style>\n")
	for i := range f.shapes {
		f.shapes[i].svg(&b)
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("profile: write plot: %w", err)
	}
	return nil
}

// svg writes the shape as an element.
func (s *shape) svg(b *strings.Builder) {
	switch s.kind {
	case barShape:
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f">`, s.class, s.x, s.y, max(0, s.x2-s.x), max(0, s.y2-s.y))
		if s.tip != "" {
			fmt.Fprintf(b, "<title>%s</title>", html.EscapeString(s.tip))
		}
		b.WriteString("</rect>\n")
	case lineShape:
		fmt.Fprintf(b, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", s.class, s.x, s.y, s.x2, s.y2)
	case pathShape:
		if len(s.points) == 0 {
			return
		}
		fmt.Fprintf(b, `<polyline class="%s" points="`, s.class)
		for i := 0; i < len(s.points); i += 2 {
			fmt.Fprintf(b, "%.1f,%.1f ", s.points[i], s.points[i+1])
		}
		b.WriteString(`"/>` + "\n")
	case textShape:
		anchor := map[float64]string{0.5: ` text-anchor="middle"`, 1: ` text-anchor="end"`}[s.anchor]
		class := s.class
		if s.bold {
			class += " bold"
		}
		fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f"%s>%s</text>`+"\n", class, s.x, s.y, anchor, html.EscapeString(s.text))
	}
}
