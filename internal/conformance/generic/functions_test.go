package generic

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

func TestFunctionValuesMatchPlainGo(t *testing.T) {
	integers := func(n int) []int32 {
		x := make([]int32, n)
		for i := range x {
			x[i] = int32(i*37%211) - 50
		}
		return x
	}
	roots := make([]int32, 70) // of squares, so that square roots are exact
	for i := range roots {
		roots[i] = int32(i)
	}
	halfSorted := integers(160)
	slices.Sort(halfSorted[80:])
	for _, c := range []struct {
		name   string
		x      []int32
		plain  func(t kernel.Thread, x []int32)
		launch func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int32]) error
	}{
		{"literals capture variables by reference", integers(150), literals, LaunchLiterals},
		{"functions are passed through several levels", roots, passed, LaunchPassed},
		{"functions are returned", integers(150), returned, LaunchReturned},
		{"method values bind their receivers", integers(150), methods, LaunchMethods},
		{"literals are passed to the standard library", halfSorted, searches, LaunchSearches},
		{"functions with barriers", integers(192), together, LaunchTogether},
		{"functions in conditions, loops and literals", integers(192), corners, LaunchCorners},
		{"functions that write through pointers", integers(192), pointers, LaunchPointers},
		{"functions with warp operations", integers(192), shuffled, LaunchShuffled},
		{"functions that compile to instructions", integers(150), instructions, LaunchInstructions},
		{"functions of a type parameter", integers(150), mapped[int32], LaunchMapped[int32]},
	} {
		t.Run(c.name, func(t *testing.T) {
			agree(t, dim(3), dim(64), c.x, c.plain, c.launch)
		})
	}
}
