package crs

import (
	"math"
	"testing"
)

func TestForwardAllIsForwardOfEachPointOnAllCores(t *testing.T) {
	tr, err := NewTransform(mustEPSG(t, 4326), mustEPSG(t, 2154))
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	lon, lat := make([]float64, n), make([]float64, n)
	for i := range n {
		lon[i], lat[i] = -180+360*float64(i)/n, -90.5+181*float64(i*7%n)/n
	}
	copy(x, lon)
	copy(y, lat)
	failed, err := tr.ForwardAll(x, y, z)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for i := range n {
		x1, y1, err := tr.Forward(lon[i], lat[i])
		if err != nil {
			count++
			if !math.IsNaN(x[i] + y[i]) {
				t.Fatalf("point %d: %v %v, but %v", i, x[i], y[i], err)
			}
		} else if x[i] != x1 || y[i] != y1 {
			t.Fatalf("point %d: %v %v, not %v %v", i, x[i], y[i], x1, y1)
		}
	}
	if failed != count || count == 0 {
		t.Errorf("%d points failed, %d one by one", failed, count)
	}
}

func TestForwardDoesNotAllocate(t *testing.T) {
	tr, err := NewTransform(mustEPSG(t, 27700), mustEPSG(t, 3857))
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { tr.Forward(400000, 300000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
