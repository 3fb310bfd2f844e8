package monitor

import (
	"io"
	"strconv"

	"quern.dev/internal/prometheus"
)

// exported is a metric of a GPU that Prometheus gets. Those that begin with DCGM_ have the
// names and units of NVIDIA's DCGM exporter.
type exported struct {
	name, kind, help string
	of               func(g *GPU) Optional[float64]
}

// megabyte is the unit of DCGM's memory sizes, in bytes.
const megabyte = 1 << 20

func inMegabytes(o Optional[int64]) Optional[float64] { return scaled(float(o), 1.0/megabyte) }

var exportedMetrics = []exported{
	{"DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", func(g *GPU) Optional[float64] { return g.SMClockMHz }},
	{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", func(g *GPU) Optional[float64] { return g.MemoryClockMHz }},
	{"DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", func(g *GPU) Optional[float64] { return g.TemperatureCelsius }},
	{"DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Memory temperature (in C).", func(g *GPU) Optional[float64] { return g.MemoryTemperatureCelsius }},
	{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", func(g *GPU) Optional[float64] { return g.PowerWatts }},
	{"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", "gauge", "Power limit in force (in W).", func(g *GPU) Optional[float64] { return g.PowerLimitWatts }},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy used since the driver was loaded (in mJ).", func(g *GPU) Optional[float64] { return scaled(g.EnergyJoules, 1e3) }},
	{"DCGM_FI_DEV_GPU_UTIL", "gauge", "Time with a resident kernel (in %).", func(g *GPU) Optional[float64] { return g.UtilizationPercent }},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Time with memory accesses (in %).", func(g *GPU) Optional[float64] { return g.MemoryBusyPercent }},
	{"DCGM_FI_DEV_ENC_UTIL", "gauge", "Encoder utilization (in %).", func(g *GPU) Optional[float64] { return g.EncoderPercent }},
	{"DCGM_FI_DEV_DEC_UTIL", "gauge", "Decoder utilization (in %).", func(g *GPU) Optional[float64] { return g.DecoderPercent }},
	{"DCGM_FI_DEV_FB_FREE", "gauge", "Free memory (in MiB).", func(g *GPU) Optional[float64] { return inMegabytes(g.MemoryFreeBytes) }},
	{"DCGM_FI_DEV_FB_USED", "gauge", "Used memory (in MiB).", func(g *GPU) Optional[float64] { return inMegabytes(g.MemoryUsedBytes) }},
	{"DCGM_FI_DEV_FB_RESERVED", "gauge", "Memory reserved by the driver (in MiB).", func(g *GPU) Optional[float64] { return inMegabytes(g.MemoryReservedBytes) }},
	{"DCGM_FI_DEV_FB_TOTAL", "gauge", "Memory of the GPU (in MiB).", func(g *GPU) Optional[float64] { return inMegabytes(g.MemoryTotalBytes) }},
	{"DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Retried PCIe transfers.", func(g *GPU) Optional[float64] { return float(g.PCIeReplays) }},
	{"DCGM_FI_DEV_XID_ERRORS", "gauge", "Number of the last XID error, 0 if there was none since the exporter was started.", func(g *GPU) Optional[float64] { return float(g.LastXID) }},
	{"DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "counter", "Corrected memory errors since the driver was loaded.", func(g *GPU) Optional[float64] { return float(g.ECCCorrected) }},
	{"DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "counter", "Uncorrected memory errors since the driver was loaded.", func(g *GPU) Optional[float64] { return float(g.ECCUncorrected) }},
	{"DCGM_FI_DEV_FAN_SPEED", "gauge", "Fan speed (in %).", func(g *GPU) Optional[float64] { return g.FanPercent }},
	{"DCGM_FI_DEV_PSTATE", "gauge", "Performance state, from 0 (fastest) to 15.", func(g *GPU) Optional[float64] { return float(g.PerformanceState) }},
	{"DCGM_FI_DEV_PCIE_LINK_GEN", "gauge", "Generation of the PCIe link.", func(g *GPU) Optional[float64] { return float(g.PCIeGeneration) }},
	{"DCGM_FI_DEV_PCIE_LINK_WIDTH", "gauge", "Lanes of the PCIe link.", func(g *GPU) Optional[float64] { return float(g.PCIeLanes) }},
	{"quern_gpu_pcie_transmit_bytes_per_second", "gauge", "PCIe traffic from the GPU.", func(g *GPU) Optional[float64] { return g.PCIeTransmitBytesPerSecond }},
	{"quern_gpu_pcie_receive_bytes_per_second", "gauge", "PCIe traffic to the GPU.", func(g *GPU) Optional[float64] { return g.PCIeReceiveBytesPerSecond }},
	{"quern_gpu_nvlink_transmit_bytes_per_second", "gauge", "NVLink traffic from the GPU, over all links.", func(g *GPU) Optional[float64] { return g.NVLinkTransmitBytesPerSecond }},
	{"quern_gpu_nvlink_receive_bytes_per_second", "gauge", "NVLink traffic to the GPU, over all links.", func(g *GPU) Optional[float64] { return g.NVLinkReceiveBytesPerSecond }},
	{"quern_gpu_up", "gauge", "1 if the GPU can be read.", func(g *GPU) Optional[float64] {
		if g.Err != nil || g.Problem != "" {
			return Some(0.0)
		}
		return Some(1.0)
	}},
}

// WritePrometheus writes the snapshot in the text format of Prometheus, version 0.0.4. GPUs
// have DCGM's metrics and labels, so dashboards made for the DCGM exporter work. Values that
// are absent have no series.
func (s *Snapshot) WritePrometheus(w io.Writer) error {
	p := prometheus.NewWriter(w)
	p.Family("quern_monitor_gpus", "gauge", "GPUs that the driver has.")
	p.Sample("quern_monitor_gpus", float64(len(s.GPUs)))
	p.Family("quern_monitor_read_seconds", "gauge", "Time that the last reading of all GPUs took.")
	p.Sample("quern_monitor_read_seconds", s.Took.Seconds())
	p.Family("quern_monitor_read_time_seconds", "gauge", "When the last reading began, in seconds since 1970.")
	p.Sample("quern_monitor_read_time_seconds", float64(s.Time.UnixMilli())/1e3)
	labels := make([][]prometheus.Label, len(s.GPUs))
	for i := range s.GPUs {
		labels[i] = s.labels(&s.GPUs[i])
	}
	for _, m := range exportedMetrics {
		first := true
		for i := range s.GPUs {
			v, known := m.of(&s.GPUs[i]).Get()
			if !known {
				continue
			}
			if first {
				p.Family(m.name, m.kind, m.help)
				first = false
			}
			p.Sample(m.name, v, labels[i]...)
		}
	}
	s.writeProcesses(p, labels)
	s.writeCPU(p)
	return p.Flush()
}

// labels are those of the DCGM exporter.
func (s *Snapshot) labels(g *GPU) []prometheus.Label {
	list := []prometheus.Label{
		{Name: "gpu", Value: strconv.Itoa(g.Index)}, {Name: "UUID", Value: g.UUID}, {Name: "pci_bus_id", Value: g.PCIAddress},
		{Name: "device", Value: g.DeviceFile}, {Name: "modelName", Value: g.Name}, {Name: "Hostname", Value: s.Host},
	}
	if s.DriverVersion != "" {
		list = append(list, prometheus.Label{Name: "DCGM_FI_DRIVER_VERSION", Value: s.DriverVersion})
	}
	return list
}

func (s *Snapshot) writeProcesses(p *prometheus.Writer, labels [][]prometheus.Label) {
	const name = "quern_gpu_process_memory_bytes"
	p.Family(name, "gauge", "GPU memory by process.")
	for i, g := range s.GPUs {
		for _, of := range g.Processes {
			if v, known := of.MemoryBytes.Get(); known {
				p.Sample(name, float64(v), labels[i][0], labels[i][1], prometheus.Label{Name: "pid", Value: strconv.Itoa(of.PID)}, prometheus.Label{Name: "name", Value: of.Name})
			}
		}
	}
}

func (s *Snapshot) writeCPU(p *prometheus.Writer) {
	gauge := func(name, help string, v Optional[float64]) {
		if v, known := v.Get(); known {
			p.Family(name, "gauge", help)
			p.Sample(name, v)
		}
	}
	gauge("quern_cpu_load_percent", "Load of all cores.", s.CPU.LoadPercent)
	gauge("quern_cpu_memory_total_bytes", "Memory of the machine.", float(s.CPU.MemoryTotalBytes))
	gauge("quern_cpu_memory_available_bytes", "Memory that is available to programs.", float(s.CPU.MemoryAvailableBytes))
	const core = "quern_cpu_core_load_percent"
	p.Family(core, "gauge", "Load of a core.")
	for _, c := range s.CPU.Cores {
		if v, known := c.LoadPercent.Get(); known {
			p.Sample(core, v, prometheus.Label{Name: "core", Value: strconv.Itoa(c.Index)})
		}
	}
}
