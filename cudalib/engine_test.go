package cudalib_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quern.dev/blas"
	"quern.dev/cudalib"
	"quern.dev/fft"
	"quern.dev/gpu"
	"quern.dev/internal/culib/fakeculib"
	"quern.dev/internal/engine"
	"quern.dev/sparse"
)

// square returns three matrices and a function that multiplies the first two.
func square(t testing.TB, r *rig, n int) (multiply func(s *gpu.Stream, work ...*gpu.Workspace) error, c *gpu.Buffer[float32]) {
	t.Helper()
	of := func(seed uint64) blas.General[float32] {
		return blas.General[float32]{Rows: n, Cols: n, Stride: n, Data: upload(t, r.DefaultStream(), numbers[float32](seed, n*n))}
	}
	a, b, to := of(1), of(2), of(3)
	return func(s *gpu.Stream, work ...*gpu.Workspace) error {
		return blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, a, b, 1, to, work...)
	}, to.Data
}

func TestStreamsHaveTheirOwnEngine(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	multiply, _ := square(t, r, 4)
	s, other := r.stream(t, cudalib.Vendor), r.stream(t, cudalib.Quern)
	do(t, multiply(s))
	do(t, multiply(other))
	if n := len(r.libs.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
	ran(t, s, "blas.Gemm", cudalib.Vendor)
	if text := cudalib.Ran(s).String(); text != "blas.Gemm: Vendor (cuBLASLt 13.1.0): as the stream asks" {
		t.Error(text)
	}
	if r := cudalib.Ran(other); r.Operation != "" || r.String() != "no operation" {
		t.Error(r)
	}
	if cudalib.EngineOf(s) != cudalib.Vendor || cudalib.EngineOf(other) != cudalib.Quern {
		t.Error("the engines are others")
	}
	do(t, cudalib.Use(s, cudalib.Quern))
	do(t, multiply(s))
	if n := len(r.libs.Calls()); n != 0 {
		t.Errorf("%d calls by Quern's kernels", n)
	}
	for _, l := range cudalib.Libraries(r.Device) {
		if l.Err != nil || l.Path != "substitute" || l.Version == "" {
			t.Errorf("%+v", l)
		}
	}
}

// Auto measures into temporary memory: a product that adds to its result adds once.
func TestAutoMeasuresOnceAndKeepsOperands(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	multiply, c := square(t, r, 5)
	s := r.stream(t, cudalib.Auto)
	before := download(t, s, c)
	do(t, multiply(s))
	got := download(t, s, c)
	do(t, gpu.CopyIn(s, c, before))
	quern := r.stream(t, cudalib.Quern)
	do(t, multiply(quern))
	if d := distance(wide(got), wide(download(t, quern, c))); d > 1e-6 {
		t.Errorf("the measurement changed the result: %g", d)
	}
	if len(r.libs.Calls()) == 0 {
		t.Error("the library was not measured")
	}
	ran(t, s, "blas.Gemm", cudalib.Quern) // of equally fast ones, as all are here
	do(t, multiply(s))
	do(t, multiply(r.stream(t, cudalib.Auto)))
	if n := len(r.libs.Calls()); n != 0 {
		t.Errorf("%d more calls", n)
	}
	list := cudalib.Choices(r.Device)
	if len(list) != 1 || list[0].Own == 0 || list[0].Vendor == 0 || list[0].Problem != "1 products of 5x5 by 5x5" {
		t.Errorf("%+v", list)
	}
	// Another device finds the result on disk.
	r2 := withFakes(t, fakeculib.New())
	multiply2, _ := square(t, r2, 5)
	do(t, multiply2(r2.stream(t, cudalib.Auto)))
	if n := len(r2.libs.Calls()); n > 0 {
		t.Errorf("%d calls, though the result is known", n)
	}
}

func TestAutoUsesQuernWhereLibrariesCannotBe(t *testing.T) {
	for name, set := range map[string]func(*fakeculib.Set){
		"a missing library":     func(l *fakeculib.Set) { l.Missing["cuBLASLt"] = true },
		"an old library":        func(l *fakeculib.Set) { l.Versions[engine.BLAS] = [3]int32{11, 11, 3} },
		"a missing function":    func(l *fakeculib.Set) { l.Missing["cublasLtMatmul"] = true },
		"a handle that fails":   func(l *fakeculib.Set) { l.Fail("cublasLtCreate", 1) },
		"an unsupported case":   func(l *fakeculib.Set) { l.Fail("cublasLtMatmulAlgoGetHeuristic", 15) },
		"much temporary memory": func(l *fakeculib.Set) { l.Memory = 1 << 30 },
	} {
		libs := fakeculib.New()
		set(libs)
		r := withFakes(t, libs)
		multiply, _ := square(t, r, 6)
		s := r.stream(t, cudalib.Auto)
		if err := multiply(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		ran(t, s, "blas.Gemm", cudalib.Quern)
		if text := cudalib.Ran(s).Reason; !strings.Contains(text, "cuBLASLt: ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	cpu, err := gpu.Open(gpu.Config{Device: "cpu"})
	do(t, err)
	r := &rig{Device: cpu}
	multiply, _ := square(t, r, 6)
	s := r.stream(t, cudalib.Auto)
	do(t, multiply(s))
	ran(t, s, "blas.Gemm", cudalib.Quern)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	type libs = fakeculib.Set
	of := func(set func(*libs), call func(r *rig, s *gpu.Stream) error) error {
		l := fakeculib.New()
		set(l)
		r := withFakes(t, l)
		return call(r, r.stream(t, cudalib.Vendor))
	}
	gemm := func(r *rig, s *gpu.Stream) error {
		multiply, _ := square(t, r, 4)
		return multiply(s)
	}
	unsigned := func(r *rig, s *gpu.Stream) error {
		x := blas.General[uint8]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]uint8, 16))}.Batch()
		c := blas.General[int32]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]int32, 16))}.Batch()
		return blas.GemmInteger(s, blas.NoTrans, blas.Trans, 1, x, x, 0, c)
	}
	signed := func(r *rig, s *gpu.Stream) error {
		x := blas.General[int8]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]int8, 16))}.Batch()
		c := blas.General[int32]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]int32, 16))}.Batch()
		return blas.GemmInteger(s, blas.NoTrans, blas.NoTrans, 1, x, x, 0, c)
	}
	epilogue := func(e blas.Epilogue[float32], beta float32) func(r *rig, s *gpu.Stream) error {
		return func(r *rig, s *gpu.Stream) error {
			x := blas.General[float32]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]float32, 16))}
			c := blas.General[float32]{Rows: 4, Cols: 4, Stride: 4, Data: upload(t, s, make([]float32, 16))}
			y := upload(t, s, make([]float32, 16))
			if e.BiasRows {
				e.Bias = blas.Vector[float32]{N: 4, Inc: 1, Data: y}
			} else {
				e.Residual = blas.General[float32]{Rows: 4, Cols: 4, Stride: 4, Data: y}.Batch()
			}
			return blas.GemmEpilogue(s, blas.NoTrans, blas.NoTrans, 1, x, x, beta, c, e)
		}
	}
	transform := func(r *rig, s *gpu.Stream) error {
		p, err := fft.NewPlan[complex64](r.Device, fft.Desc{Shape: []int{8}})
		do(t, err)
		defer p.Close()
		x := upload(t, s, make([]complex64, 8))
		return p.Forward(s, x, x)
	}
	transposed := func(r *rig, s *gpu.Stream) error {
		a, err := sparse.UploadCSR(s, randomMatrix[float32](4, 4))
		do(t, err)
		defer a.Close()
		return sparse.MulVec(s, true, 1, a, upload(t, s, make([]float32, 4)), 0, upload(t, s, make([]float32, 4)))
	}
	recorded := func(r *rig, s *gpu.Stream) error {
		multiply, _ := square(t, r, 4)
		_, err := r.Capture(func(s *gpu.Stream) error {
			do(t, cudalib.Use(s, cudalib.Vendor))
			return multiply(s)
		})
		return err
	}
	none := func(*libs) {}
	cpu, err := gpu.Open(gpu.Config{Device: "cpu"})
	do(t, err)
	defer cpu.Close()
	for _, c := range []struct {
		err, is error
		want    string
	}{
		{of(func(l *libs) { l.Missing["cuBLASLt"] = true }, gemm), cudalib.ErrMissing,
			"blas: Gemm: cuBLASLt: no file; install CUDA 12.0 or later, or the Python package nvidia-cublas, and list its folder in QUERN_CUDALIB"},
		{of(func(l *libs) { l.Versions[engine.FFT] = [3]int32{10, 9, 0} }, transform), cudalib.ErrMissing,
			"fft: Plan.Forward: cuFFT: substitute is version 10.9.0, needed is 11.0 or later; install"},
		{of(func(l *libs) { l.Missing["cusparseSpMV"] = true }, func(r *rig, s *gpu.Stream) error {
			a, err := sparse.UploadCSR(s, randomMatrix[float32](4, 4))
			do(t, err)
			defer a.Close()
			return sparse.MulVec(s, false, 1, a, upload(t, s, make([]float32, 4)), 0, upload(t, s, make([]float32, 4)))
		}), cudalib.ErrMissing, "sparse: MulVec: cuSPARSE: substitute, version 12.6.3, has no function cusparseSpMV"},
		{of(none, unsigned), errors.ErrUnsupported, "blas: GemmInteger: cuBLASLt: it does not multiply integers without a sign; use engine Auto or Quern"},
		{of(none, signed), errors.ErrUnsupported, "blas: GemmInteger: cuBLASLt: cublasLtMatmulAlgoGetHeuristic (15): not supported; use engine Auto or Quern"},
		{of(none, epilogue(blas.Epilogue[float32]{BiasRows: true}, 0)), errors.ErrUnsupported, "it adds no bias with an element for each row"},
		{of(none, epilogue(blas.Epilogue[float32]{}, 1)), errors.ErrUnsupported, "it adds a residual only without an activation, and if beta is 0"},
		{of(none, epilogue(blas.Epilogue[float32]{Activation: blas.GELU}, 0)), errors.ErrUnsupported, "it adds a residual only without"},
		{of(none, transposed), errors.ErrUnsupported, "sparse: MulVec: cuSPARSE: its products with a transposed matrix differ from run to run; use engine Auto or Quern"},
		{of(none, recorded), errors.ErrUnsupported, "blas: Gemm: cuBLASLt: a graph cannot hold calls of the library; use engine Auto or Quern on the stream that records"},
		{of(func(l *libs) { l.Fail("cublasLtMatmul", 13) }, gemm), nil, "blas: Gemm: cuBLASLt: cublasLtMatmul (13): the GPU failed"},
		{of(func(l *libs) { l.Fail("cublasLtMatmul", 77) }, gemm), nil, "cublasLtMatmul (77): unknown error"},
		{of(func(l *libs) { l.Fail("cufftMakePlanMany64", 2) }, transform), gpu.ErrOutOfMemory, "cuFFT: cufftMakePlanMany64 (2): out of memory; free memory, or trim the device's pool"},
		{of(func(l *libs) { l.Fail("cufftGetProperty", 5) }, transform), cudalib.ErrMissing, "substitute: cufftGetProperty: internal error"},
		{of(func(l *libs) { l.Missing["cufftGetProperty"] = true }, transform), cudalib.ErrMissing, "substitute has no function cufftGetProperty"},
		{cudalib.Use(cpu.DefaultStream(), cudalib.Vendor), errors.ErrUnsupported, "cudalib: cpu is not a CUDA device; use engine Auto or Quern"},
		{cudalib.Use(cpu.DefaultStream(), 7), gpu.ErrInvalid, "cudalib: Engine(7) is not an engine; use Auto, Quern or Vendor"},
		{cudalib.Use(nil, cudalib.Quern), gpu.ErrInvalid, "stream is nil"},
		{cudalib.Use(nil, cudalib.Auto), gpu.ErrInvalid, "device is nil"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("got  %v\nwant %s", c.err, c.want)
		}
		if e, ok := errors.AsType[*cudalib.Error](c.err); c.is != gpu.ErrInvalid && (!ok || e.Library == "") {
			t.Errorf("%v is no Error", c.err)
		}
	}
}

// Graphs are recorded with Quern's kernels, also if the library is known to be faster.
func TestAutoRecordsGraphsWithQuern(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	multiply, c := square(t, r, 4)
	s := r.stream(t, cudalib.Auto)
	before := download(t, s, c)
	g, err := r.Capture(func(s *gpu.Stream) error {
		do(t, cudalib.Use(s, cudalib.Auto))
		defer func() { t.Log(cudalib.Ran(s)) }()
		return multiply(s)
	})
	do(t, err)
	x, err := g.Instantiate()
	do(t, err)
	defer x.Close()
	if n := len(r.libs.Calls()); n != 0 || len(cudalib.Choices(r.Device)) != 0 {
		t.Errorf("%d calls, choices %v", n, cudalib.Choices(r.Device))
	}
	do(t, x.Launch(s))
	got := download(t, s, c)
	do(t, gpu.CopyIn(s, c, before))
	do(t, multiply(r.DefaultStream()))
	if d := distance(wide(got), wide(download(t, r.DefaultStream(), c))); d > 1e-6 {
		t.Errorf("relative distance %g", d)
	}
}

func TestProductsTakeMemoryOfWorkspaces(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	r.libs.Memory = 5000
	multiply, _ := square(t, r, 4)
	s := r.stream(t, cudalib.Vendor)
	measure := gpu.MeasureWorkspace()
	do(t, multiply(s, measure))
	if n := measure.Size(); n < 5000 || n > 5500 || len(r.libs.Calls()) != 0 {
		t.Errorf("%d bytes", n)
	}
	memory := upload(t, s, make([]byte, measure.Size()))
	do(t, multiply(s, gpu.NewWorkspace(memory)))
	if err := multiply(s, gpu.NewWorkspace(memory.Slice(0, 100))); !errors.Is(err, gpu.ErrInvalid) {
		t.Errorf("with too little memory: %v", err)
	}
}

func TestEnginesAreSafeForConcurrentUse(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	p, err := fft.NewPlan[complex64](r.Device, fft.Desc{Shape: []int{8}})
	do(t, err)
	defer p.Close()
	e := randomMatrix[float32](8, 8)
	var group sync.WaitGroup
	for i := range 6 {
		s := r.stream(t, cudalib.Engine(1+i%2)) // Vendor, Auto
		a, err := sparse.UploadCSR(s, e)
		do(t, err)
		x, y := upload(t, s, make([]float32, 8)), upload(t, s, make([]float32, 8))
		z := upload(t, s, make([]complex64, 8))
		multiply, _ := square(t, r, 3+i/2)
		group.Go(func() {
			for range 5 {
				if err := errors.Join(multiply(s), p.Forward(s, z, z), sparse.MulVec(s, false, 1, a, x, 0, y), s.Synchronize(t.Context())); err != nil {
					t.Error(err)
				}
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// Descriptors are kept for a limited number of shapes.
func TestManyShapes(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	r.libs.Idle = true
	s := r.stream(t, cudalib.Vendor)
	x := upload(t, s, make([]float32, 4000))
	for n := 1; n < 1200; n++ {
		v := blas.General[float32]{Rows: 1, Cols: n, Stride: n, Data: x}
		c := blas.General[float32]{Rows: 1, Cols: 1, Stride: 1, Data: x.Slice(3000, 3001)}
		if err := blas.Gemm(s, blas.NoTrans, blas.Trans, 1, v, v, 0, c); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(r.libs.Left(), "layout"); n > 4*512 {
		t.Errorf("%d layouts", n)
	}
}

func TestCallsOfLibrariesAllocateNothing(t *testing.T) {
	r := withFakes(t, fakeculib.New())
	r.libs.Idle, r.driver.Idle = true, false
	s := r.stream(t, cudalib.Vendor)
	multiply, _ := square(t, r, 4)
	p, err := fft.NewPlan[complex64](r.Device, fft.Desc{Shape: []int{8}, Norm: fft.NormNone})
	do(t, err)
	defer p.Close()
	z := upload(t, s, make([]complex64, 8))
	for name, f := range map[string]func() error{
		"product":   func() error { return multiply(s) },
		"transform": func() error { return p.Forward(s, z, z) },
	} {
		do(t, f())
		r.driver.Idle = true
		n := testing.AllocsPerRun(100, func() {
			if err := f(); err != nil {
				t.Error(err)
			}
		})
		r.driver.Idle = false
		if n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A program that does not import cudalib does not link it.
func Example() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	s := dev.DefaultStream()
	if err := cudalib.Use(s, cudalib.Auto); err != nil { // the faster engine, here Quern's kernels
		fmt.Println(err)
		return
	}
	x, err := gpu.Upload(s, []float32{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	y, err := gpu.Alloc[float32](dev, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer y.Close()
	a := blas.General[float32]{Rows: 2, Cols: 2, Stride: 2, Data: x}
	c := blas.General[float32]{Rows: 2, Cols: 2, Stride: 2, Data: y}
	if err := blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, a, a, 0, c); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cudalib.Ran(s).Engine)
	// Output: Quern
}
