package template

import "quern.dev/kernel"

// sides counts elements below and equal to a limit.
type sides = struct{ Below, Equal uint32 }

func addSides(a, b sides) sides { return sides{a.Below + b.Below, a.Equal + b.Equal} }

// KeepFirst copies the elements of in that are below a limit, and the first equals elements that
// are equal to it, to kept, in their order, and their positions to index. compare returns a
// negative number for an element below the limit, and 0 for one that is equal to it. The grid has
// one block per tile. It is for kernels.
//
//quern:unchecked
func KeepFirst[T any](t kernel.Thread, compare func(x T) int32, equals uint32, in, kept []T, index []uint32, status []uint64) {
	tile := nextTile(t, status)
	v := loadTile(t, tile, rows, in)
	base := tile*Tile + Vector*t.ThreadIdx.X
	var below, equal [rows]uint32
	var sum [wideRows]sides
	for r := range rows {
		for k := range Vector {
			if base+r*Threads*Vector+k < len(in) {
				c := compare(v[r][k])
				if c < 0 {
					below[r] |= 1 << k
					sum[r].Below++
				}
				if c == 0 {
					equal[r] |= 1 << k
					sum[r].Equal++
				}
			}
		}
	}
	before := prefixes(t, addSides, tile, true, sides{}, status, rows, sum)
	for r := range rows {
		so := before[r]
		for k := range Vector {
			at := so.Below + min(so.Equal, equals)
			isBelow, isEqual := below[r]>>k&1 != 0, equal[r]>>k&1 != 0
			if isBelow || isEqual && so.Equal < equals {
				kept[at] = v[r][k]
				index[at] = uint32(base + r*Threads*Vector + k)
			}
			if isBelow {
				so.Below++
			}
			if isEqual {
				so.Equal++
			}
		}
	}
}
