package monitor

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/nvml"
)

// gpuReader reads one GPU. It remembers what does not change, and counters for rates.
type gpuReader struct {
	index   int
	device  *nvml.Device // nil if err is not
	err     error
	fixed   GPU
	watched bool // XIDs are reported
	xid     int64

	fields   [5]nvml.FieldValue
	counters [4]counter // of the fields after the first

	// Where the PCIe counters cannot be used, the driver's own measurement is. It takes 40 ms,
	// so it runs in the background.
	background sync.WaitGroup
	measuring  atomic.Bool
	throughput atomic.Pointer[[2]float64] // bytes per second, sent and received
}

// counter is a reading of a counter.
type counter struct {
	value uint64
	at    time.Time
}

// rate returns the increase per second since the last reading.
func (c *counter) rate(f *nvml.FieldValue, now time.Time) Optional[float64] {
	v, known := f.Counter()
	if !known {
		*c = counter{}
		return Optional[float64]{}
	}
	last := *c
	*c = counter{v, now}
	seconds := now.Sub(last.at).Seconds()
	if last.at.IsZero() || seconds <= 0 || v < last.value { // less after a reset of the driver
		return Optional[float64]{}
	}
	return Some(float64(v-last.value) / seconds)
}

// isWide reports whether a counter has certainly more than 32 bits. NVML's type does not say so:
// nvml.h warns that the counters of PCIe wrap.
func isWide(f *nvml.FieldValue) bool {
	v, known := f.Counter()
	return known && v > math.MaxUint32
}

func newGPUReader(api *nvml.API, index int) *gpuReader {
	r := &gpuReader{index: index, fixed: GPU{Index: index}}
	r.open(api)
	return r
}

func (r *gpuReader) open(api *nvml.API) {
	d, err := api.Device(r.index)
	if err != nil {
		r.err = err
		return
	}
	r.device, r.err = d, nil
	f := &r.fixed
	// What cannot be read stays empty.
	f.Name, _ = d.Name()
	f.UUID, _ = d.UUID()
	f.PCIAddress, _ = d.PCIAddress()
	if n, err := d.Minor(); err == nil {
		f.DeviceFile = "nvidia" + strconv.Itoa(int(n))
	}
	f.SMClockMaxMHz = number(d.MaxClock(nvml.SMClock))
	f.MemoryClockMaxMHz = number(d.MaxClock(nvml.MemoryClock))
	r.fields = [...]nvml.FieldValue{
		{ID: nvml.FieldMemoryTemperature},
		{ID: nvml.FieldPCIeTransmit}, {ID: nvml.FieldPCIeReceive},
		{ID: nvml.FieldNVLinkTransmit, Scope: nvml.AllLinks}, {ID: nvml.FieldNVLinkReceive, Scope: nvml.AllLinks},
	}
}

// number returns a result of NVML as a value.
func number[T uint32 | uint64](v T, err error) Optional[float64] {
	if err != nil {
		return Optional[float64]{}
	}
	return Some(float64(v))
}

func integer[T uint32 | uint64](v T, err error) Optional[int64] {
	if err != nil {
		return Optional[int64]{}
	}
	return Some(int64(v))
}

// scaled multiplies a value.
func scaled(o Optional[float64], by float64) Optional[float64] {
	o.value *= by
	return o
}

// read measures the GPU.
func (r *gpuReader) read(api *nvml.API) GPU {
	if r.device == nil {
		r.open(api)
	}
	g := r.fixed
	if r.device == nil {
		return g.failed(r.err)
	}
	d := r.device
	// A lost GPU fails every call, so one is checked.
	u, err := d.Utilization()
	if isLost(err) {
		return g.failed(err)
	}
	if err == nil {
		g.UtilizationPercent, g.MemoryBusyPercent = Some(float64(u.GPU)), Some(float64(u.Memory))
	}
	g.EncoderPercent, g.DecoderPercent = number(d.Encoder()), number(d.Decoder())
	if m, err := d.Memory(); err == nil {
		g.MemoryTotalBytes, g.MemoryUsedBytes, g.MemoryFreeBytes = Some(int64(m.Total)), Some(int64(m.Used)), Some(int64(m.Free))
		if m.KnowsReserved {
			g.MemoryReservedBytes = Some(int64(m.Reserved))
		}
	}
	g.PowerWatts, g.PowerLimitWatts = scaled(number(d.Power()), 1e-3), scaled(number(d.PowerLimit()), 1e-3)
	g.EnergyJoules = scaled(number(d.Energy()), 1e-3)
	g.TemperatureCelsius, g.FanPercent = number(d.Temperature()), number(d.Fan())
	g.SMClockMHz, g.MemoryClockMHz = number(d.Clock(nvml.SMClock)), number(d.Clock(nvml.MemoryClock))
	g.PerformanceState = integer(d.PerformanceState())
	if bits, err := d.ClockReasons(); err == nil {
		g.ClockLimits = clockLimits(bits)
	}
	g.PCIeGeneration, g.PCIeLanes, g.PCIeReplays = integer(d.PCIeGeneration()), integer(d.PCIeWidth()), integer(d.PCIeReplays())
	g.ECCCorrected, g.ECCUncorrected = integer(d.ECCErrors(false)), integer(d.ECCErrors(true))
	if r.watched {
		g.LastXID = Some(r.xid)
	}
	r.readFields(&g)
	g.Processes = r.processes()
	return g
}

func (g GPU) failed(err error) GPU {
	g.Err = &GPUError{g.Index, err}
	g.Problem = g.Err.Error()
	return g
}

// readFields reads what NVML has as fields.
func (r *gpuReader) readFields(g *GPU) {
	now := time.Now()
	if r.device.Fields(r.fields[:]) != nil {
		for i := range r.fields {
			r.fields[i].Code = nvml.NotSupported
		}
	}
	if v, known := r.fields[0].Number(); known {
		g.MemoryTemperatureCelsius = Some(v)
	}
	rates := [...]*Optional[float64]{&g.PCIeTransmitBytesPerSecond, &g.PCIeReceiveBytesPerSecond, &g.NVLinkTransmitBytesPerSecond, &g.NVLinkReceiveBytesPerSecond}
	for i, rate := range rates {
		*rate = r.counters[i].rate(&r.fields[1+i], now)
	}
	const kib = 1024
	g.NVLinkTransmitBytesPerSecond = scaled(g.NVLinkTransmitBytesPerSecond, kib)
	g.NVLinkReceiveBytesPerSecond = scaled(g.NVLinkReceiveBytesPerSecond, kib)
	if !isWide(&r.fields[1]) || !isWide(&r.fields[2]) {
		g.PCIeTransmitBytesPerSecond, g.PCIeReceiveBytesPerSecond = Optional[float64]{}, Optional[float64]{}
		r.measureThroughput(g)
	}
}

// measureThroughput reports the last measurement of the PCIe traffic, and starts the next.
func (r *gpuReader) measureThroughput(g *GPU) {
	if last := r.throughput.Load(); last != nil {
		g.PCIeTransmitBytesPerSecond, g.PCIeReceiveBytesPerSecond = Some(last[0]), Some(last[1])
	}
	if !r.measuring.CompareAndSwap(false, true) {
		return
	}
	d := r.device
	r.background.Go(func() {
		defer r.measuring.Store(false)
		transmit, receive, err := d.PCIeThroughput()
		if err != nil {
			r.throughput.Store(nil)
			return
		}
		r.throughput.Store(&[2]float64{float64(transmit) * 1e3, float64(receive) * 1e3})
	})
}

// limits are the reasons for low clocks, by bit.
var limits = [...]string{"idle", "application clocks", "power cap", "hardware slowdown", "sync boost", "thermal", "hardware thermal", "power brake", "display clocks"}

func clockLimits(bits uint64) (list []string) {
	for i, name := range limits {
		if bits>>i&1 != 0 {
			list = append(list, name)
		}
	}
	return list
}

// processes returns the processes on the GPU, those with most memory first.
func (r *gpuReader) processes() (list []Process) {
	add := func(found []nvml.Process, graphics bool) {
		for _, p := range found {
			// A process that computes and draws is in both lists.
			if slices.ContainsFunc(list, func(o Process) bool { return o.PID == int(p.PID) }) {
				continue
			}
			of := Process{PID: int(p.PID), Graphics: graphics}
			if p.KnowsMemory {
				of.MemoryBytes = Some(int64(p.Memory))
			}
			list = append(list, of)
		}
	}
	// Without permission there are none.
	compute, _ := r.device.ComputeProcesses()
	add(compute, false)
	graphics, _ := r.device.GraphicsProcesses()
	add(graphics, true)
	r.utilization(list)
	slices.SortFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.MemoryBytes.Or(-1), a.MemoryBytes.Or(-1)), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// sampleAge is how old samples of processes may be. Drivers take them about once per second.
const sampleAge = 2 * time.Second

// utilization adds how much processes used the GPU, by the newest samples.
func (r *gpuReader) utilization(list []Process) {
	if len(list) == 0 {
		return
	}
	samples, err := r.device.ProcessUtilization(uint64(time.Now().Add(-sampleAge).UnixMicro()))
	if err != nil {
		return
	}
	newest := map[int]nvml.ProcessUtilization{}
	for _, s := range samples {
		if s.Time >= newest[int(s.PID)].Time {
			newest[int(s.PID)] = s
		}
	}
	for i := range list {
		s := newest[list[i].PID] // zero if the process was idle
		list[i].SMPercent, list[i].MemoryPercent = Some(float64(s.SM)), Some(float64(s.Memory))
	}
}
