package profile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"quern.dev/gpu"
	"quern.dev/internal/ptxvm"
)

// Workload is work that runs on any device and whose time depends on a size.
type Workload struct {
	Name string
	// Prepare makes the data for a size on the device of a stream. Advise calls it for several
	// sizes and devices, among them the simulator.
	Prepare func(s *gpu.Stream, n int) (*Instance, error)
}

// Instance is a workload of one size on one device.
type Instance struct {
	// Launch submits the kernels. It is called several times, and must do the same work each
	// time.
	Launch func(s *gpu.Stream) error
	// In and Out are the sizes in bytes of the arrays that are copied to the device before the
	// work, and from it afterwards.
	In, Out []int64
	// Close frees the data; it may be nil.
	Close func() error
}

func (i *Instance) close() error {
	if i == nil || i.Close == nil {
		return nil
	}
	return i.Close()
}

// bytes returns the size of all arrays.
func (i *Instance) bytes() int64 {
	total := int64(0)
	for _, list := range [][]int64{i.In, i.Out} {
		for _, n := range list {
			total += n
		}
	}
	return total
}

// Work is what the kernels of a workload do, as the simulator has counted it on a sample of
// the blocks. All numbers are estimates for one run.
type Work struct {
	Launches float64 `json:"launches"`
	Blocks   float64 `json:"blocks"`
	Threads  float64 `json:"threads"`
	Warps    float64 `json:"warps"`

	// Operations by threads.
	Integers  float64 `json:"integers"` // and branches, conversions, votes
	Float32   float64 `json:"float32"`
	Float64   float64 `json:"float64"`
	Roots     float64 `json:"roots"`     // divisions and roots
	Functions float64 `json:"functions"` // exponentials, logarithms, sines
	Matrices  float64 `json:"matrices"`
	Shared    float64 `json:"shared"`  // accesses to shared memory, with atomics
	Local     float64 `json:"local"`   // accesses to local memory
	Global    float64 `json:"global"`  // accesses to global memory
	Atomics   float64 `json:"atomics"` // of global memory
	Barriers  float64 `json:"barriers"`

	Flops32 float64 `json:"flops32"` // a fused multiplication and addition is two
	Flops64 float64 `json:"flops64"`

	Issued        float64 `json:"issued"`        // instructions by warps, without memory accesses
	IssuedGlobal  float64 `json:"issuedGlobal"`  // accesses to global memory by warps
	IssuedShared  float64 `json:"issuedShared"`  // accesses to shared memory by warps
	IssuedBarrier float64 `json:"issuedBarrier"` // barriers by warps

	AccessedBytes float64 `json:"accessedBytes"` // of global memory, as asked for by threads
	SectorBytes   float64 `json:"sectorBytes"`   // the same in whole sectors of 32 bytes per warp
	ReadBytes     float64 `json:"readBytes"`     // of global memory, each byte once
	WrittenBytes  float64 `json:"writtenBytes"`

	// Scattered is the number of accesses to global memory that are near neither what the thread
	// before accesses nor what the thread itself last accessed there. ScatteredBytes is the sum over
	// them of the size of the array, or of the part of it that the kernel uses.
	Scattered      float64 `json:"scattered"`
	ScatteredBytes float64 `json:"scatteredBytes"`
}

// workOf converts the counts of the simulator.
func workOf(c ptxvm.Totals) Work {
	n, i := &c.Instructions, &c.Issued
	w := Work{
		Launches: c.Launches, Blocks: c.Blocks, Threads: c.Threads, Warps: c.Warps,
		Integers: n[ptxvm.Integers] + n[ptxvm.Conversions] + n[ptxvm.Branches] + n[ptxvm.Warps],
		Float32:  n[ptxvm.Floats], Float64: n[ptxvm.Doubles], Roots: n[ptxvm.Roots], Functions: n[ptxvm.Functions], Matrices: n[ptxvm.Matrices],
		Shared: n[ptxvm.Shareds], Local: n[ptxvm.Locals], Global: n[ptxvm.Globals], Atomics: n[ptxvm.Atomics], Barriers: n[ptxvm.Barriers],
		Flops32: c.Flops32, Flops64: c.Flops64,
		IssuedGlobal: i[ptxvm.Globals] + i[ptxvm.Atomics] + i[ptxvm.Locals], IssuedShared: i[ptxvm.Shareds], IssuedBarrier: i[ptxvm.Barriers],
		AccessedBytes: c.Bytes, SectorBytes: 32 * c.Sectors, ReadBytes: c.ReadBytes, WrittenBytes: c.WrittenBytes,
		Scattered: c.Scattered, ScatteredBytes: c.ScatteredBytes,
	}
	for _, class := range []ptxvm.Class{ptxvm.Integers, ptxvm.Conversions, ptxvm.Branches, ptxvm.Warps, ptxvm.Floats, ptxvm.Doubles, ptxvm.Roots, ptxvm.Functions, ptxvm.Matrices} {
		w.Issued += i[class]
	}
	return w
}

// memory returns the bytes of global memory that are read and written, each once.
func (w *Work) memory() float64 { return w.ReadBytes + w.WrittenBytes }

// fields returns all numbers.
func (w *Work) fields() []*float64 {
	return []*float64{
		&w.Launches, &w.Blocks, &w.Threads, &w.Warps, &w.Integers, &w.Float32, &w.Float64, &w.Roots, &w.Functions, &w.Matrices, &w.Shared, &w.Local,
		&w.Global, &w.Atomics, &w.Barriers, &w.Flops32, &w.Flops64, &w.Issued, &w.IssuedGlobal, &w.IssuedShared, &w.IssuedBarrier,
		&w.AccessedBytes, &w.SectorBytes, &w.ReadBytes, &w.WrittenBytes, &w.Scattered, &w.ScatteredBytes,
	}
}

// Limits of counting: blocks of a launch that run, or as many as have this number of threads if
// that takes few enough instructions; instructions of a launch, and bytes of data.
const (
	countBlocks  = 24
	countThreads = 1 << 17
	countSteps   = 1 << 24
	countBytes   = 128 << 20
)

// errTooLarge means that a size is too large for the simulator, errTooLong that it has too many
// instructions.
var (
	errTooLarge = errors.New("too large for the simulator")
	errTooLong  = fmt.Errorf("%w", errTooLarge)
)

// counted is a size whose work was counted.
type countedSize struct {
	n       int
	work    Work
	in, out []int64
}

// Count returns what the workload does at a size, from a run of a sample of its blocks in the
// simulator. It needs no GPU. If that takes too many instructions or too much memory, it counts
// up to three smaller sizes, and extrapolates.
func Count(ctx context.Context, w Workload, n int) (Work, error) {
	if n < 1 {
		return Work{}, fmt.Errorf("profile: count %s: size %d: want at least 1", w.Name, n)
	}
	list, err := countLadder(ctx, w, []int{n})
	if err != nil {
		return Work{}, fmt.Errorf("profile: count %s: %w", w.Name, err)
	}
	return at(list, n).work, nil
}

// count counts the work at a size, with as many blocks as the limit of instructions allows.
func count(ctx context.Context, w Workload, n int) (countedSize, error) {
	if w.Prepare == nil {
		return countedSize{}, errors.New("Workload.Prepare is nil")
	}
	c, err := countSample(ctx, w, n, countThreads)
	if errors.Is(err, errTooLong) {
		return countSample(ctx, w, n, 0)
	}
	return c, err
}

func countSample(ctx context.Context, w Workload, n, threads int) (c countedSize, err error) {
	counter := &ptxvm.Counter{Blocks: countBlocks, Threads: threads, Touched: true}
	dev, err := gpu.Open(gpu.Config{Device: "sim", Sim: gpu.SimOptions{Steps: countSteps, Counter: counter}})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	s := dev.DefaultStream()
	i, err := w.Prepare(s, n)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	if i.bytes() > countBytes {
		return c, errTooLarge
	}
	before := counter.Totals()
	err = i.Launch(s)
	if err == nil {
		err = s.Synchronize(ctx)
	}
	var fault *gpu.KernelError
	if errors.As(err, &fault) && fault.Kind == gpu.StepBudget {
		return c, errTooLong
	}
	if err != nil {
		return c, err
	}
	work, earlier := workOf(counter.Totals()), workOf(before)
	for at, to := range work.fields() {
		*to -= *earlier.fields()[at]
	}
	if work.Threads == 0 {
		return c, errors.New("the workload has launched no kernel")
	}
	return countedSize{n, work, slices.Clone(i.In), slices.Clone(i.Out)}, nil
}

// countLadder counts the work at those of the sizes that are small enough. If not all are, it
// counts smaller sizes too, until there are three. The result is in ascending order.
func countLadder(ctx context.Context, w Workload, sizes []int) ([]countedSize, error) {
	var list []countedSize
	for _, n := range slices.Sorted(slices.Values(sizes)) {
		c, err := count(ctx, w, n)
		if errors.Is(err, errTooLarge) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("count at size %d: %w", n, err)
		}
		list = append(list, c)
	}
	if len(list) == len(sizes) {
		return list, nil
	}
	for n := slices.Min(sizes) / apart; n >= 1 && len(list) < 3; n /= apart {
		c, err := count(ctx, w, n)
		if errors.Is(err, errTooLarge) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("count at size %d: %w", n, err)
		}
		list = slices.Insert(list, 0, c)
	}
	if len(list) < 2 {
		return nil, fmt.Errorf("%d of the sizes down to 1 can be counted, and 2 are needed for larger ones: %w, which runs at most %d instructions of a launch and holds %d MiB of arrays", len(list), errTooLarge, countSteps, countBytes>>20)
	}
	return list, nil
}

// apart is the least ratio of two sizes from which a power is computed, if there are such.
const apart = 4

// at returns the work at a size: as counted, or extrapolated from the two nearest counted sizes.
func at(list []countedSize, n int) countedSize {
	i, found := slices.BinarySearchFunc(list, n, func(c countedSize, n int) int { return c.n - n })
	if found {
		return list[i]
	}
	if len(list) == 1 {
		return list[0]
	}
	i = min(max(i, 1), len(list)-1)
	b := &list[i]
	// Sizes that are near each other say little about the growth.
	further := func(i int) int {
		from := list[i].n
		for i--; i > 0 && list[i].n > from/apart; i-- {
		}
		return i
	}
	i = further(i)
	a := &list[i]
	before := a // says which kind of growth it is, if it is another size
	if i > 0 {
		before = &list[further(i)]
	}
	number := func(of func(c *countedSize) float64) float64 {
		x, y := of(a), of(b)
		grows := growth{float64(a.n), float64(b.n), x, y}
		power, line := grows.power(float64(n)), grows.line(float64(n))
		if at, known := float64(before.n), of(before); before != a && math.Abs(grows.line(at)-known) < math.Abs(grows.power(at)-known) {
			return line
		}
		return power
	}
	out := countedSize{n: n}
	for f, z := range out.work.fields() {
		*z = number(func(c *countedSize) float64 { return *c.work.fields()[f] })
	}
	sizes := func(of func(c *countedSize) []int64) (list []int64) {
		for i := range of(b) {
			list = append(list, int64(number(func(c *countedSize) float64 {
				if l := of(c); i < len(l) {
					return float64(l[i])
				}
				return float64(of(b)[i])
			})))
		}
		return list
	}
	out.in = sizes(func(c *countedSize) []int64 { return c.in })
	out.out = sizes(func(c *countedSize) []int64 { return c.out })
	return out
}

// growth is a quantity that was x at size a, and y at size b.
type growth struct{ a, b, x, y float64 }

// power returns the quantity at a size if it is proportional to a power of the size.
func (g growth) power(n float64) float64 {
	if g.x <= 0 || g.y <= 0 {
		return g.y
	}
	return g.y * math.Pow(n/g.b, math.Log(g.y/g.x)/math.Log(g.b/g.a))
}

// line returns the quantity at a size if it has a part that is the same at all sizes, such as
// the end of a reduction in a grid of fixed size, and one that is proportional to the size.
func (g growth) line(n float64) float64 {
	return max(g.y+(g.y-g.x)/(g.b-g.a)*(n-g.b), 0)
}
