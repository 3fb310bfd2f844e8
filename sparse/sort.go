package sparse

import (
	"math/bits"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// A stable radix sort of numbers by keys: 8 bits per pass, from the lowest on. A pass
// counts the digits of each tile, adds the counts up in the order of digits and tiles,
// and moves the keys of each tile.

const (
	digits      = 256
	tileThreads = 256
	tileKeys    = 8 * tileThreads
)

//quern:kernel block=tileThreads
func countTiles(t kernel.Thread, shift uint, keys, counts []int32) {
	count := kernel.Shared[[digits]int32](t)
	count[t.ThreadIdx.X] = 0
	t.Sync()
	for k := range tileKeys / tileThreads {
		if i := t.BlockIdx.X*tileKeys + k*tileThreads + t.ThreadIdx.X; i < len(keys) {
			kernel.AtomicAdd(&count[uint32(keys[i])>>shift&(digits-1)], 1, kernel.BlockScope)
		}
	}
	t.Sync()
	counts[t.ThreadIdx.X*t.GridDim.X+t.BlockIdx.X] = count[t.ThreadIdx.X]
}

//quern:kernel block=tileThreads
func moveTiles(t kernel.Thread, shift uint, keys, numbers, counts, keysOut, numbersOut []int32) {
	base := kernel.Shared[[digits]int32](t)
	warps := kernel.Shared[[tileThreads / 32][digits]int32](t)
	x := t.ThreadIdx.X
	base[x] = counts[x*t.GridDim.X+t.BlockIdx.X]
	for k := range tileKeys / tileThreads {
		for w := range tileThreads / 32 {
			warps[w][x] = 0
		}
		t.Sync()
		i := t.BlockIdx.X*tileKeys + k*tileThreads + x
		digit, key := int32(digits), int32(0)
		if i < len(keys) {
			key = keys[i]
			digit = int32(uint32(key) >> shift & (digits - 1))
		}
		same := kernel.MatchAny(t, digit)
		rank := int32(bits.OnesCount32(same & (1<<t.Lane() - 1)))
		if rank == 0 && digit < digits {
			warps[t.Warp()][digit] = int32(bits.OnesCount32(same))
		}
		t.Sync()
		at := base[x]
		for w := range tileThreads / 32 {
			n := warps[w][x]
			warps[w][x] = at
			at += n
		}
		base[x] = at
		t.Sync()
		if digit < digits {
			to := int(warps[t.Warp()][digit] + rank)
			keysOut[to] = key
			numbersOut[to] = numbers[i]
		}
		t.Sync()
	}
}

// countParts and moveParts are the same for CPUs: a thread has a part of the keys.
//
//quern:kernel
func countParts(t kernel.Thread, shift uint, part int, keys, counts []int32) {
	var count [digits]int32
	p := t.BlockIdx.X
	for i := p * part; i < (p+1)*part && i < len(keys); i++ {
		count[uint32(keys[i])>>shift&(digits-1)]++
	}
	for d := range digits {
		counts[d*t.GridDim.X+p] = count[d]
	}
}

//quern:kernel
func moveParts(t kernel.Thread, shift uint, part int, keys, numbers, counts, keysOut, numbersOut []int32) {
	var at [digits]int32
	p := t.BlockIdx.X
	for d := range digits {
		at[d] = counts[d*t.GridDim.X+p]
	}
	for i := p * part; i < (p+1)*part && i < len(keys); i++ {
		d := uint32(keys[i]) >> shift & (digits - 1)
		to := int(at[d])
		at[d]++
		keysOut[to] = keys[i]
		numbersOut[to] = numbers[i]
	}
}

// scanThreads sums up to scanThreads*scanItems numbers at a time.
const (
	scanThreads = 256
	scanItems   = 8
	scanTile    = scanThreads * scanItems
)

// totals adds up the numbers of each tile.
//
//quern:kernel block=scanThreads
func totals(t kernel.Thread, x, sums []int32) {
	partial := kernel.Shared[[scanThreads / 32]int32](t)
	sum := int32(0)
	for k := range scanItems {
		if i := t.BlockIdx.X*scanTile + k*scanThreads + t.ThreadIdx.X; i < len(x) {
			sum += x[i]
		}
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		partial[t.Warp()] = sum
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		sum = 0
		for _, p := range partial {
			sum += p
		}
		sums[t.BlockIdx.X] = sum
	}
}

// scan replaces each number by the sum of those before it. A block does one tile after
// the other if there is only one block; otherwise block b does tile b, and before[b] is
// the sum of the numbers before it.
//
//quern:kernel block=scanThreads
func scan(t kernel.Thread, tiles int, x, before []int32) {
	warps := kernel.Shared[[scanThreads / 32]int32](t)
	carry := int32(0)
	if t.BlockIdx.X < len(before) {
		carry = before[t.BlockIdx.X]
	}
	for tile := range tiles {
		at := (t.BlockIdx.X+tile)*scanTile + t.ThreadIdx.X*scanItems
		var items [scanItems]int32
		sum := int32(0)
		for k := range scanItems {
			if at+k < len(x) {
				items[k] = x[at+k]
			}
			sum += items[k]
		}
		prefix := kernel.WarpScanExclusiveAdd(t, sum)
		if t.Lane() == 31 {
			warps[t.Warp()] = prefix + sum
		}
		t.Sync()
		total := int32(0)
		for w, s := range warps {
			if w < t.Warp() {
				prefix += s
			}
			total += s
		}
		prefix += carry
		for k := range scanItems {
			if at+k < len(x) {
				x[at+k] = prefix
			}
			prefix += items[k]
		}
		carry += total
		t.Sync()
	}
}

// scanAll is scan for CPUs.
//
//quern:kernel
func scanAll(t kernel.Thread, x []int32) {
	if t.Global() > 0 {
		return
	}
	sum := int32(0)
	for i := range x {
		v := x[i]
		x[i] = sum
		sum += v
	}
}

// scanning replaces each of n numbers by the sum of those before it.
type scanning struct{ sums *gpu.Buffer[int32] } // of the tiles

func takeScanning(scratch *gpu.Scratch, n int) scanning {
	return scanning{gpu.Take[int32](scratch, (n+scanTile-1)/scanTile)}
}

func (r *scanning) run(s *gpu.Stream, x *gpu.Buffer[int32]) error {
	if s.Device().Backend() == gpu.CPU {
		return LaunchScanAll(s, gpu.Linear(1), x)
	}
	scans := r.sums.Len()
	if err := LaunchTotals(s, gpu.Linear(scans*scanThreads), x, r.sums); err != nil {
		return err
	}
	if err := LaunchScan(s, gpu.Linear(scanThreads), (scans+scanTile-1)/scanTile, r.sums, r.sums.Slice(0, 0)); err != nil {
		return err
	}
	return LaunchScan(s, gpu.Linear(scans*scanThreads), 1, x, r.sums)
}

// enumerate numbers the elements of x.
//
//quern:kernel
func enumerate(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x) {
		x[i] = int32(i)
	}
}

// sorting sorts the numbers of keys, which are from 0 to limit-1, by the keys. Numbers
// of equal keys stay in order.
type sorting struct {
	n, passes, tiles, part int
	cpu                    bool
	keys, numbers          [2]*gpu.Buffer[int32]
	counts                 *gpu.Buffer[int32]
	scanning               scanning
}

// passesFor returns the passes for keys below limit.
func passesFor(limit int) int { return (bits.Len(uint(max(limit, 1)-1)) + 7) / 8 }

func takeSorting(scratch *gpu.Scratch, backend gpu.Backend, n, limit int) sorting {
	r := sorting{n: n, passes: passesFor(limit), cpu: backend == gpu.CPU, part: tileKeys}
	if r.cpu {
		r.part = max(1<<14, (n+31)/32)
	}
	r.tiles = (n + r.part - 1) / r.part
	for k := range 2 {
		r.keys[k], r.numbers[k] = gpu.Take[int32](scratch, n), gpu.Take[int32](scratch, n)
	}
	r.counts = gpu.Take[int32](scratch, digits*r.tiles)
	r.scanning = takeScanning(scratch, digits*r.tiles)
	return r
}

// run returns the sorted keys and their numbers.
func (r *sorting) run(s *gpu.Stream, keys *gpu.Buffer[int32]) (sorted, numbers *gpu.Buffer[int32], err error) {
	if r.n == 0 {
		return keys, r.numbers[0], nil
	}
	if err := LaunchEnumerate(s, gpu.Linear(r.n), r.numbers[0]); err != nil {
		return nil, nil, err
	}
	return r.order(s, keys)
}

// runAgain sorts the numbers that run has returned by other keys, which are below limit. Element
// i of keys is that of the number in place i. Numbers of equal keys stay in order.
func (r *sorting) runAgain(s *gpu.Stream, keys *gpu.Buffer[int32], limit int) (sorted, numbers *gpu.Buffer[int32], err error) {
	if r.passes%2 == 1 {
		r.numbers[0], r.numbers[1] = r.numbers[1], r.numbers[0]
	}
	r.passes = passesFor(limit)
	return r.order(s, keys)
}

func (r *sorting) order(s *gpu.Stream, keys *gpu.Buffer[int32]) (sorted, numbers *gpu.Buffer[int32], err error) {
	from, numbers := keys, r.numbers[0]
	for pass := range r.passes {
		to, toNumbers := r.keys[pass%2], r.numbers[(pass+1)%2]
		if err := r.pass(s, uint(8*pass), from, numbers, to, toNumbers); err != nil {
			return nil, nil, err
		}
		from, numbers = to, toNumbers
	}
	return from, numbers, nil
}

func (r *sorting) pass(s *gpu.Stream, shift uint, keys, numbers, keysOut, numbersOut *gpu.Buffer[int32]) error {
	g := gpu.Blocks(gpu.Dim3{X: r.tiles}, gpu.Dim3{X: tileThreads})
	if r.cpu {
		g = gpu.Blocks(gpu.Dim3{X: r.tiles}, gpu.Dim3{X: 1})
		if err := LaunchCountParts(s, g, shift, r.part, keys, r.counts); err != nil {
			return err
		}
		if err := r.scanning.run(s, r.counts); err != nil {
			return err
		}
		return LaunchMoveParts(s, g, shift, r.part, keys, numbers, r.counts, keysOut, numbersOut)
	}
	if err := LaunchCountTiles(s, g, shift, keys, r.counts); err != nil {
		return err
	}
	if err := r.scanning.run(s, r.counts); err != nil {
		return err
	}
	return LaunchMoveTiles(s, g, shift, keys, numbers, r.counts, keysOut, numbersOut)
}
