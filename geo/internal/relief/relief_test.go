package relief

import (
	"math"
	"testing"
)

func TestShades(t *testing.T) {
	// A plane that rises by 1 to the east and falls by 2 to the south, with pixels of 1.
	const width, height = 5, 4
	heights := make([]float32, width*height)
	for i := range heights {
		heights[i] = float32(i%width - 2*(i/width))
	}
	l := NewLight(90, 30, 1)
	l.X, l.Y = 1, -1
	w := Window{Width: width, Height: height, Columns: width, Edges: true}
	for y := range height {
		for x := range width {
			n, ok := w.Neighbors(heights, x, y)
			if !ok {
				t.Fatalf("pixel %d, %d has no neighbors", x, y)
			}
			west, south := Slopes(&n)
			corner := (x == 0 || x == width-1) && (y == 0 || y == height-1)
			if !corner && (y > 0 && y < height-1 || x > 0 && x < width-1) && (west != -8 || south != -16) {
				t.Errorf("pixel %d, %d: slopes %v %v", x, y, west, south)
			}
		}
	}
	n, _ := w.Neighbors(heights, 2, 1)
	west, south := Slopes(&n)
	// The normal is (-1, -2, 1) with y to the north; the light comes from (cos 30, 0, sin 30).
	want := 1 + 254*max(0, (-math.Cos(math.Pi/6)+0.5)/math.Sqrt(6))
	if got := l.Shade(west, south); math.Abs(float64(got)-want) > 0.5 {
		t.Errorf("brightness %d, want %v", got, want)
	}
	if got := l.Shade(0, 0); got != 128 {
		t.Errorf("level ground has %d, want 254 sin 30 + 1", got)
	}
}

func TestNeighborsWithoutData(t *testing.T) {
	heights := []float32{1, 2, 3, 4, 5, float32(math.NaN()), 7, 8, 9}
	w := Window{Width: 3, Height: 3, Columns: 3}
	if _, ok := w.Neighbors(heights, 1, 1); ok {
		t.Error("a neighbor without data counts")
	}
	w.Edges = true
	if n, ok := w.Neighbors(heights, 1, 1); !ok || n != [9]float64{1, 2, 3, 4, 5, 5, 7, 8, 9} {
		t.Errorf("%v %v", n, ok)
	}
	if _, ok := w.Neighbors(heights, 2, 1); ok {
		t.Error("a pixel without data has neighbors")
	}
}
