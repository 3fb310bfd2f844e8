package algo

import (
	"quern.dev/algo/internal/template"
	"quern.dev/kernel"
)

// keepFlagged copies the elements whose flag is not zero to kept, in their order.
//
//quern:kernel block=256 maxregs=64 only=gpu instantiate=uint8,uint16,uint32,uint64
func keepFlagged[T chunk](t kernel.Thread, flags []uint8, in, kept []T, count []int, status []uint64) {
	template.KeepFlagged(t, flags, in, kept, count, status)
}

// countFlags writes to before[p+1] how many flags of part p are set.
//
//quern:kernel only=cpu
func countFlags(t kernel.Thread, part int, flags []uint8, before []uint32) {
	template.CountParts(t, func(f uint8) bool { return f != 0 }, part, flags, before)
}

// keepFlaggedParts is keepFlagged for one thread per part.
//
//quern:kernel only=cpu instantiate=uint8,uint16,uint32,uint64
func keepFlaggedParts[T chunk](t kernel.Thread, part int, before []uint32, flags []uint8, in, kept []T) {
	p := t.Global()
	if p+1 >= len(before) {
		return
	}
	first, last := min(p*part, len(in)), min((p+1)*part, len(in))
	n := int(before[p])
	x := in[first:last]
	for i, f := range flags[first:last] {
		if f != 0 {
			kept[n] = x[i]
			n++
		}
	}
}

// placeCounts replaces the counts of parts by the sums of those before, and writes their sum to
// count[0].
//
//quern:kernel only=cpu
func placeCounts(t kernel.Thread, before []uint32, count []int) {
	if t.Global() > 0 {
		return
	}
	sum := uint32(0)
	before[0] = 0
	for i := 1; i < len(before); i++ {
		sum += before[i]
		before[i] = sum
	}
	count[0] = int(sum)
}
