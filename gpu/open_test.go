package gpu

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestOpenChooses(t *testing.T) {
	tests := []struct {
		name   string
		gpus   int
		env    string
		config Config
		want   string
	}{
		{"the first GPU if there is one", 2, "", Config{}, "cuda:0"},
		{"the CPU without a GPU", 0, "", Config{}, "cpu"},
		{"the device of the environment", 2, "cuda:1", Config{}, "cuda:1"},
		{"a back end of the environment", 2, "sim", Config{}, "sim"},
		{"the configured device rather than the environment's", 2, "cuda:1", Config{Device: "cpu"}, "cpu"},
		{"the CPU by number", 2, "cpu:0", Config{}, "cpu"},
		{"the simulator by number", 2, "", Config{Device: "sim:0"}, "sim"},
		{"a GPU by a number with zeros", 2, "cuda:01", Config{}, "cuda:1"},
		{"the first device of a back end", 2, "", Config{Device: "cuda"}, "cuda:0"},
		{"a required back end", 2, "", Config{Require: CPU}, "cpu"},
		{"a required simulator", 0, "", Config{Require: Sim}, "sim"},
		{"a device of the required back end", 2, "cuda:1", Config{Require: CUDA}, "cuda:1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withCUDA(t, fakecuda.New(test.gpus))
			t.Setenv(DeviceVariable, test.env)
			d := must[*Device](t)(Open(test.config))
			if d.ID() != test.want {
				t.Errorf("opened %s, want %s", d.ID(), test.want)
			}
			if name, _, _ := strings.Cut(test.want, ":"); d.Backend() != Backend(name) {
				t.Errorf("back end %s", d.Backend())
			}
			do(t, d.Close())
		})
	}
}

func TestOpenSaysWhyThereIsNoDevice(t *testing.T) {
	old := fakecuda.New(1)
	old.Version = 10020
	lacking := fakecuda.New(1)
	lacking.Missing = map[string]bool{"cuLaunchKernel": true}
	broken := fakecuda.New(1)
	tests := []struct {
		name   string
		lib    *fakecuda.Library
		env    string
		config Config
		want   string
	}{
		{"no GPU", fakecuda.New(0), "cuda", Config{}, "gpu: open cuda: no usable device: cuda: "},
		{"no GPU, with the driver's text", fakecuda.New(0), "", Config{Require: CUDA}, "CUDA_ERROR_NO_DEVICE (100): text of code 100"},
		{"a driver that is too old", old, "cuda", Config{}, "cuda: the NVIDIA driver is too old: it supports CUDA 10.2, needed is 11.0 or later"},
		{"a driver without a function", lacking, "cuda", Config{}, "cuda: the NVIDIA driver library has no function cuLaunchKernel"},
		{"a GPU that is not there", fakecuda.New(2), "cuda:2", Config{}, "gpu: open cuda:2: no usable device: cuda:2: there is no such device"},
		{"a second CPU", fakecuda.New(1), "cpu:1", Config{}, "gpu: open cpu:1: no usable device: cpu:1: there is no such device; cpu has one device, cpu"},
		{"a fourth simulator", fakecuda.New(1), "", Config{Device: "sim:3"}, "sim:3: there is no such device; sim has one device, sim"},
		{"a number without a driver", fakecuda.New(0), "cuda:1", Config{}, "gpu: open cuda:1: no usable device: cuda: "},
		{"a letter for a number", fakecuda.New(0), "cuda:x", Config{}, `gpu: open: no usable device: QUERN_DEVICE=cuda:x: "x" is not a device number`},
		{"a negative number", fakecuda.New(0), "cuda:-1", Config{}, `"-1" is not a device number`},
		{"no number", fakecuda.New(0), "", Config{Device: "cuda:"}, `Config.Device=cuda:: "" is not a device number`},
		{"a number beyond all devices", fakecuda.New(1), "cuda:99999999999999999999", Config{}, "is not a device number"},
		{"an unknown back end", fakecuda.New(1), "tpu", Config{}, "gpu: open: no usable device: QUERN_DEVICE=tpu names no back end; use cuda, cuda:1, cpu or sim"},
		{"an unknown device in the configuration", fakecuda.New(1), "", Config{Device: "gpu0"}, "Config.Device=gpu0 names no back end"},
		{"an unknown required back end", fakecuda.New(1), "", Config{Require: "tpu"}, `Config.Require: there is no back end "tpu"`},
		{"a device of another back end than required", fakecuda.New(1), "cpu", Config{Require: CUDA}, "cpu: the cuda back end is required"},
		{"a back end that does not exist yet", fakecuda.New(1), "opencl:0", Config{}, "QUERN_DEVICE=opencl:0 names no back end"},
		{"a context that cannot be made", broken, "cuda", Config{}, "cuda:0: cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2): text of code 2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withCUDA(t, test.lib)
			broken.Fail("cuDevicePrimaryCtxRetain", fakecuda.OutOfMemory)
			t.Setenv(DeviceVariable, test.env)
			d, err := Open(test.config)
			if err == nil {
				t.Fatalf("opened %s", d.ID())
			}
			if !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %q\nwant %q", err, test.want)
			}
		})
	}
}

func TestOpenRejectsAnUnknownVariant(t *testing.T) {
	withCUDA(t, fakecuda.New(0))
	t.Setenv(VariantVariable, "bogus")
	d, err := Open(Config{Device: "cpu"})
	if want := "gpu: open: QUERN_VARIANT=bogus names no variant; use coarse, proven, narrow or wide"; err == nil || err.Error() != want {
		t.Errorf("opened %v, error %v, want %s", d, err, want)
	}
	t.Setenv(VariantVariable, "wide")
	if d, err = Open(Config{Device: "cpu"}); err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
}

func TestPassedOverSaysWhyTheCPUWasTaken(t *testing.T) {
	old := fakecuda.New(1)
	old.Version = 9000
	withCUDA(t, old)
	t.Setenv(DeviceVariable, "")
	d := must[*Device](t)(Open(Config{}))
	defer d.Close()
	passed := d.PassedOver()
	if len(passed) != 1 || !strings.HasPrefix(passed[0], "cuda: the NVIDIA driver is too old") {
		t.Errorf("passed over %q", passed)
	}
}

func TestDevicesListsAllWithReasons(t *testing.T) {
	withCUDA(t, fakecuda.New(2))
	var ids []string
	for _, d := range Devices() {
		ids = append(ids, d.ID)
		if d.Err == nil && d.Name == "" {
			t.Errorf("%s has no name", d.ID)
		}
		if d.Backend == CUDA && (d.ComputeMajor != 9 || d.DriverVersion != "13.0" || d.Memory != 1<<30) {
			t.Errorf("%+v", d)
		}
	}
	if want := []string{"cuda:0", "cuda:1", "cpu", "sim"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
}

func TestDeviceDescribesItself(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		a := d.Attributes()
		if a.ThreadsPerBlock < 1024 || a.Grid.X != 1<<31-1 || a.WarpSize != 32 || a.SharedPerBlock < 48<<10 || a.Multiprocessors < 1 {
			t.Errorf("attributes %+v", a)
		}
		if d.Name() == "" || d.DriverVersion() == "" {
			t.Errorf("name %q, driver %q", d.Name(), d.DriverVersion())
		}
		free, total := d.Memory()
		if free > total || free < 0 || total == 0 {
			t.Errorf("memory: %d of %d free", free, total)
		}
		major, _ := d.ComputeCapability()
		if (d.Backend() == CUDA) != (major > 0) {
			t.Errorf("compute capability %d on %s", major, d.Backend())
		}
	})
}

// TestDriverErrorsAreValues makes each driver function fail once. The error must name
// the function, later calls must work, and nothing may leak.
func TestDriverErrorsAreValues(t *testing.T) {
	k := NewKernel(saxpyInfo)
	// use exercises a device, and returns the first error.
	use := func(d *Device) error {
		s, err := d.NewStream(context.Background())
		if err != nil {
			return err
		}
		defer s.Close()
		x, err := Upload(s, ramp(8))
		if err != nil {
			return err
		}
		defer x.Close()
		y, err := Upload(s, ramp(8))
		if err != nil {
			return err
		}
		defer y.Close()
		start, err := d.NewEvent()
		if err != nil {
			return err
		}
		defer start.Close()
		steps := []func() error{
			func() error { return Fill(s, y, 7) },
			func() error { return Copy(s, y, x) },
			func() error { return s.Record(start) },
			func() error { return s.Wait(start) },
			func() error { return launchSaxpy(k, s, Linear(8), 1, 8, x, y) },
			func() error { return s.Synchronize(context.Background()) },
			func() error { return Download(context.Background(), s, make([]float32, 8), y) },
			func() error { return start.Synchronize(context.Background()) },
			func() error { return second(start.Done()) },
			func() error { return second(Elapsed(start, start)) },
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	for _, function := range []string{
		"cuStreamCreate", "cuMemHostAlloc", "cuMemHostGetDevicePointer", "cuMemAlloc", "cuMemcpyHtoDAsync",
		"cuEventCreate", "cuMemsetD32Async", "cuMemcpyDtoDAsync", "cuEventRecord",
		"cuStreamWaitEvent", "cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute",
		"cuOccupancyMaxActiveBlocksPerMultiprocessor", "cuLaunchKernel", "cuCtxSetCurrent",
		"cuStreamSynchronize", "cuMemcpyDtoHAsync", "cuEventSynchronize", "cuEventQuery", "cuEventElapsedTime",
	} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			symbol := function
			if lib.Lookup(symbol) == 0 {
				symbol += "_v2"
			}
			lib.Fail(symbol, fakecuda.OutOfMemory)
			err := use(d)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Op != function || e.Code != 2 || e.Name != "CUDA_ERROR_OUT_OF_MEMORY" || !errors.Is(err, ErrOutOfMemory) {
				t.Errorf("got %v", err)
			}
			do(t, use(d))
			do(t, d.Close())
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestCompilerLogIsInTheError(t *testing.T) {
	info := saxpyInfo
	info.Code = onlyCode(ptxHeader + ".visible .entry saxpy() { bogus.u32 %r1; exit; }")
	d := openFake(t, fakecuda.New(1))
	defer d.Close()
	err := NewKernel(info).Prepare(d)
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != "CUDA_ERROR_INVALID_PTX" || !strings.Contains(err.Error(), "bogus") {
		t.Errorf("got %v", err)
	}
}

func TestSimulatorReportsWhatGPUsDoNot(t *testing.T) {
	at := func(body string) compiled.Kernel {
		return compiled.Kernel{
			Name:   "probe",
			Params: []compiled.Param{{Name: "out", Kind: compiled.Slice, Type: "int32", Size: 4}},
			Code: onlyCode(ptxHeader + `.file 1 "probe.go"
.visible .entry probe(.param .u64 out_ptr, .param .u64 out_len, .param .u64 quern_fault, .param .u32 quern_kernel)
{
` + ptxRegisters + `
	.loc 1 12 3
	ld.param.u64 %rd1, [out_ptr];
	mov.u32 %r1, %tid.x;
again:
	` + body + `
	exit;
}
`),
			Variants: []compiled.Variant{{Name: "wide", Sites: []compiled.Site{{Kind: compiled.IndexSite, File: "probe.go", Line: 1}}}},
		}
	}
	tests := []struct {
		name, body string
		kind       FaultKind
		reason     string
	}{
		{"an access past the end", "st.global.u32 [%rd1+64], %r1;", BadAddress, "out-of-bounds access: global store of 4 bytes: out[16] of 8 elements"},
		{"an access before the beginning", "st.global.u32 [%rd1+-4], %r1;", BadAddress, "global store of 4 bytes: out[-1] of 8 elements"},
		{"a misaligned access", "st.global.u32 [%rd1+6], %r1;", Misaligned, "misaligned access: global store of 4 bytes at an address that is not a multiple of it: byte 2 of out[1]"},
		{"a data race", "st.global.u32 [%rd1+8], %r1;", DataRace, ""},
		{"an uninitialised read", "ld.global.u32 %r2, [%rd1+4];", Uninitialized, "read of uninitialised memory: global load of 4 bytes: out[1]"},
		{"an uninitialised read of several elements", "ld.global.v2.u32 {%r2, %r3}, [%rd1+8];", Uninitialized, "global load of 8 bytes: out[2:4]"},
		{"an access to no argument", "mov.u64 %rd1, 4096; st.global.u32 [%rd1], %r1;", BadAddress, "global store of 4 bytes: no allocation there"},
		{"an uninitialised read of shared memory", ".shared .align 4 .b8 tile[64]; ld.shared.u32 %r2, [tile+8];", Uninitialized, "byte 8 of 64; is a t.Sync() missing?"},
		{"a loop without end", "bra again;", StepBudget, ""},
		{"a trap", "trap;", Trap, ""},
	}
	d := must[*Device](t)(Open(Config{Device: "sim", Sim: SimOptions{Steps: 10000}}))
	s := d.DefaultStream()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := must[*Buffer[int32]](t)(Alloc[int32](d, 8))
			do(t, NewKernel(at(test.body)).Launch(s, Linear(2), out))
			fault, ok := errors.AsType[*KernelError](s.Synchronize(context.Background()))
			if !ok || fault.Kind != test.kind || fault.File != "probe.go" || fault.Line != 12 || fault.Kernel != "probe" {
				t.Errorf("got %v (%+v)", fault, fault)
			}
			if !strings.HasSuffix(fault.Reason, test.reason) {
				t.Errorf("reason %q, want %q at its end", fault.Reason, test.reason)
			}
			closeAll(t, out)
		})
	}
	do(t, d.Close())
}

func TestSimulatorStepsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("QUERN_SIM_STEPS", "many")
	if _, err := Open(Config{Device: "sim"}); !errors.Is(err, ErrNoDevice) || !strings.Contains(err.Error(), "QUERN_SIM_STEPS=many is not a positive number") {
		t.Errorf("got %v", err)
	}
}

func TestABackEndThatFailsToOpenIsPassedOver(t *testing.T) {
	t.Setenv(DeviceVariable, "")
	replaceBackend(t, CUDA, func(Config) []driver.Candidate {
		return []driver.Candidate{{ID: "cuda:0", Open: func() (driver.Device, error) { return nil, errors.New("fell off the bus") }}}
	})
	d := must[*Device](t)(Open(Config{}))
	if d.ID() != "cpu" || d.PassedOver()[0] != "cuda:0: fell off the bus" {
		t.Errorf("opened %s after %q", d.ID(), d.PassedOver())
	}
	do(t, d.Close())
}
