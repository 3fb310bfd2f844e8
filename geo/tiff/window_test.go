package tiff

import (
	"fmt"
	"testing"
)

func TestTheHeaderOfARegionKeepsPixelsInTheirPlace(t *testing.T) {
	h := Header{Width: 100, Height: 80, Bands: 4, Type: Uint8, Photometric: RGB, Extra: []ExtraSample{StraightAlpha}, RPC: &RPC{LineOff: 50, SampOff: 60},
		Metadata: []Item{{Band: -1, Name: "A"}, {Band: 0, Name: "RED"}, {Band: 2, Name: "BLUE"}}}
	for _, point := range []bool{false, true} {
		h.Geo = utm(point)
		got := h.Region(Region{X: 10, Y: 20, Width: 30, Height: 40})
		a, ok := got.Geo.Affine()
		if want := (Affine{300300, 30, 0, 4499400, 0, -30}); !ok || a != want {
			t.Errorf("point %v: %v, not %v", point, a, want)
		}
		if got.Width != 30 || got.Height != 40 || got.RPC.LineOff != 30 || got.RPC.SampOff != 50 || h.RPC.LineOff != 50 {
			t.Errorf("%+v", got)
		}
	}
	h.Geo = Georeference{Tiepoints: []Tiepoint{{Column: 15, Row: 25}, {Column: 40, Row: 50}}}
	moved := h.Region(Region{X: 10, Y: 20, Width: 30, Height: 40})
	if got := moved.Geo.ControlPoints()[0]; got.Column != 5 || got.Row != 5 {
		t.Errorf("control point %+v", got)
	}
	for _, test := range []struct {
		bands       []int
		photometric Photometric
		extra       []ExtraSample
		names       string
	}{
		{nil, RGB, []ExtraSample{StraightAlpha}, "A RED BLUE"},
		{[]int{0, 1, 2}, RGB, nil, "A RED BLUE"},
		{[]int{0, 1, 2, 3}, RGB, []ExtraSample{StraightAlpha}, "A RED BLUE"},
		{[]int{2}, MinIsBlack, nil, "A BLUE"},
		{[]int{2, 1, 0}, MinIsBlack, nil, "A RED BLUE"},
		{[]int{2, 1, 0, 3}, MinIsBlack, []ExtraSample{Unspecified, Unspecified, StraightAlpha}, "A RED BLUE"},
		{[]int{0, 3}, MinIsBlack, []ExtraSample{StraightAlpha}, "A RED"},
		{[]int{3}, MinIsBlack, nil, "A"},
	} {
		got := h.Region(Region{Width: 1, Height: 1, Bands: test.bands})
		names := ""
		for _, item := range got.Metadata {
			names += " " + item.Name
		}
		if got.Photometric != test.photometric || fmt.Sprint(got.Extra) != fmt.Sprint(test.extra) || names[1:] != test.names {
			t.Errorf("bands %v: %v %v %v", test.bands, got.Photometric, got.Extra, names)
		}
	}
}
