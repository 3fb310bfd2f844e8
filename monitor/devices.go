package monitor

import (
	"io"
	"math"

	"quern.dev/gpu"
	"quern.dev/internal/prometheus"
)

// deviceMetric is a metric of a device that a program has opened.
type deviceMetric struct {
	name, kind, help string
	of               func(d *deviceState) float64
}

type deviceState struct {
	gpu.DeviceStats
	pool        gpu.PoolStats
	free, total int64
}

// memory returns a number of bytes, or NaN if the device is closed and does not tell.
func (d *deviceState) memory(bytes int64) float64 {
	if d.total == 0 {
		return math.NaN()
	}
	return float64(bytes)
}

var deviceMetrics = []deviceMetric{
	{"quern_device_launches_total", "counter", "Launches of kernels and graphs.", func(d *deviceState) float64 { return float64(d.Launches) }},
	{"quern_device_copies_total", "counter", "Copies and fills.", func(d *deviceState) float64 { return float64(d.Copies) }},
	{"quern_device_copied_bytes_total", "counter", "Bytes of copies and fills.", func(d *deviceState) float64 { return float64(d.CopiedBytes) }},
	{"quern_device_memory_free_bytes", "gauge", "Free memory of the device.", func(d *deviceState) float64 { return d.memory(d.free) }},
	{"quern_device_memory_total_bytes", "gauge", "Memory of the device.", func(d *deviceState) float64 { return d.memory(d.total) }},
	{"quern_pool_buffers", "gauge", "Buffers of the device's pool that are in use.", func(d *deviceState) float64 { return float64(d.pool.Buffers) }},
	{"quern_pool_used_bytes", "gauge", "Memory of these buffers.", func(d *deviceState) float64 { return float64(d.pool.Used) }},
	{"quern_pool_reserved_bytes", "gauge", "Memory that the pool has taken from the device.", func(d *deviceState) float64 { return float64(d.pool.Reserved) }},
	{"quern_pool_high_water_bytes", "gauge", "Largest value of quern_pool_used_bytes.", func(d *deviceState) float64 { return float64(d.pool.HighWater) }},
	{"quern_pool_hits_total", "counter", "Acquisitions that the pool had memory for.", func(d *deviceState) float64 { return float64(d.pool.Hits) }},
	{"quern_pool_misses_total", "counter", "Acquisitions that took memory from the device.", func(d *deviceState) float64 { return float64(d.pool.Misses) }},
}

// Devices returns a source with the launches, copies and memory of devices that this program has
// opened, and with their own pools ([gpu.Device.Pool]). The label device is [gpu.Device.ID]. Nil
// and repeated devices are skipped. A closed device keeps its counts and has no memory.
func Devices(devices ...*gpu.Device) Source {
	return func(w io.Writer) error {
		var states []deviceState
		var labels []prometheus.Label
		seen := map[string]bool{}
		for _, d := range devices {
			if d == nil || seen[d.ID()] {
				continue // a series must not appear twice
			}
			seen[d.ID()] = true
			s := deviceState{DeviceStats: d.Stats()}
			if pool := d.Pool(); pool != nil {
				s.pool = pool.Stats()
			}
			s.free, s.total = d.Memory()
			states, labels = append(states, s), append(labels, prometheus.Label{Name: "device", Value: d.ID()})
		}
		p := prometheus.NewWriter(w)
		for _, m := range deviceMetrics {
			p.Family(m.name, m.kind, m.help)
			for i := range states {
				if v := m.of(&states[i]); !math.IsNaN(v) {
					p.Sample(m.name, v, labels[i])
				}
			}
		}
		return p.Flush()
	}
}
