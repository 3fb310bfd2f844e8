package profile_test

import (
	"bytes"
	"encoding/csv"
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
	ncu, err := exec.LookPath("ncu")
	if err != nil {
		t.Skip("no Nsight Compute: ncu is not on PATH")
	}
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

	run := exec.Command(ncu, "--metrics", "gpu__time_duration.sum", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
		os.Args[0], "-test.run=^TestKernelTimesAgreeWithNsightCompute$")
	run.Env = append(os.Environ(), underNsight+"=1")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Skipf("ncu cannot measure here: %v\n%s", err, out)
	}
	theirs := nsightTimes(t, out)
	if len(theirs) != len(ours) {
		t.Fatalf("a recording has %d kernels, ncu %d\n%s", len(ours), len(theirs), out)
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

// nsightTimes returns the duration of each kernel in nanoseconds, in the order of the launches.
func nsightTimes(t *testing.T, out []byte) []float64 {
	t.Helper()
	at := bytes.Index(out, []byte("\"ID\""))
	if at < 0 {
		t.Fatalf("ncu printed no table:\n%s", out)
	}
	table := csv.NewReader(bytes.NewReader(out[at:]))
	table.FieldsPerRecord, table.LazyQuotes = -1, true
	rows, err := table.ReadAll()
	check(t, err)
	value := slices.Index(rows[0], "Metric Value")
	var list []float64
	for _, row := range rows[1:] {
		if value < 0 || value >= len(row) {
			continue // what the program prints at its end
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[value], ",", ""), 64)
		check(t, err)
		list = append(list, v)
	}
	return list
}
