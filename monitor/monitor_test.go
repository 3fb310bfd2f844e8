package monitor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
	"quern.dev/monitor"
)

// open returns a monitor of a machine with the GPUs of lib.
func open(t testing.TB, lib *fakenvml.Library) *monitor.Monitor {
	t.Helper()
	t.Cleanup(nvml.Substitute(lib.Open))
	m := monitor.Open()
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if n := lib.Users(); n != 0 {
			t.Errorf("%d users of NVML are left", n)
		}
	})
	return m
}

func read(t testing.TB, m *monitor.Monitor) *monitor.Snapshot {
	t.Helper()
	s, err := m.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// want checks that a value is known and has the given value.
func want[T comparable](t *testing.T, what string, got monitor.Optional[T], want T) {
	t.Helper()
	if v, known := got.Get(); !known || v != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestValuesHaveTheUnitsOfTheirNames(t *testing.T) {
	m := open(t, fakenvml.New(fakenvml.H200(0), fakenvml.H200(1)))
	s := read(t, m)
	if s.Err != nil || len(s.GPUs) != 2 || s.DriverVersion != "580.95.05" || s.CUDAVersion != "13.0" {
		t.Fatalf("%d GPUs, driver %q, CUDA %q, %v", len(s.GPUs), s.DriverVersion, s.CUDAVersion, s.Err)
	}
	g := s.GPUs[1]
	if g.Index != 1 || g.Name != "NVIDIA H200" || g.PCIAddress != "00000000:05:00.0" || g.DeviceFile != "nvidia1" {
		t.Errorf("GPU %d %q at %q, %q", g.Index, g.Name, g.PCIAddress, g.DeviceFile)
	}
	want(t, "utilization", g.UtilizationPercent, 97)
	want(t, "memory busy", g.MemoryBusyPercent, 41)
	want(t, "used memory", g.MemoryUsedBytes, 121344<<20)
	want(t, "power", g.PowerWatts, 612.5)
	want(t, "power limit", g.PowerLimitWatts, 700)
	want(t, "energy", g.EnergyJoules, 123456.789)
	want(t, "memory temperature", g.MemoryTemperatureCelsius, 78)
	want(t, "SM clock", g.SMClockMHz, 1980)
	want(t, "XID", g.LastXID, 0)
	if len(g.ClockLimits) != 1 || g.ClockLimits[0] != "power cap" {
		t.Errorf("clock limits: %q", g.ClockLimits)
	}
	if len(g.Processes) != 1 || g.Processes[0].PID != 4_000_001 {
		t.Fatalf("processes: %+v", g.Processes)
	}
	want(t, "SM of the process", g.Processes[0].SMPercent, 95)
}

func TestWhatTheDriverLacksIsAbsent(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0))
	lib.Missing = []string{"nvmlDeviceGetUtilizationRates", "nvmlDeviceGetFieldValues", "nvmlDeviceGetTotalEnergyConsumption", "nvmlEventSetCreate", "nvmlDeviceGetProcessUtilization"}
	g := read(t, open(t, lib)).GPUs[0]
	if g.Err != nil {
		t.Fatal(g.Err)
	}
	for what, known := range map[string]bool{
		"utilization": !g.UtilizationPercent.IsZero(), "memory temperature": !g.MemoryTemperatureCelsius.IsZero(), "fan": !g.FanPercent.IsZero(),
		"energy": !g.EnergyJoules.IsZero(), "XID": !g.LastXID.IsZero(), "NVLink": !g.NVLinkReceiveBytesPerSecond.IsZero(), "SM of the process": !g.Processes[0].SMPercent.IsZero(),
	} {
		if known {
			t.Errorf("%s is known", what)
		}
	}
	want(t, "power", g.PowerWatts, 612.5)
	text, err := json.Marshal(g)
	if err != nil || bytes.Contains(text, []byte("utilization_percent")) || bytes.Contains(text, []byte("null")) {
		t.Errorf("%v, %s", err, text)
	}
}

func TestRatesAreBetweenTwoReadings(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0))
	m := open(t, lib)
	first := read(t, m)
	if g := first.GPUs[0]; !g.PCIeTransmitBytesPerSecond.IsZero() || !g.NVLinkReceiveBytesPerSecond.IsZero() {
		t.Error("rates are known at once")
	}
	lib.Change(0, func(g *fakenvml.GPU) { g.PCIeTransmit += 1_000_000; g.NVLinkReceive += 1_000_000 })
	time.Sleep(10 * time.Millisecond)
	second := read(t, m)
	elapsed := second.Time.Sub(first.Time).Seconds()
	for _, r := range []struct {
		what        string
		got         monitor.Optional[float64]
		transferred float64
	}{{"PCIe", second.GPUs[0].PCIeTransmitBytesPerSecond, 1e6}, {"NVLink", second.GPUs[0].NVLinkReceiveBytesPerSecond, 1024e6}} {
		if v, known := r.got.Get(); !known || v < r.transferred/elapsed/3 || v > r.transferred/elapsed*3 {
			t.Errorf("%s = %v/s, want about %g", r.what, r.got, r.transferred/elapsed)
		}
	}
	lib.Change(0, func(g *fakenvml.GPU) { g.NVLinkReceive = 0 }) // the driver was reset
	if g := read(t, m).GPUs[0]; !g.NVLinkReceiveBytesPerSecond.IsZero() {
		t.Errorf("NVLink = %v after a reset", g.NVLinkReceiveBytesPerSecond)
	}
}

func TestPCIeWithoutUsableCountersIsMeasuredInTheBackground(t *testing.T) {
	for name, change := range map[string]func(g *fakenvml.GPU){
		"no counters":                       func(g *fakenvml.GPU) { g.LacksFields = []nvml.FieldID{nvml.FieldPCIeTransmit, nvml.FieldPCIeReceive} },
		"counters of 32 bits":               func(g *fakenvml.GPU) { g.NarrowPCIe = true },
		"counters that may wrap at 32 bits": func(g *fakenvml.GPU) { g.PCIeReceive = 1 << 31 },
	} {
		t.Run(name, func(t *testing.T) {
			g := fakenvml.H200(0)
			g.ThroughputTransmit, g.ThroughputReceive = 3000, 4000
			change(g)
			measuredInTheBackground(t, open(t, fakenvml.New(g)))
		})
	}
}

func measuredInTheBackground(t *testing.T, m *monitor.Monitor) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		s := read(t, m)
		if !s.GPUs[0].PCIeReceiveBytesPerSecond.IsZero() {
			want(t, "PCIe out", s.GPUs[0].PCIeTransmitBytesPerSecond, 3e6)
			want(t, "PCIe in", s.GPUs[0].PCIeReceiveBytesPerSecond, 4e6)
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("no throughput")
		}
	}
}

func TestLostGPUIsAnErrorOfThatGPU(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0), fakenvml.H200(1))
	m := open(t, lib)
	lib.XID(1, 79)
	lib.Change(0, func(g *fakenvml.GPU) { g.Lost = true })
	s := read(t, m)
	var failed *monitor.GPUError
	if err := s.GPUs[0].Err; !errors.Is(err, monitor.ErrLost) || !errors.As(err, &failed) || failed.Index != 0 {
		t.Errorf("GPU 0: %v, want ErrLost", err)
	}
	if s.GPUs[0].Name != "NVIDIA H200" || !s.GPUs[0].PowerWatts.IsZero() {
		t.Errorf("GPU 0 is %+v", s.GPUs[0])
	}
	want(t, "XID of GPU 1", s.GPUs[1].LastXID, 79)
	want(t, "power of GPU 1", s.GPUs[1].PowerWatts, 612.5)
}

func TestMachineWithoutGPUSaysWhy(t *testing.T) {
	fails := func(code nvml.Code) *fakenvml.Library {
		lib := fakenvml.New(fakenvml.H200(0))
		lib.Fail = map[string]nvml.Code{"nvmlInit_v2": code}
		return lib
	}
	for name, tt := range map[string]struct {
		open   func() (nvml.Library, error)
		reason monitor.Reason
	}{
		"no library":           {func() (nvml.Library, error) { return nil, &nvml.MissingError{Reason: "not found"} }, monitor.NoLibrary},
		"no driver":            {fails(nvml.DriverNotLoaded).Open, monitor.NoDriver},
		"no permission":        {fails(nvml.NoPermission).Open, monitor.NoPermission},
		"two versions":         {fails(nvml.VersionMismatch).Open, monitor.Mismatch},
		"driver without a GPU": {fakenvml.New().Open, monitor.NoDevice},
		"unknown":              {fails(999).Open, monitor.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(nvml.Substitute(tt.open))
			m := monitor.Open()
			defer m.Close()
			s := read(t, m)
			var none *monitor.UnavailableError
			if !errors.Is(s.Err, monitor.ErrNoGPU) || !errors.As(s.Err, &none) || none.Reason != tt.reason || none.Advice() == "" || s.Unavailable != s.Err.Error() {
				t.Errorf("error %v, want reason %v", s.Err, tt.reason)
			}
			if len(s.CPU.Cores) == 0 || s.CPU.Name == "" {
				t.Errorf("CPU is %+v", s.CPU)
			}
		})
	}
}

func TestSampleSummarizes(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0))
	t.Cleanup(nvml.Substitute(lib.Open))
	powers := []float64{100, 300, 200}
	lib.Change(0, func(g *fakenvml.GPU) { g.Power = 100_000 })
	var last *monitor.Snapshot
	n := 0
	for last = range monitor.Sample(t.Context(), 10*time.Millisecond) {
		if n++; n == len(powers) {
			break
		}
		lib.Change(0, func(g *fakenvml.GPU) { g.Power = uint32(1000 * powers[n]) })
	}
	h := last.History.GPU(0, monitor.Power)
	if h.Count != 3 || h.Average != 200 || h.Max != 300 || len(h.Timeline) != 3 {
		t.Fatalf("%+v", h)
	}
	for i, p := range h.Timeline {
		if p.Value != powers[i] || i > 0 && !p.Time.After(h.Timeline[i-1].Time) {
			t.Errorf("point %d is %+v, want %v", i, p, powers[i])
		}
	}
	if s := last.History.GPU(0, monitor.PCIeReceive); s.Count != 2 || !math.IsNaN(s.Timeline[0].Value) {
		t.Errorf("PCIe: %+v, want an absent value first", s)
	}
	if s := last.History.LastGPU(0, monitor.Power, 2); len(s.Timeline) != 2 || s.Timeline[1].Value != 200 {
		t.Errorf("last two: %+v", s)
	}
	for _, s := range []monitor.Series{last.History.GPU(7, monitor.Power), last.History.GPU(0, 99), (*monitor.History)(nil).GPU(0, monitor.Power), (*monitor.History)(nil).CPULoad(3)} {
		if s.Count != 0 || len(s.Timeline) != 0 {
			t.Errorf("%+v of what does not exist", s)
		}
	}
	if n := lib.Users(); n != 0 {
		t.Errorf("%d users of NVML are left", n)
	}
}

func TestSampleEndsWithItsContext(t *testing.T) {
	lib := fakenvml.New(fakenvml.H200(0))
	t.Cleanup(nvml.Substitute(lib.Open))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range monitor.Sample(ctx, 0) {
	}
	if ctx.Err() == nil {
		t.Error("Sample ended before its context")
	}
}

// hung is a driver that stops answering.
type hung struct {
	*fakenvml.Library
	answers atomic.Pointer[chan struct{}] // if set, calls wait for it
}

func (h *hung) Call(function uintptr, args []uintptr) uintptr {
	if c := h.answers.Load(); c != nil {
		<-*c
	}
	return h.Library.Call(function, args)
}

func TestReadOfADriverThatDoesNotAnswerEndsWithItsContext(t *testing.T) {
	lib := &hung{Library: fakenvml.New(fakenvml.H200(0))}
	t.Cleanup(nvml.Substitute(func() (nvml.Library, error) { return lib, nil }))
	m := monitor.Open()
	answers := make(chan struct{})
	lib.answers.Store(&answers)
	for range 2 { // the second waits for the first
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := m.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("read: %v, want the error of the context", err)
		}
		cancel()
	}
	close(answers)
	if s := read(t, m); s.Err != nil || s.GPUs[0].Err != nil {
		t.Errorf("after the driver answers again: %v, %v", s.Err, s.GPUs[0].Err)
	}
	if err := m.Close(); err != nil || lib.Users() != 0 {
		t.Errorf("close: %v, %d users", err, lib.Users())
	}
}

func TestReadAfterCloseFails(t *testing.T) {
	m := open(t, fakenvml.New(fakenvml.H200(0)))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(t.Context()); err == nil {
		t.Error("read a closed monitor")
	}
}

var metricName = regexp.MustCompile(`\b(DCGM_FI_DEV|quern)_\w+`)

// exported returns what a machine with a GPU, and a program with a device, export.
func exported(t *testing.T) string {
	t.Helper()
	lib := fakenvml.New(fakenvml.H200(0))
	m := open(t, lib)
	// The system counts processor time in ticks of 10 ms.
	s := read(t, m)
	for deadline := time.Now().Add(10 * time.Second); s.CPU.LoadPercent.IsZero() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s = read(t, m)
	}
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	server := httptest.NewServer(monitor.Handler(s.WritePrometheus, monitor.Devices(dev, nil, dev)))
	t.Cleanup(server.Close)
	r, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(r.Body); err != nil || r.StatusCode != 200 {
		t.Fatalf("%s, %v", r.Status, err)
	}
	return text.String()
}

func TestExportHasTheNamesLabelsAndUnitsOfDCGM(t *testing.T) {
	text := exported(t)
	hosts := regexp.MustCompile(`Hostname="[^"]*"`).ReplaceAllString(text, `Hostname="h"`)
	labels := `{gpu="0",UUID="GPU-00000000-1111-2222-3333-444455556666",pci_bus_id="00000000:04:00.0",device="nvidia0",modelName="NVIDIA H200",Hostname="h",DCGM_FI_DRIVER_VERSION="580.95.05"}`
	for name, value := range map[string]string{
		"DCGM_FI_DEV_SM_CLOCK": "1980", "DCGM_FI_DEV_MEM_CLOCK": "3201", "DCGM_FI_DEV_GPU_TEMP": "64", "DCGM_FI_DEV_MEMORY_TEMP": "78",
		"DCGM_FI_DEV_POWER_USAGE": "612.5", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "1.23456789e+08", "DCGM_FI_DEV_GPU_UTIL": "97",
		"DCGM_FI_DEV_MEM_COPY_UTIL": "41", "DCGM_FI_DEV_ENC_UTIL": "0", "DCGM_FI_DEV_DEC_UTIL": "0", "DCGM_FI_DEV_FB_FREE": "21819",
		"DCGM_FI_DEV_FB_USED": "121344", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "0", "DCGM_FI_DEV_XID_ERRORS": "0", "quern_gpu_up": "1",
	} {
		if line := name + labels + " " + value + "\n"; !strings.Contains(hosts, line) {
			t.Errorf("no line %s", line)
		}
	}
	if strings.Contains(text, "FAN_SPEED") {
		t.Error("the GPU has no fan, but a metric of it")
	}
	for _, line := range []string{"quern_monitor_gpus 1\n", `quern_device_launches_total{device="cpu"} 0` + "\n", `quern_pool_reserved_bytes{device="cpu"} 0` + "\n"} {
		if strings.Count(text, line) != 1 {
			t.Errorf("%d lines %s", strings.Count(text, line), line)
		}
	}
}

// TestAClosedDeviceHasItsCountsAndNoMemory: a scrape may come while a program ends.
func TestAClosedDeviceHasItsCountsAndNoMemory(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	x, err := gpu.Upload(dev.DefaultStream(), make([]float32, 100))
	if err != nil {
		t.Fatal(err)
	}
	scrape := func() string {
		w := httptest.NewRecorder()
		monitor.Handler(monitor.Devices(dev)).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	const copies, memory = `quern_device_copies_total{device="cpu"} 1` + "\n", "quern_device_memory_total_bytes{"
	if text := scrape(); !strings.Contains(text, copies) || !strings.Contains(text, memory) {
		t.Errorf("the device has %s", text)
	}
	if err := errors.Join(x.Close(), dev.Close()); err != nil {
		t.Fatal(err)
	}
	if text := scrape(); !strings.Contains(text, copies) || strings.Contains(text, memory) {
		t.Errorf("the closed device has %s", text)
	}
}

func TestEveryMetricOfTheDashboardIsExported(t *testing.T) {
	dashboard, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Skip(err)
	}
	if !json.Valid(dashboard) {
		t.Fatal("docs/grafana.json is not JSON")
	}
	ring, err := os.ReadFile("../ring/telemetry.go")
	if err != nil {
		t.Skip(err)
	}
	text := exported(t) + string(ring)
	names := map[string]bool{}
	for _, name := range metricName.FindAllString(text, -1) {
		names[name] = true
	}
	found := metricName.FindAllString(string(dashboard), -1)
	if len(found) < 10 {
		t.Errorf("the dashboard has %d metrics", len(found))
	}
	for _, name := range found {
		if !names[name] && !names[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("%s is not exported", name)
		}
	}
}

func TestSourceThatFailsIsAnError(t *testing.T) {
	w := httptest.NewRecorder()
	monitor.Handler(monitor.Devices(), func(io.Writer) error { return errors.New("broken") }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 500 || w.Body.String() != "broken\n" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	w = httptest.NewRecorder()
	monitor.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/metrics", nil))
	if w.Code != 405 {
		t.Errorf("POST: %d", w.Code)
	}
}

func BenchmarkRead(b *testing.B) {
	var gpus []*fakenvml.GPU
	for i := range 8 {
		gpus = append(gpus, fakenvml.H200(i))
	}
	m := open(b, fakenvml.New(gpus...))
	b.ReportAllocs()
	for b.Loop() {
		read(b, m)
	}
}

// A scrape does not wait for the driver, so it does not depend on how long calls take.
func BenchmarkScrape(b *testing.B) {
	var gpus []*fakenvml.GPU
	for i := range 8 {
		gpus = append(gpus, fakenvml.H200(i))
	}
	lib := fakenvml.New(gpus...)
	lib.Wait = 100 * time.Microsecond
	b.Cleanup(nvml.Substitute(lib.Open))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	sampler := monitor.StartSampler(ctx, time.Second)
	server := httptest.NewServer(monitor.Handler(sampler.WritePrometheus))
	defer server.Close()
	sampler.Last()
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.Get(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r.Body); err != nil {
			b.Fatal(err)
		}
		r.Body.Close()
	}
}
