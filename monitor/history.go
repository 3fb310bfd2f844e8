package monitor

import (
	"math"
	"sync"
	"time"
)

// Metric is a value of a GPU that a [History] keeps.
type Metric int

// The metrics that a history keeps, in the units of the fields of [GPU].
const (
	Utilization Metric = iota
	MemoryBusy
	MemoryUsed
	Power
	Temperature
	MemoryTemperature
	SMClock
	MemoryClock
	PCIeTransmit
	PCIeReceive
	NVLinkTransmit
	NVLinkReceive
	metricCount
)

var metrics = [metricCount]struct {
	name, unit string
	of         func(g *GPU) Optional[float64]
}{
	Utilization:       {"utilization", "%", func(g *GPU) Optional[float64] { return g.UtilizationPercent }},
	MemoryBusy:        {"memory busy", "%", func(g *GPU) Optional[float64] { return g.MemoryBusyPercent }},
	MemoryUsed:        {"memory used", "bytes", func(g *GPU) Optional[float64] { return float(g.MemoryUsedBytes) }},
	Power:             {"power", "W", func(g *GPU) Optional[float64] { return g.PowerWatts }},
	Temperature:       {"temperature", "C", func(g *GPU) Optional[float64] { return g.TemperatureCelsius }},
	MemoryTemperature: {"memory temperature", "C", func(g *GPU) Optional[float64] { return g.MemoryTemperatureCelsius }},
	SMClock:           {"SM clock", "MHz", func(g *GPU) Optional[float64] { return g.SMClockMHz }},
	MemoryClock:       {"memory clock", "MHz", func(g *GPU) Optional[float64] { return g.MemoryClockMHz }},
	PCIeTransmit:      {"PCIe transmit", "bytes/s", func(g *GPU) Optional[float64] { return g.PCIeTransmitBytesPerSecond }},
	PCIeReceive:       {"PCIe receive", "bytes/s", func(g *GPU) Optional[float64] { return g.PCIeReceiveBytesPerSecond }},
	NVLinkTransmit:    {"NVLink transmit", "bytes/s", func(g *GPU) Optional[float64] { return g.NVLinkTransmitBytesPerSecond }},
	NVLinkReceive:     {"NVLink receive", "bytes/s", func(g *GPU) Optional[float64] { return g.NVLinkReceiveBytesPerSecond }},
}

func float(o Optional[int64]) Optional[float64] { return Optional[float64]{float64(o.value), o.known} }

// String returns the name, such as "SM clock".
func (m Metric) String() string {
	if m < 0 || m >= metricCount {
		return "unknown metric"
	}
	return metrics[m].name
}

// Unit returns the unit: "%", "bytes", "W", "C", "MHz" or "bytes/s".
func (m Metric) Unit() string {
	if m < 0 || m >= metricCount {
		return ""
	}
	return metrics[m].unit
}

// HistoryLength is how many snapshots a timeline covers: the last hour at one per second.
// Averages and maxima cover all.
const HistoryLength = 3600

// History summarizes the snapshots of a [Sample]. It is safe for concurrent use.
type History struct {
	mu    sync.Mutex
	count int // snapshots
	times []time.Time
	gpus  [][metricCount]track
	load  track
	used  track
}

// track is the values of a metric. Absent ones are NaN.
type track struct {
	values   []float64 // in a ring of HistoryLength
	known    int
	sum, max float64
}

func (t *track) add(at int, o Optional[float64]) {
	v, known := o.Get()
	if !known {
		v = math.NaN()
	} else {
		if t.known == 0 || v > t.max {
			t.max = v
		}
		t.known++
		t.sum += v
	}
	for len(t.values) < min(at, HistoryLength) { // the GPU appeared later
		t.values = append(t.values, math.NaN())
	}
	if at < HistoryLength {
		t.values = append(t.values, v)
	} else {
		t.values[at%HistoryLength] = v
	}
}

// Point is a value at a time.
type Point struct {
	Time  time.Time
	Value float64 // NaN if it is absent
}

// Series is the history of a metric.
type Series struct {
	Count        int     // number of known values
	Average, Max float64 // of all known values; 0 if there are none
	Timeline     []Point // the last ones, oldest first
}

// add adds a snapshot.
func (h *History) add(s *Snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.count
	h.count++
	if at < HistoryLength {
		h.times = append(h.times, s.Time)
	} else {
		h.times[at%HistoryLength] = s.Time
	}
	for len(h.gpus) < len(s.GPUs) {
		h.gpus = append(h.gpus, [metricCount]track{})
	}
	for i := range h.gpus {
		for m := range metrics {
			var v Optional[float64]
			if i < len(s.GPUs) {
				v = metrics[m].of(&s.GPUs[i])
			}
			h.gpus[i][m].add(at, v)
		}
	}
	h.load.add(at, s.CPU.LoadPercent)
	h.used.add(at, float(s.CPU.MemoryUsedBytes()))
}

// GPU returns the history of a metric of the GPU with an index. It is empty for a GPU or a
// metric that does not exist, and for a nil History.
func (h *History) GPU(index int, m Metric) Series { return h.LastGPU(index, m, HistoryLength) }

// LastGPU is GPU with a timeline of at most n points.
func (h *History) LastGPU(index int, m Metric, n int) Series {
	if h == nil {
		return Series{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if index < 0 || index >= len(h.gpus) || m < 0 || m >= metricCount {
		return Series{}
	}
	return h.series(&h.gpus[index][m], n)
}

// CPULoad returns the history of the load of all cores in percent, with a timeline of at most
// n points.
func (h *History) CPULoad(n int) Series { return h.cpu(func() *track { return &h.load }, n) }

// CPUMemory returns the history of the used memory in bytes.
func (h *History) CPUMemory(n int) Series { return h.cpu(func() *track { return &h.used }, n) }

func (h *History) cpu(of func() *track, n int) Series {
	if h == nil {
		return Series{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.series(of(), n)
}

func (h *History) series(t *track, n int) Series {
	s := Series{Count: t.known, Max: t.max}
	if t.known > 0 {
		s.Average = t.sum / float64(t.known)
	}
	n = min(max(n, 0), h.count, HistoryLength)
	s.Timeline = make([]Point, n)
	for i := range s.Timeline {
		at := (h.count - n + i) % HistoryLength
		s.Timeline[i] = Point{h.times[at], t.values[at]}
	}
	return s
}
