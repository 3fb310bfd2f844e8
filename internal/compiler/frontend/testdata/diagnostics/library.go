package p

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"quern.dev/kernel"
)

//quern:kernel
func special(t kernel.Thread, x []float64) {
	x[0] = math.Gamma(x[0])
	x[1] = math.J0(x[0])
	x[2] = math.Jn(3, x[0])
	x[3] = math.Y1(x[0])
	x[4], _ = math.Lgamma(x[0])
	x[5] = math.Erfinv(x[0])
	x[6] = math.Float64frombits(bits.RotateLeft64(math.Float64bits(x[0]), 1))
	x[7], _ = math.Modf(x[0])
	x[8] = math.Nextafter(x[0], 1)
	x[9] = math.Remainder(x[0], 1)
	x[10] = math.Exp2(math.Log1p(math.Cbrt(x[0])))
}

//quern:kernel
func lists(t kernel.Thread, x []int) {
	slices.Sort(x)
	x[0] = slices.Index(x, 3)
	x[1] = slices.Max(x)
	slices.Reverse(x)
	x[2], _ = slices.BinarySearch(x, 3)
	x[3] = cmp.Compare(x[0], x[1])
	x = slices.Clone(x)
	slices.SortFunc(x, cmp.Compare[int])
}

//quern:kernel
func numbers(t kernel.Thread, x []int) {
	x[2] = utf8.RuneLen(rune(x[0]))
}
