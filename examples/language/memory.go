package language

import "quern.dev/kernel"

// tileSide is the width and height of transpose's tiles and blocks.
const tileSide = 32

// transpose writes the transpose of a matrix of h rows and w columns. A tile in
// shared memory makes reads and writes coalesced; its odd width spreads its
// columns over the banks.
//
//quern:kernel block=tileSide,tileSide
func transpose(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[tileSide][tileSide + 1]float32](t)
	x, y := t.Global2()
	if x < w && y < h {
		tile[t.ThreadIdx.Y][t.ThreadIdx.X] = in[y*w+x]
	}
	t.Sync()
	x, y = t.BlockIdx.Y*tileSide+t.ThreadIdx.X, t.BlockIdx.X*tileSide+t.ThreadIdx.Y
	if x < h && y < w {
		out[y*h+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y]
	}
}

// histogram counts the values of x modulo the number of bins, which is the
// length of out. Each block counts in dynamic shared memory first.
//
//quern:kernel
func histogram(t kernel.Thread, x []uint8, out []uint32) {
	bins := kernel.Dynamic[uint32](t)
	for i := t.ThreadIdx.X; i < len(bins); i += t.BlockDim.X {
		bins[i] = 0
	}
	t.Sync()
	for i := t.Global(); i < len(x); i += t.Stride() {
		kernel.AtomicAdd(&bins[int(x[i])%len(bins)], 1, kernel.BlockScope)
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < len(bins); i += t.BlockDim.X {
		kernel.AtomicAdd(&out[i], bins[i])
	}
}

// extent finds the smallest and the largest element of x.
//
//quern:kernel
func extent(t kernel.Thread, x []float32, low, high []float32) {
	if i := t.Global(); i < len(x) {
		kernel.AtomicMin(&low[0], x[i])
		kernel.AtomicMax(&high[0], x[i])
	}
}

// mark sets the bit of each value of x in a set of bits, clears it in another,
// and flips it in a third.
//
//quern:kernel
func mark(t kernel.Thread, x []uint16, set, left, odd []uint32) {
	if i := t.Global(); i < len(x) {
		word, bit := x[i]/32, uint32(1)<<(x[i]%32)
		kernel.AtomicOr(&set[word], bit)
		kernel.AtomicAnd(&left[word], ^bit)
		kernel.AtomicXor(&odd[word], bit)
	}
}

// insert puts nonzero keys into a hash table, in which 0 marks a free slot. newest
// and previous link the threads' indices in a list, newest first.
//
//quern:kernel
func insert(t kernel.Thread, keys, table []uint32, newest []int32, previous []int32) {
	i := t.Global()
	if i >= len(keys) {
		return
	}
	n := uint32(len(table))
	at := keys[i] * 2654435769 % n
	for {
		old := kernel.AtomicCompareAndSwap(&table[at], 0, keys[i])
		if old == 0 || old == keys[i] {
			break
		}
		at = (at + 1) % n
	}
	previous[i] = kernel.AtomicExchange(&newest[0], int32(i))
}

// take decrements the stock; a thread gets an item if the stock was positive.
//
//quern:kernel
func take(t kernel.Thread, stock []int32, got []bool) {
	if i := t.Global(); i < len(got) {
		got[i] = kernel.AtomicSub(&stock[0], 1) > 0
	}
}

// relay computes running sums over blocks: each block takes a number, waits for
// the sum of the block with the previous number, and publishes its own.
//
//quern:kernel
func relay(t kernel.Thread, x, sums []int64, ready, ticket []uint32) {
	if t.ThreadIdx.X > 0 {
		return
	}
	n := int(kernel.AtomicAdd(&ticket[0], 1))
	sum := x[n]
	if n > 0 {
		for kernel.LoadAcquire(&ready[n-1]) == 0 {
		}
		sum += sums[n-1]
	}
	sums[n] = sum
	kernel.StoreRelease(&ready[n], 1)
}

// total adds up x. The last block to finish adds up the sums of all blocks.
//
//quern:kernel block=128
func total(t kernel.Thread, x, partial []float64, done []uint32, out []float64) {
	sum := kernel.Shared[[128]float64](t)
	last := kernel.Shared[bool](t)
	i := t.ThreadIdx.X
	sum[i] = 0
	for k := t.Global(); k < len(x); k += t.Stride() {
		sum[i] += x[k]
	}
	t.Sync()
	if i == 0 {
		s := 0.0
		for _, v := range sum {
			s += v
		}
		partial[t.BlockIdx.X] = s
		kernel.Fence()
		*last = kernel.AtomicAdd(&done[0], 1) == uint32(t.GridDim.X-1)
		kernel.Fence()
	}
	t.Sync()
	if *last && i == 0 {
		s := 0.0
		for b := range t.GridDim.X {
			s += partial[b]
		}
		out[0] = s
	}
}

// spread lets the first block set a flag that the others read. Which of them see
// it is unspecified.
//
//quern:kernel
func spread(t kernel.Thread, flag []uint32, saw []bool) {
	if i := t.Global(); i < len(saw) {
		if t.BlockIdx.X == 0 {
			kernel.StoreRelaxed(&flag[0], 1)
		}
		saw[i] = kernel.LoadRelaxed(&flag[0]) == 1
	}
}

// rows adds up each row of a matrix of 256 columns. A block adds up one row while
// the next one is in flight.
//
//quern:kernel block=64
func rows(t kernel.Thread, a []float32, out []float32) {
	row := kernel.Shared[[2][256]float32](t)
	i, n := t.ThreadIdx.X, len(a)/256
	if y := t.BlockIdx.X; y < n {
		kernel.AsyncCopy(t, (*[4]float32)(row[0][4*i:]), (*[4]float32)(a[y*256+4*i:]))
	}
	kernel.AsyncCommit(t)
	stage := 0
	for y := t.BlockIdx.X; y < n; y += t.GridDim.X {
		if next := y + t.GridDim.X; next < n {
			kernel.AsyncCopy(t, (*[4]float32)(row[1-stage][4*i:]), (*[4]float32)(a[next*256+4*i:]))
		}
		kernel.AsyncCommit(t)
		kernel.AsyncWait(t, 1) // all groups but the newest
		t.Sync()
		if i == 0 {
			sum := float32(0)
			for _, v := range row[stage] {
				sum += v
			}
			out[y] = sum
		}
		t.Sync()
		stage = 1 - stage
	}
}

// blur averages each element with its neighbors. Each block copies its part of x
// with a margin.
//
//quern:kernel block=256
func blur(t kernel.Thread, x, out []float32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	part := kernel.Shared[[264]float32](t)
	first := max(t.BlockIdx.X*256-4, 0)
	kernel.BulkCopy(t, arrived, part[:], x[first:])
	kernel.BulkWait(t, arrived)
	if i := t.Global(); i > 0 && i < len(x)-1 {
		at := i - first
		out[i] = (part[at-1] + part[at] + part[at+1]) / 3
	}
}

// timed measures how long a thread takes for n steps, in clock cycles and in
// nanoseconds.
//
//quern:kernel
func timed(t kernel.Thread, n int, x []float32, cycles, nanoseconds []int64) {
	i := t.Global()
	start, begin := kernel.Clock(), kernel.GlobalTimer()
	v := x[i]
	for range n {
		v = kernel.Sqrt(v + 1)
	}
	x[i] = v
	cycles[i] = kernel.Clock() - start
	nanoseconds[i] = kernel.GlobalTimer() - begin
}
