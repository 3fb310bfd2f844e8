package kernels

import (
	"math/bits"

	"quern.dev/kernel"
)

// Connected components are sets of a union-find structure: labels[i] is a pixel of the same
// component with an index of at most i, the root of a component is its first pixel, and the
// label of the background is -1. Labels only become smaller, so threads may follow them
// while others change them.

// labelRuns initializes the labels: that of a pixel is the start of its run of foreground
// pixels within 32 columns.
//
// Unchecked, because the start of a run is at most 31 columns to the left, in the image.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func labelRuns[T kernel.Number](t kernel.Thread, w, h, stride int, src []T, labels []int32) {
	x, y := t.Global2()
	inside := x < w && y < h
	mask := kernel.Ballot(t, inside && src[min(y, h-1)*stride+min(x, w-1)] != 0)
	if !inside {
		return
	}
	lane := t.Lane()
	label := int32(-1)
	if mask>>lane&1 == 1 {
		gaps := ^mask & (1<<lane - 1)
		label = int32(y*w + x - lane + bits.Len32(gaps))
	}
	labels[y*w+x] = label
}

// root returns the root of the component of pixel i.
func root(labels []int32, i int32) int32 {
	for {
		next := kernel.LoadRelaxed(&labels[i])
		if next == i {
			return i
		}
		i = next
	}
}

// unite makes one component of two.
func unite(labels []int32, a, b int32) {
	for {
		a, b = root(labels, a), root(labels, b)
		if a == b {
			return
		}
		a, b = max(a, b), min(a, b)
		// If a is no root any more, its component and b's are still to be united.
		old := kernel.AtomicMin(&labels[a], b)
		if old == a {
			return
		}
		a = old
	}
}

// The neighbors that precede a pixel: left, above, above left, and above right.
var (
	neighborX = [4]int{-1, 0, -1, 1}
	neighborY = [4]int{0, -1, -1, -1}
)

// labelMerge unites the components of adjacent pixels, with 8 neighbors or 4. Neighbors that
// other pixels unite are left out.
//
// Unchecked, because neighbors are in the image.
//
//quern:kernel block=32x8 unchecked
func labelMerge(t kernel.Thread, eight bool, w, h int, labels []int32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	i := y*w + x
	if kernel.LoadRelaxed(&labels[i]) < 0 {
		return
	}
	neighbors := 0 // bit k stands for neighbor k
	//quern:nounroll
	for k := range 4 {
		u, v := x+neighborX[k], y+neighborY[k]
		if u >= 0 && u < w && v >= 0 && kernel.LoadRelaxed(&labels[v*w+u]) >= 0 {
			neighbors |= 1 << k
		}
	}
	const left, up, upLeft, upRight = 1, 2, 4, 8
	unites := 0
	if neighbors&left != 0 && x%32 == 0 {
		unites |= left
	}
	switch {
	case neighbors&up != 0:
		if neighbors&left == 0 || neighbors&upLeft == 0 || x%32 == 0 {
			unites |= up
		}
	case eight:
		// A neighbor to the right unites itself with the one above it.
		right := x+1 < w && kernel.LoadRelaxed(&labels[i+1]) >= 0
		if neighbors&upLeft != 0 && neighbors&left == 0 {
			unites |= upLeft
		}
		if neighbors&upRight != 0 && !right {
			unites |= upRight
		}
	}
	//quern:nounroll
	for k := range 4 {
		if unites>>k&1 == 0 {
			continue
		}
		unite(labels, int32(i), int32(i+neighborY[k]*w+neighborX[k]))
	}
}

// labelFlatten lets the labels of all pixels be the roots, and counts the roots among the
// pixels of each block.
//
// Unchecked, because labels are pixels.
//
//quern:kernel block=256 unchecked
func labelFlatten(t kernel.Thread, labels, counts []int32) {
	sums := kernel.Shared[[8]int32](t)
	i := t.Global()
	var own int32
	if i < len(labels) {
		if label := kernel.LoadRelaxed(&labels[i]); label >= 0 {
			r := root(labels, label)
			kernel.StoreRelaxed(&labels[i], r)
			if int(r) == i {
				own = 1
			}
		}
	}
	total := scanBlock(t, sums, own)
	if t.ThreadIdx.X == 255 {
		counts[t.BlockIdx.X] = total
	}
}

// scanBlock returns the sum of the values of the threads up to this one, in a block of 256.
func scanBlock(t kernel.Thread, sums *[8]int32, v int32) int32 {
	v = kernel.WarpScanAdd(t, v)
	t.Sync()
	if t.Lane() == 31 {
		sums[t.Warp()] = v
	}
	t.Sync()
	for k, s := range sums {
		if k < t.Warp() {
			v += s
		}
	}
	return v
}

// labelBases replaces counts by the sums of those before, and writes their total.
//
//quern:kernel block=256
func labelBases(t kernel.Thread, counts, total []int32) {
	sums := kernel.Shared[[8]int32](t)
	last := kernel.Shared[int32](t)
	base := int32(0)
	for at := 0; at < len(counts); at += 256 {
		i := at + t.ThreadIdx.X
		v := int32(0)
		if i < len(counts) {
			v = counts[i]
		}
		sum := scanBlock(t, sums, v)
		if i < len(counts) {
			counts[i] = base + sum - v
		}
		if t.ThreadIdx.X == 255 {
			*last = sum
		}
		t.Sync()
		base += *last
		t.Sync()
	}
	if t.ThreadIdx.X == 0 && len(total) > 0 {
		total[0] = base
	}
}

// labelNumber numbers the roots, from 1 on.
//
//quern:kernel block=256
func labelNumber(t kernel.Thread, labels, bases, numbers []int32) {
	sums := kernel.Shared[[8]int32](t)
	i := t.Global()
	own := int32(0)
	if i < len(labels) && int(labels[i]) == i {
		own = 1
	}
	sum := scanBlock(t, sums, own)
	if own == 1 && i < len(numbers) {
		numbers[i] = bases[t.BlockIdx.X] + sum
	}
}

// labelWrite replaces the labels by the numbers of the roots, and -1 by 0.
//
//quern:kernel
func labelWrite(t kernel.Thread, labels, numbers []int32) {
	i := t.Global()
	if i >= len(labels) {
		return
	}
	number := int32(0)
	if r := labels[i]; r >= 0 {
		number = numbers[r]
	}
	labels[i] = number
}
