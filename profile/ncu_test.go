package profile_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quern.dev/algo"
	"quern.dev/blas"
	"quern.dev/gpu"
	"quern.dev/profile"
	"quern.dev/profile/internal/kernels"
)

// underNsight is set in the process that Nsight Compute measures.
const underNsight = "QUERN_TEST_NCU"

// fiveWorks launches work of five kinds, n times each.
func fiveWorks(t *testing.T, d *gpu.Device, n int) {
	t.Helper()
	s := d.DefaultStream()
	const size = 1 << 26
	const edge = 2048
	x, err := gpu.Upload(s, make([]float32, size))
	check(t, err)
	defer x.Close()
	y, err := gpu.Alloc[float32](d, size)
	check(t, err)
	defer y.Close()
	sum, err := gpu.Alloc[float32](d, 1)
	check(t, err)
	defer sum.Close()
	keys, err := gpu.Upload(s, make([]uint32, 1<<24))
	check(t, err)
	defer keys.Close()
	m := func(b *gpu.Buffer[float32]) blas.General[float32] {
		return blas.General[float32]{Data: b, Rows: edge, Cols: edge, Stride: edge}
	}
	for _, work := range []func() error{
		func() error { return kernels.LaunchSpin(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), 200_000) },
		func() error { return algo.Reduce(s, algo.Sum[float32](), sum, x) },
		func() error { return algo.Scan(s, algo.Sum[float32](), y, x) },
		func() error { return algo.Sort(s, keys) },
		func() error { return blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, m(x), m(x), 0, m(y)) },
	} {
		for range n {
			check(t, work())
		}
		check(t, s.Synchronize(t.Context()))
	}
}

// TestKernelTimesAgreeWithNsightCompute measures the same launches twice: with a recording, and
// in another process with ncu. Kernels of less than 10 us are left out: ncu serializes them.
func TestKernelTimesAgreeWithNsightCompute(t *testing.T) {
	const n = 7
	if os.Getenv(underNsight) != "" {
		fiveWorks(t, openCUDA(t), n)
		return
	}
	nsightPath(t)
	d := openCUDA(t)
	fiveWorks(t, d, 1) // loads the kernels
	r, err := profile.Start(profile.Config{All: true})
	check(t, err)
	fiveWorks(t, d, n)
	check(t, r.Stop())
	var ours []profile.Event
	for e := range r.Events() {
		if e.OnDevice && e.Kind == profile.Kernel {
			ours = append(ours, e)
		}
	}
	slices.SortFunc(ours, func(a, b profile.Event) int { return a.Start.Compare(b.Start) })

	var theirs []float64
	out := nsight(t, "gpu__time_duration.sum")
	for _, k := range out {
		theirs = append(theirs, k.values["gpu__time_duration.sum"])
	}
	if len(theirs) != len(ours) {
		t.Fatalf("a recording has %d kernels, ncu %d: %v", len(ours), len(theirs), out)
	}
	names, times := []string{}, map[string][2][]float64{}
	for i, e := range ours {
		if times[e.Name][0] == nil {
			names = append(names, e.Name)
		}
		v := times[e.Name]
		times[e.Name] = [2][]float64{append(v[0], float64(e.Duration)), append(v[1], theirs[i])}
	}
	compared := 0
	for _, name := range names {
		a, b := median(times[name][0]), median(times[name][1])
		t.Logf("%-24s %4d times: %9.2f us, ncu %9.2f us, %+.1f %%", name, len(times[name][0]), a/1e3, b/1e3, 100*(a/b-1))
		if b < float64(10*time.Microsecond) {
			continue
		}
		compared++
		if math.Abs(a/b-1) > 0.05 {
			t.Errorf("%s: %.2f us, ncu says %.2f us", name, a/1e3, b/1e3)
		}
	}
	if compared < 5 {
		t.Errorf("%d kernels of at least 10 us were compared, want 5", compared)
	}
	t.Log(r.Source())
}

// nsightPath returns the path of ncu, or skips the test.
func nsightPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("ncu")
	if err != nil {
		t.Skip("no Nsight Compute: ncu is not on PATH")
	}
	return path
}

// nsightKernel is what ncu says about a launch.
type nsightKernel struct {
	name   string
	values map[string]float64 // by metric, in bytes and nanoseconds
}

// nsight runs the calling test in another process with ncu, and returns the launches in their
// order.
func nsight(t *testing.T, metrics ...string) []nsightKernel {
	t.Helper()
	run := exec.Command(nsightPath(t), "--metrics", strings.Join(metrics, ","), "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
		os.Args[0], "-test.run=^"+t.Name()+"$")
	run.Env = append(os.Environ(), underNsight+"=1")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Skipf("ncu cannot measure here: %v\n%s", err, out)
	}
	list, err := nsightTable(out)
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return list
}

// nsightTable reads the table that ncu prints: a row for each launch and metric.
func nsightTable(out []byte) (list []nsightKernel, err error) {
	at := bytes.Index(out, []byte("\"ID\""))
	if at < 0 {
		return nil, errors.New("ncu printed no table")
	}
	table := csv.NewReader(bytes.NewReader(out[at:]))
	table.FieldsPerRecord, table.LazyQuotes = -1, true
	rows, err := table.ReadAll()
	if err != nil {
		return nil, err
	}
	var column [4]int
	for i, name := range []string{"ID", "Kernel Name", "Metric Name", "Metric Value"} {
		if column[i] = slices.Index(rows[0], name); column[i] < 0 {
			return nil, fmt.Errorf("the table has no column %q", name)
		}
	}
	last := ""
	for _, row := range rows[1:] {
		if len(row) < len(rows[0]) {
			continue // what the program prints at its end
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[column[3]], ",", ""), 64)
		if err != nil {
			return nil, err
		}
		if id := row[column[0]]; len(list) == 0 || id != last {
			list, last = append(list, nsightKernel{row[column[1]], map[string]float64{}}), id
		}
		list[len(list)-1].values[row[column[2]]] = v
	}
	return list, nil
}

func TestTheTableOfNsightComputeIsRead(t *testing.T) {
	list, err := nsightTable([]byte(`==PROF== Connected
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","add","dram__bytes_read.sum","byte","1,024"
"0","7","add","gpu__time_duration.sum","ns","2,500.5"
"1","7","mul","gpu__time_duration.sum","ns","3"
PASS
`))
	if err != nil || len(list) != 2 || list[0].name != "add" || list[0].values["dram__bytes_read.sum"] != 1024 || list[0].values["gpu__time_duration.sum"] != 2500.5 || list[1].values["gpu__time_duration.sum"] != 3 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := nsightTable([]byte("==ERROR== ERR_NVGPUCTRPERM")); err == nil {
		t.Error("an error of ncu is a table")
	}
}

// roofWork is a workload whose position in the roofline model is compared.
type roofWork struct {
	profile.Workload
	n int
	// streams: the arrays are much larger than the L2 cache and each byte moves once, so ncu
	// counts the same bytes in DRAM.
	streams bool
}

const dotBlocks = 1056

// roofWorks returns workloads that are bound by memory, and by operations.
func roofWorks() []roofWork {
	stream := func(name string, launch func(s *gpu.Stream, n int, a, b, c *gpu.Buffer[float64]) error) roofWork {
		return roofWork{profile.Workload{Name: name, Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
			x, err := gpu.Alloc[float64](s.Device(), 3*n)
			if err != nil {
				return nil, err
			}
			return &profile.Instance{
				Launch: func(s *gpu.Stream) error { return launch(s, n, x.Slice(0, n), x.Slice(n, 2*n), x.Slice(2*n, 3*n)) },
				In:     []int64{24 * int64(n)}, Close: x.Close,
			}, gpu.Fill(s, x, 1)
		}}, 1 << 27, true}
	}
	// steps is the workload of n steps of operations in registers.
	steps := func(name string, launch func(s *gpu.Stream, g gpu.Grid, n int, a *gpu.Buffer[float32], b *gpu.Buffer[float64]) error) roofWork {
		return roofWork{profile.Workload{Name: name, Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
			a, err := gpu.Alloc[float32](s.Device(), 1)
			if err != nil {
				return nil, err
			}
			b, err := gpu.Alloc[float64](s.Device(), 1)
			if err != nil {
				return nil, errors.Join(err, a.Close())
			}
			return &profile.Instance{
				Launch: func(s *gpu.Stream) error {
					return launch(s, gpu.Blocks(gpu.Dim3{X: 132 * 16}, gpu.Dim3{X: 256}), n, a, b)
				},
				Close: func() error { return errors.Join(a.Close(), b.Close()) },
			}, nil
		}}, 256, false}
	}
	return []roofWork{
		stream("mul", func(s *gpu.Stream, n int, a, b, c *gpu.Buffer[float64]) error {
			return kernels.LaunchStreamMul(s, gpu.Linear(n), b, c)
		}),
		stream("add", func(s *gpu.Stream, n int, a, b, c *gpu.Buffer[float64]) error {
			return kernels.LaunchStreamAdd(s, gpu.Linear(n), a, b, c)
		}),
		stream("triad", func(s *gpu.Stream, n int, a, b, c *gpu.Buffer[float64]) error {
			return kernels.LaunchStreamTriad(s, gpu.Linear(n), a, b, c)
		}),
		stream("dot", func(s *gpu.Stream, n int, a, b, c *gpu.Buffer[float64]) error {
			return kernels.LaunchStreamDot(s, gpu.Blocks(gpu.Dim3{X: dotBlocks}, gpu.Dim3{X: kernels.DotThreads}), a, b, c.Slice(0, dotBlocks))
		}),
		{profile.Workload{Name: "sum", Prepare: func(s *gpu.Stream, n int) (*profile.Instance, error) {
			x, err := gpu.Alloc[float32](s.Device(), n+1)
			if err != nil {
				return nil, err
			}
			return &profile.Instance{
				Launch: func(s *gpu.Stream) error { return algo.Reduce(s, algo.Sum[float32](), x.Slice(n, n+1), x.Slice(0, n)) },
				In:     []int64{4 * int64(n)}, Close: x.Close,
			}, gpu.Fill(s, x, 1)
		}}, 1 << 28, true},
		steps("fma32", func(s *gpu.Stream, g gpu.Grid, n int, a *gpu.Buffer[float32], b *gpu.Buffer[float64]) error {
			return kernels.LaunchFma32(s, g, n, 0.5, a)
		}),
		steps("fma64", func(s *gpu.Stream, g gpu.Grid, n int, a *gpu.Buffer[float32], b *gpu.Buffer[float64]) error {
			return kernels.LaunchFma64(s, g, n, 0.5, b)
		}),
	}
}

// nsightFlops are the metrics of ncu's roofline, with the operations of each instruction.
var nsightFlops = map[string]float64{
	"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 1, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2,
	"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 1, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 1, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 2,
}

// TestRooflinesAgreeWithNsightCompute compares the position of kernels in the roofline model, which
// profile counts in the simulator, with what ncu measures in the hardware's counters.
func TestRooflinesAgreeWithNsightCompute(t *testing.T) {
	under := os.Getenv(underNsight) != ""
	if !under {
		nsightPath(t)
	}
	d := openCUDA(t)
	s := d.DefaultStream()
	type position struct{ flops, bytes, seconds float64 }
	ours := make([]position, 0, 8)
	for _, w := range roofWorks() {
		i, err := w.Prepare(s, w.n)
		check(t, err)
		if under {
			// Kernels before and behind say which ones are the workload.
			check(t, kernels.LaunchSpin(s, gpu.Linear(1), 0))
			check(t, i.Launch(s))
			check(t, kernels.LaunchSpin(s, gpu.Linear(1), 0))
			check(t, s.Synchronize(t.Context()))
		} else {
			r, err := profile.Benchmark(t.Context(), s, profile.BenchmarkConfig{Name: w.Name, MinTime: 100 * time.Millisecond, KeepCache: true}, i.Launch)
			check(t, err)
			work, err := profile.Count(t.Context(), w.Workload, w.n)
			check(t, err)
			ours = append(ours, position{work.Flops32 + work.Flops64, work.ReadBytes + work.WrittenBytes, r.Median / 1e9})
		}
		check(t, i.Close())
	}
	if under {
		return
	}
	var theirs []position
	inside := false
	for _, k := range nsight(t, append(slices.Sorted(maps.Keys(nsightFlops)), "dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum")...) {
		if strings.Contains(k.name, "spin") {
			if inside = !inside; inside {
				theirs = append(theirs, position{})
			}
			continue
		}
		if !inside {
			continue // it fills arrays
		}
		p := &theirs[len(theirs)-1]
		for metric, n := range nsightFlops {
			p.flops += n * k.values[metric]
		}
		p.bytes += k.values["dram__bytes_read.sum"] + k.values["dram__bytes_write.sum"]
		p.seconds += k.values["gpu__time_duration.sum"] / 1e9
	}
	if len(theirs) != len(ours) {
		t.Fatalf("ncu has %d workloads, want %d", len(theirs), len(ours))
	}
	t.Log("workload    FLOP/byte      ncu  differs     GFLOP/s      ncu  differs")
	for i, w := range roofWorks() {
		a, b := ours[i], theirs[i]
		rate := 100 * (a.flops/a.seconds/(b.flops/b.seconds) - 1)
		intensity := 100 * (a.flops/a.bytes/(b.flops/b.bytes) - 1)
		t.Logf("%-10s %10.4f %8.4f %+6.1f %%  %10.1f %8.1f %+6.1f %%", w.Name, a.flops/a.bytes, b.flops/b.bytes, intensity, a.flops/a.seconds/1e9, b.flops/b.seconds/1e9, rate)
		if !(math.Abs(rate) <= 5) || w.streams && !(math.Abs(intensity) <= 5) {
			t.Errorf("%s: the intensity differs by %.1f %%, the rate by %.1f %%, want at most 5 %%", w.Name, intensity, rate)
		}
	}
}
