package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/nvml"
	"quern.dev/monitor"
)

// assess prints an assessment of the hardware.
func assess(ctx context.Context, w io.Writer) error {
	h := hardware{read: os.ReadFile}
	h.gpus, h.reason = readGPUs(ctx)
	fmt.Fprintln(w, "\nHardware:")
	printFindings(w, h.findings())
	return ctx.Err()
}

// hardware is what is assessed. Tests create their own.
type hardware struct {
	gpus   []gpuFacts
	reason error // why there are no GPUs
	read   func(file string) ([]byte, error)
}

// gpuFacts are what NVML says of a GPU. What it does not say is absent.
type gpuFacts struct {
	monitor.GPU
	driver                              string
	mostGeneration, mostLanes           int64 // 0 if unknown
	defaultWatts                        float64
	ecc, eccLater, knowsECC             bool
	persistence, knowsPersistence, load bool
}

// readGPUs reads all GPUs. Those that this process can use are read while they copy, since an
// idle GPU lowers its link and its clocks.
func readGPUs(ctx context.Context) ([]gpuFacts, error) {
	for _, d := range gpu.Devices() {
		if d.Backend == gpu.CUDA && d.Err == nil {
			end := copying(ctx, d.ID)
			defer end()
		}
	}
	m := monitor.Open()
	defer m.Close()
	s, err := m.Read(ctx)
	if err != nil {
		return nil, err
	}
	if s.Err != nil {
		return nil, s.Err
	}
	api, err := nvml.Open()
	if err != nil {
		return nil, err
	}
	defer api.Close()
	var list []gpuFacts
	for _, g := range s.GPUs {
		f := gpuFacts{GPU: g, driver: s.DriverVersion}
		if d, err := api.Device(g.Index); err == nil {
			f.readMore(d)
		}
		list = append(list, f)
	}
	return list, nil
}

// readMore reads what package monitor does not have.
func (f *gpuFacts) readMore(d *nvml.Device) {
	if v, err := d.MaxPCIeGeneration(); err == nil {
		f.mostGeneration = int64(v)
	}
	if v, err := d.MaxPCIeWidth(); err == nil {
		f.mostLanes = int64(v)
	}
	if v, err := d.DefaultPowerLimit(); err == nil {
		f.defaultWatts = float64(v) / 1000
	}
	var err error
	f.ecc, f.eccLater, err = d.ECC()
	f.knowsECC = err == nil
	f.persistence, err = d.Persistence()
	f.knowsPersistence = err == nil
	f.load = f.PerformanceState.Or(15) == 0
}

// loadBytes and loadTime are the copies that make a GPU negotiate its link.
const (
	loadBytes = 64 << 20
	loadTime  = 300 * time.Millisecond
)

// copying copies to a device until the returned function is called. It returns when the device
// has copied for some time.
func copying(ctx context.Context, device string) (end func()) {
	dev, err := gpu.Open(gpu.Config{Device: device})
	if err != nil {
		return func() {}
	}
	s := dev.DefaultStream()
	host := make([]byte, loadBytes)
	buffer, err := gpu.Upload(s, host)
	if err != nil {
		return func() { dev.Close() }
	}
	ctx, cancel := context.WithCancel(ctx)
	warm, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		begin, told := time.Now(), false
		for {
			stop := ctx.Err() != nil || gpu.CopyIn(s, buffer, host) != nil
			if !told && (stop || time.Since(begin) > loadTime) {
				told = true
				close(warm)
			}
			if stop {
				return
			}
		}
	}()
	<-warm
	return func() {
		cancel()
		<-done
		buffer.Close()
		dev.Close()
	}
}

// findings assesses everything.
func (h hardware) findings() []finding {
	var list []finding
	if len(h.gpus) == 0 {
		f := finding{what: "GPUs: none can be read"}
		if h.reason != nil {
			f.what = fmt.Sprintf("GPUs: %v", h.reason)
		}
		var none *monitor.UnavailableError
		if errors.As(h.reason, &none) {
			f.advice = none.Advice()
		}
		list = append(list, f)
	}
	for i := range h.gpus {
		list = append(list, h.gpu(&h.gpus[i])...)
	}
	return append(list, h.numa(), h.hugePages(), h.locked(), h.governor())
}

// gpu assesses a GPU.
func (h hardware) gpu(g *gpuFacts) []finding {
	name := fmt.Sprintf("GPU %d", g.Index)
	if g.Err != nil {
		return []finding{{needed: true, what: fmt.Sprintf("%s: %v", name, g.Err), advice: "reset it (nvidia-smi --gpu-reset), or restart the machine; dmesg has the reason (Xid)"}}
	}
	list := []finding{{ok: true, what: fmt.Sprintf("%s: %s, %s, driver %s", name, g.Name, g.PCIAddress, g.driver)}}
	list = append(list, g.link(name)...)
	list = append(list, g.memory(name)...)
	list = append(list, g.power(name)...)
	if g.knowsPersistence {
		f := finding{ok: g.persistence, what: name + ": persistence mode is " + onOff(g.persistence)}
		if !g.persistence {
			f.advice = "the first program that uses the GPU waits until it is initialized: start nvidia-persistenced, or nvidia-smi -pm 1"
		}
		list = append(list, f)
	}
	return append(list, h.affinity(name, g)...)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// link assesses the PCIe link.
func (g *gpuFacts) link(name string) []finding {
	generation, knows := g.PCIeGeneration.Get()
	lanes, knowsLanes := g.PCIeLanes.Get()
	if !knows || !knowsLanes {
		return nil
	}
	f := finding{ok: true, what: fmt.Sprintf("%s: PCIe link of generation %d with %d lanes", name, generation, lanes)}
	if g.mostGeneration > 0 && g.mostLanes > 0 {
		f.what += fmt.Sprintf(" (most: %d, %d)", g.mostGeneration, g.mostLanes)
	}
	switch {
	case lanes < g.mostLanes:
		f.ok = false
		f.advice = fmt.Sprintf("copies reach %d/%d of the bandwidth: use a slot with %d lanes, reseat the GPU, check risers and the BIOS's bifurcation", lanes, g.mostLanes, g.mostLanes)
	case generation < g.mostGeneration && g.load:
		f.ok = false
		f.advice = "the link is slower than GPU and slot allow: set the slot's speed in the BIOS to automatic, check risers and the kernel's log for PCIe errors"
	case generation < g.mostGeneration:
		f.what += "; an idle GPU lowers the generation"
	}
	list := []finding{f}
	if n := g.PCIeReplays.Or(0); n > 0 {
		list = append(list, finding{what: fmt.Sprintf("%s: %d PCIe replays since the driver was loaded", name, n), advice: "if the number grows, the link is unreliable: reseat the GPU, check risers"})
	}
	return list
}

// memory assesses ECC.
func (g *gpuFacts) memory(name string) []finding {
	var list []finding
	if g.knowsECC {
		f := finding{ok: g.ecc == g.eccLater, what: name + ": ECC is " + onOff(g.ecc)}
		if g.ecc != g.eccLater {
			f.advice = "it will be " + onOff(g.eccLater) + " after the next reset of the GPU"
		} else if !g.ecc {
			f.ok, f.advice = false, "errors of the memory are not found; switch it on unless that does not matter: nvidia-smi -e 1, then reset"
		}
		list = append(list, f)
	}
	if n := g.ECCUncorrected.Or(0); n > 0 {
		list = append(list, finding{what: fmt.Sprintf("%s: %d uncorrected errors of the memory", name, n), advice: "results may be wrong: reset the GPU; if errors return, replace it"})
	}
	return list
}

// power assesses the power limit and the clocks.
func (g *gpuFacts) power(name string) []finding {
	var list []finding
	if limit, ok := g.PowerLimitWatts.Get(); ok {
		f := finding{ok: true, what: fmt.Sprintf("%s: power limit %.0f W", name, limit)}
		if g.defaultWatts > 0 {
			f.what += fmt.Sprintf(" (default %.0f W)", g.defaultWatts)
			if limit < g.defaultWatts {
				f.ok, f.advice = false, fmt.Sprintf("long kernels run at lower clocks; if power and cooling allow it: nvidia-smi -pl %.0f", g.defaultWatts)
			}
		}
		list = append(list, f)
	}
	if now, ok := g.SMClockMHz.Get(); ok {
		f := finding{ok: true, what: fmt.Sprintf("%s: clock %.0f MHz", name, now)}
		if most, ok := g.SMClockMaxMHz.Get(); ok {
			f.what += fmt.Sprintf(" of %.0f MHz", most)
		}
		for _, why := range g.ClockLimits {
			if why != "idle" {
				f.ok = false
				f.what += ", limited by " + why
				f.advice = "check cooling, power supply and limits: nvidia-smi -q -d PERFORMANCE,CLOCK"
			}
		}
		list = append(list, f)
	}
	return list
}

// affinity compares the NUMA node of a GPU with the processors that this process may use.
func (h hardware) affinity(name string, g *gpuFacts) []finding {
	address := strings.ToLower(g.PCIAddress)
	if domain, rest, ok := strings.Cut(address, ":"); ok && len(domain) > 4 {
		address = domain[len(domain)-4:] + ":" + rest
	}
	dir := "/sys/bus/pci/devices/" + address
	node, cpus := h.line(dir+"/numa_node"), h.line(dir+"/local_cpulist")
	if node == "" || node == "-1" {
		return nil
	}
	f := finding{ok: true, what: fmt.Sprintf("%s: NUMA node %s, CPUs %s", name, node, cpus)}
	if _, err := h.read("/sys/devices/system/node/node1/cpulist"); err == nil {
		f.advice = fmt.Sprintf("run programs near it: numactl --cpunodebind=%s --membind=%s", node, node)
	}
	return []finding{f}
}

// line returns the first line of a file, "" if it cannot be read.
func (h hardware) line(file string) string {
	b, err := h.read(file)
	if err != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(text)
}

func (h hardware) numa() finding {
	nodes := 0
	for h.line(path.Join("/sys/devices/system/node", "node"+strconv.Itoa(nodes), "cpulist")) != "" {
		nodes++
	}
	switch nodes {
	case 0:
		return finding{ok: true, what: "NUMA: unknown"}
	case 1:
		return finding{ok: true, what: "NUMA: one node"}
	}
	f := finding{ok: true, what: fmt.Sprintf("NUMA: %d nodes", nodes)}
	if h.line("/proc/sys/kernel/numa_balancing") == "1" {
		f.ok, f.what = false, f.what+", automatic balancing is on"
		f.advice = "it moves pages while the GPU copies them; for latency, switch it off: sysctl kernel.numa_balancing=0"
	}
	return f
}

func (h hardware) hugePages() finding {
	text := h.line("/sys/kernel/mm/transparent_hugepage/enabled")
	_, rest, found := strings.Cut(text, "[")
	mode, _, _ := strings.Cut(rest, "]")
	switch {
	case !found:
		return finding{ok: true, what: "transparent huge pages: unknown"}
	case mode == "never":
		return finding{what: "transparent huge pages: never", advice: "large arrays on the CPU take more time for translating addresses: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"}
	}
	return finding{ok: true, what: "transparent huge pages: " + mode}
}

// enoughLocked is a limit of locked memory with which nothing fails.
const enoughLocked = 1 << 30

func (h hardware) locked() finding {
	b, err := h.read("/proc/self/limits")
	if err != nil {
		return finding{ok: true, what: "limit of locked memory: unknown"}
	}
	for line := range strings.Lines(string(b)) {
		rest, ok := strings.CutPrefix(line, "Max locked memory")
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		if fields[0] == "unlimited" {
			return finding{ok: true, what: "limit of locked memory: unlimited"}
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		f := finding{ok: err == nil && n >= enoughLocked, what: fmt.Sprintf("limit of locked memory: %d KiB", n>>10)}
		if !f.ok {
			f.advice = "the driver's page-locked memory does not count, but NCCL over InfiniBand fails: ulimit -l unlimited, LimitMEMLOCK=infinity in systemd, --ulimit memlock=-1 in Docker"
		}
		return f
	}
	return finding{ok: true, what: "limit of locked memory: unknown"}
}

func (h hardware) governor() finding {
	mode := h.line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	switch mode {
	case "":
		return finding{ok: true, what: "CPU governor: unknown, as in most virtual machines"}
	case "performance":
		return finding{ok: true, what: "CPU governor: performance"}
	}
	return finding{what: "CPU governor: " + mode, advice: "launches and waits take longer at low clocks: cpupower frequency-set -g performance"}
}
