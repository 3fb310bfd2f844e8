package render

import (
	"context"
	"testing"

	"quern.dev/geo/internal/relief"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// maps draws maps of everything that kernels distinguish.
func maps(t *testing.T, dev *gpu.Device) [][]uint32 {
	r, err := New(dev, Options{Lanes: 2, Pages: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	alpha := func(h *tiff.Header) { h.Extra = []tiff.ExtraSample{tiff.StraightAlpha} }
	rgba := write(t, 120, 90, 4, tiff.Options{BlockWidth: 64, BlockHeight: 64}, alpha, func(x, y, band int) uint8 {
		if band == 3 {
			return uint8(min(x*3, 255))
		}
		return uint8(smooth(x, y, band))
	})
	none := func(h *tiff.Header) { h.NoData = "3" }
	dem := write(t, 260, 90, 1, tiff.Options{}, none, func(x, y, _ int) float32 { return float32((x + 2*y) % 50) })
	ramp := Style{Ramp: []uint32{0xff0000ff, 0xff00ff00, 0xffff0000, 0xffffffff}, High: [3]float64{50, 1, 1}}
	near := ramp
	near.Nearest = true
	hills := ramp
	hills.High[0], hills.Light, hills.Ground = 255, relief.NewLight(315, 45, 3), func(y float64) (float64, float64) { return 1 + y/1e8, 1 }
	var all [][]uint32
	for _, target := range []int{3857, 32633} {
		over, under, nearest := view(t, r, rgba, colors, target), view(t, r, dem, ramp, target), view(t, r, dem, near, target)
		shade := func(s Shading) *View {
			style := hills
			style.Shading = s
			return view(t, r, dem, style, target)
		}
		f := over.Footprint()
		part := Extent{f.MinX, f.MinY, (f.MinX + f.MaxX) / 2, (f.MinY + f.MaxY) / 2}
		for _, m := range []Map{
			{Views: []*View{under, over}, Extent: f, Width: 45, Height: 35},
			{Views: []*View{over}, Extent: part, Width: 25, Height: 26, Exact: true},
			{Views: []*View{nearest}, Extent: part, Width: 33, Height: 20},
			{Views: []*View{shade(Hillshade)}, Extent: f, Width: 45, Height: 35},
			{Views: []*View{shade(Slope)}, Extent: f, Width: 45, Height: 35},
			{Views: []*View{shade(Relief)}, Extent: part, Width: 45, Height: 35},
		} {
			out := make([]uint32, m.Width*m.Height)
			if err := r.Draw(context.Background(), &m, out); err != nil {
				t.Fatal(err)
			}
			all = append(all, out)
		}
	}
	return all
}

func TestAllDevicesDrawTheSame(t *testing.T) {
	want := maps(t, cpu(t))
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		got := maps(t, dev)
		for k := range want {
			for i := range want[k] {
				if got[k][i] != want[k][i] {
					t.Fatalf("map %d, pixel %d: %#x, on the CPU %#x", k, i, got[k][i], want[k][i])
				}
			}
		}
	})
}
