package nvml_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
)

func open(t *testing.T, lib *fakenvml.Library) (*nvml.API, *nvml.Device) {
	t.Helper()
	t.Cleanup(nvml.Substitute(lib.Open))
	a, err := nvml.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil || lib.Users() != 0 {
			t.Errorf("close: %v, %d users left", err, lib.Users())
		}
	})
	d, err := a.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	return a, d
}

func TestValuesAreThoseOfTheGPU(t *testing.T) {
	g := fakenvml.H200(0)
	g.ECCCorrected, g.ECCUncorrected, g.NarrowPCIe = 5, 6, true
	_, d := open(t, fakenvml.New(g))
	check := func(what string, got any, err error, want any) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", what, got, err, want)
		}
	}
	name, err := d.Name()
	check("name", name, err, "NVIDIA H200")
	at, err := d.PCIAddress()
	check("PCI address", at, err, "00000000:04:00.0")
	u, err := d.Utilization()
	check("utilization", u, err, nvml.Utilization{GPU: 97, Memory: 41})
	m, err := d.Memory()
	check("memory", m, err, nvml.Memory{Total: g.Total, Free: g.Total - g.Used - g.Reserved, Used: g.Used, Reserved: g.Reserved, KnowsReserved: true})
	c, err := d.Clock(nvml.MemoryClock)
	check("memory clock", c, err, uint32(3201))
	g.ECCLater = false
	now, later, err := d.ECC()
	check("ECC", [2]bool{now, later}, err, [2]bool{true, false})
	on, err := d.Persistence()
	check("persistence", on, err, true)
	generation, err := d.MaxPCIeGeneration()
	check("largest generation", generation, err, uint32(5))
	lanes, err := d.MaxPCIeWidth()
	check("most lanes", lanes, err, uint32(16))
	watts, err := d.DefaultPowerLimit()
	check("default power limit", watts, err, uint32(700_000))
	e, err := d.ECCErrors(true)
	check("uncorrected errors", e, err, uint64(6))
	list := []nvml.FieldValue{{ID: nvml.FieldNVLinkReceive, Scope: nvml.AllLinks}, {ID: nvml.FieldPCIeTransmit}, {ID: 9999}}
	if err := d.Fields(list); err != nil {
		t.Fatal(err)
	}
	v, known := list[0].Counter()
	check("NVLink", [2]any{v, known}, nil, [2]any{uint64(1 << 31), true})
	if _, known := list[1].Counter(); known {
		t.Error("a counter of 32 bits is known")
	}
	if _, known := list[2].Number(); known {
		t.Error("an unknown field has a value")
	}
}

func TestProcessesInEveryVersion(t *testing.T) {
	want := make([]nvml.Process, 100) // more than fit at first
	for i := range want {
		want[i] = nvml.Process{PID: uint32(i + 1), Memory: uint64(i) << 30, KnowsMemory: true}
	}
	want[7].Memory, want[7].KnowsMemory = 0, false
	v3, v2 := "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"
	for _, missing := range [][]string{nil, {v3}, {v3, v2}} {
		g := fakenvml.H200(0)
		g.Compute = want
		lib := fakenvml.New(g)
		lib.Missing = missing
		_, d := open(t, lib)
		got, err := d.ComputeProcesses()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("without %v: %v, -want +got:\n%s", missing, err, diff)
		}
	}
}

func TestOldDriverLacksFunctions(t *testing.T) {
	g := fakenvml.H200(0)
	lib := fakenvml.New(g)
	lib.Missing = []string{"nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetFieldValues", "nvmlInit_v2", "nvmlDeviceGetCount_v2", "nvmlErrorString"}
	a, d := open(t, lib)
	if n, err := a.Count(); n != 1 || err != nil {
		t.Errorf("count = %d, %v", n, err)
	}
	m, err := d.Memory()
	if want := (nvml.Memory{Total: g.Total, Free: g.Total - g.Used - g.Reserved, Used: g.Used + g.Reserved}); err != nil || m != want {
		t.Errorf("memory = %v, %v; want %v", m, err, want)
	}
	if err := d.Fields(make([]nvml.FieldValue, 1)); !errors.Is(err, nvml.ErrNotSupported) {
		t.Errorf("fields: %v, want ErrNotSupported", err)
	}
	if _, err := d.Fan(); !errors.Is(err, nvml.ErrNotSupported) {
		t.Errorf("fan: %v, want ErrNotSupported", err)
	}
}

func TestXIDsArrive(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0), fakenvml.H200(1))
	a, d := open(t, lib)
	x, err := a.NewXIDs()
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := x.Watch(d); err != nil {
		t.Fatal(err)
	}
	if _, _, ok, err := x.Next(); ok || err != nil {
		t.Errorf("next: %v, %v, want nothing", ok, err)
	}
	lib.XID(0, 79)
	if of, n, ok, err := x.Next(); !ok || err != nil || n != 79 || !of.Is(d) {
		t.Errorf("next: XID %d, %v, %v, want 79 of GPU 0", n, ok, err)
	}
}

func TestErrorsNameTheFunction(t *testing.T) {
	lib := fakenvml.New()
	lib.Fail = map[string]nvml.Code{"nvmlInit_v2": nvml.DriverNotLoaded}
	t.Cleanup(nvml.Substitute(lib.Open))
	_, err := nvml.Open()
	if want := "nvmlInit_v2: Driver Not Loaded (NVML error 9)"; err == nil || err.Error() != want {
		t.Errorf("open: %v, want %s", err, want)
	}
	lib.Missing = []string{"nvmlDeviceGetHandleByIndex", "nvmlDeviceGetHandleByIndex_v2"}
	if _, err := nvml.Open(); !errors.As(err, new(*nvml.MissingError)) {
		t.Errorf("open: %v, want a MissingError", err)
	}
}
