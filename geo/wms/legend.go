package wms

import (
	"bytes"
	"fmt"
	stdimage "image"
	"image/color"
	stdpng "image/png"
	"net/http"
	"strconv"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"quern.dev/geo/wms/internal/render"
)

// legendSize returns the width and height of a layer's legend.
func legendSize(l *layer) (width, height int) {
	if len(l.styles()) == 1 && !l.palette {
		return 120, 66
	}
	return 120, 150
}

// wmsLegend answers GetLegendGraphic, of SLD 1.1: the ramp with its values, or what the three colors show.
func (s *Server) wmsLegend(w http.ResponseWriter, q *http.Request, p parameters) *Exception {
	if e := p.noSymbols(); e != nil {
		return e
	}
	name, e := p.need("LAYER")
	if e != nil {
		return e
	}
	l := s.layers[name]
	if l == nil {
		return exceptf(codeLayer, "LAYER", "there is no layer %.100q", name)
	}
	if f := findFormat(p["FORMAT"]); p["FORMAT"] != "" && f != formats[formatPNG] {
		return exceptf(codeInvalidFormat, "FORMAT", "legends are image/png, not %.60q", p["FORMAT"])
	}
	k, e := s.lookOf(p, l, p["STYLE"])
	if e != nil {
		return e
	}
	width, height := legendSize(l)
	for name, to := range map[string]*int{"WIDTH": &width, "HEIGHT": &height} {
		if p[name] != "" {
			if *to, e = p.integer(name, 1, 1024); e != nil {
				return e
			}
		}
	}
	im := stdimage.NewNRGBA(stdimage.Rect(0, 0, width, height))
	for i := range im.Pix {
		im.Pix[i] = 255
	}
	k.drawLegend(im)
	var body bytes.Buffer
	if err := stdpng.Encode(&body, im); err != nil {
		return exceptionOf(err)
	}
	s.answerWith(w, q, answer{body.Bytes(), "image/png"}, tagOf(k.key+strconv.Itoa(width)+"x"+strconv.Itoa(height)))
	return nil
}

func (k *look) drawLegend(im *stdimage.NRGBA) {
	label := func(y int, text string) {
		d := font.Drawer{Dst: im, Src: stdimage.Black, Face: basicfont.Face7x13, Dot: fixed.P(30, y)}
		d.DrawString(text)
	}
	height := im.Rect.Dy()
	bar := func(y0, y1 int, c func(y int) color.NRGBA) {
		for y := max(y0, 0); y < min(y1, height); y++ {
			for x := 4; x < min(24, im.Rect.Dx()); x++ {
				im.SetNRGBA(x, y, c(y))
			}
		}
	}
	if len(k.style.Ramp) == 0 {
		for i, c := range []color.NRGBA{{200, 0, 0, 255}, {0, 140, 0, 255}, {0, 0, 200, 255}} {
			bar(4+i*20, 20+i*20, func(int) color.NRGBA { return c })
			label(16+i*20, fmt.Sprintf("band %d", k.style.Bands[i]+1))
		}
		return
	}
	ramp := k.style.Ramp
	bar(4, height-4, func(y int) color.NRGBA {
		at := (height - 5 - y) * (len(ramp) - 1) / max(height-9, 1)
		c := ramp[min(max(at, 0), len(ramp)-1)]
		return color.NRGBA{byte(c), byte(c >> 8), byte(c >> 16), byte(c >> 24)}
	})
	low, high := k.style.Low[0], k.style.High[0]
	if k.style.Indexed {
		low, high = 0, float64(len(ramp)-1)
	}
	unit := ""
	if k.style.Shading == render.Slope {
		unit = " deg"
	}
	value := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) + unit }
	label(15, value(high))
	label(height/2+4, value((low+high)/2))
	label(height-6, value(low))
}
