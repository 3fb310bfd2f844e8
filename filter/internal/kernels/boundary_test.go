package kernels

import "testing"

// TestInside compares with the table of package filter's documentation.
func TestInside(t *testing.T) {
	for mode, want := range map[int][14]int{
		reflect:  {3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0},
		constant: {-1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1},
		nearest:  {0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3},
		mirror:   {1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2},
		wrap:     {3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0},
	} {
		for i, v := range want {
			if got := inside(mode, i-5, 4); got != v {
				t.Errorf("mode %d: position %d is pixel %d, want %d", mode, i-5, got, v)
			}
		}
	}
}
