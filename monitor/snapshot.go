package monitor

import "time"

// Snapshot is one measurement of a machine. It does not change.
type Snapshot struct {
	Time time.Time     `json:"time"`
	Took time.Duration `json:"took_ns"` // how long reading took
	Host string        `json:"host,omitempty"`

	DriverVersion string `json:"driver_version,omitempty"` // "580.95.05"
	CUDAVersion   string `json:"cuda_version,omitempty"`   // that the driver supports, "13.0"

	GPUs []GPU `json:"gpus"` // in NVML's order, which is that of PCI addresses
	CPU  CPU   `json:"cpu"`

	// ForeignPIDs is true if process numbers are of another PID namespace, usually because
	// this process is in a container. Processes then have no names.
	ForeignPIDs bool `json:"foreign_pids,omitempty"`

	// Err says why no GPU can be read. It is an [*UnavailableError] or nil.
	Err error `json:"-"`
	// Unavailable is the text of Err.
	Unavailable string `json:"unavailable,omitempty"`

	// History covers the snapshots of one [Sample]; nil in those of [Monitor.Read].
	History *History `json:"-"`
}

// GPU is the state of a GPU. Percentages are from 0 to 100.
type GPU struct {
	Index      int    `json:"index"` // of NVML and nvidia-smi; CUDA may number GPUs differently
	UUID       string `json:"uuid,omitempty"`
	Name       string `json:"name,omitempty"`
	PCIAddress string `json:"pci_address,omitempty"` // "00000000:04:00.0"
	DeviceFile string `json:"device_file,omitempty"` // "nvidia0"

	// Err says that the GPU cannot be read, as a [*GPUError]. All values are then absent.
	Err error `json:"-"`
	// Problem is the text of Err.
	Problem string `json:"problem,omitempty"`

	UtilizationPercent Optional[float64] `json:"utilization_percent,omitzero"` // of time with a kernel
	MemoryBusyPercent  Optional[float64] `json:"memory_busy_percent,omitzero"` // of time with memory accesses
	EncoderPercent     Optional[float64] `json:"encoder_percent,omitzero"`
	DecoderPercent     Optional[float64] `json:"decoder_percent,omitzero"`

	MemoryTotalBytes    Optional[int64] `json:"memory_total_bytes,omitzero"`
	MemoryUsedBytes     Optional[int64] `json:"memory_used_bytes,omitzero"` // old drivers include MemoryReservedBytes
	MemoryFreeBytes     Optional[int64] `json:"memory_free_bytes,omitzero"`
	MemoryReservedBytes Optional[int64] `json:"memory_reserved_bytes,omitzero"` // by the driver

	PowerWatts      Optional[float64] `json:"power_watts,omitzero"`
	PowerLimitWatts Optional[float64] `json:"power_limit_watts,omitzero"`
	EnergyJoules    Optional[float64] `json:"energy_joules,omitzero"` // since the driver was loaded

	TemperatureCelsius       Optional[float64] `json:"temperature_celsius,omitzero"`
	MemoryTemperatureCelsius Optional[float64] `json:"memory_temperature_celsius,omitzero"`
	FanPercent               Optional[float64] `json:"fan_percent,omitzero"`

	SMClockMHz        Optional[float64] `json:"sm_clock_mhz,omitzero"`
	SMClockMaxMHz     Optional[float64] `json:"sm_clock_max_mhz,omitzero"`
	MemoryClockMHz    Optional[float64] `json:"memory_clock_mhz,omitzero"`
	MemoryClockMaxMHz Optional[float64] `json:"memory_clock_max_mhz,omitzero"`
	PerformanceState  Optional[int64]   `json:"performance_state,omitzero"` // 0 (fastest) to 15
	// ClockLimits says what keeps the clocks low: "idle", "power cap", "thermal", ...
	ClockLimits []string `json:"clock_limits,omitempty"`

	PCIeGeneration               Optional[int64]   `json:"pcie_generation,omitzero"`
	PCIeLanes                    Optional[int64]   `json:"pcie_lanes,omitzero"`
	PCIeTransmitBytesPerSecond   Optional[float64] `json:"pcie_transmit_bytes_per_second,omitzero"` // from the GPU
	PCIeReceiveBytesPerSecond    Optional[float64] `json:"pcie_receive_bytes_per_second,omitzero"`  // to the GPU
	PCIeReplays                  Optional[int64]   `json:"pcie_replays,omitzero"`
	NVLinkTransmitBytesPerSecond Optional[float64] `json:"nvlink_transmit_bytes_per_second,omitzero"` // over all links
	NVLinkReceiveBytesPerSecond  Optional[float64] `json:"nvlink_receive_bytes_per_second,omitzero"`

	ECCCorrected   Optional[int64] `json:"ecc_corrected,omitzero"` // since the driver was loaded
	ECCUncorrected Optional[int64] `json:"ecc_uncorrected,omitzero"`
	LastXID        Optional[int64] `json:"last_xid,omitzero"` // last critical error since the monitor was opened; 0 if none

	Processes []Process `json:"processes,omitempty"` // largest first
}

// Process is a process that uses a GPU.
type Process struct {
	PID         int             `json:"pid"`
	Name        string          `json:"name,omitempty"`    // "" if it is not visible
	Command     string          `json:"command,omitempty"` // with arguments
	User        string          `json:"user,omitempty"`
	Graphics    bool            `json:"graphics,omitempty"` // it draws; otherwise it computes
	MemoryBytes Optional[int64] `json:"memory_bytes,omitzero"`

	// Percentages of time in the driver's last sample. Not all GPUs and drivers report them.
	SMPercent     Optional[float64] `json:"sm_percent,omitzero"`
	MemoryPercent Optional[float64] `json:"memory_percent,omitzero"`
}

// CPU is the state of the processors and the memory of the machine.
type CPU struct {
	Name        string            `json:"name,omitempty"`
	LoadPercent Optional[float64] `json:"load_percent,omitzero"` // of all cores, since the last reading
	Cores       []Core            `json:"cores"`

	MemoryTotalBytes     Optional[int64] `json:"memory_total_bytes,omitzero"`
	MemoryAvailableBytes Optional[int64] `json:"memory_available_bytes,omitzero"`
}

// MemoryUsedBytes returns the memory that is not available to programs.
func (c *CPU) MemoryUsedBytes() Optional[int64] {
	total, ok1 := c.MemoryTotalBytes.Get()
	free, ok2 := c.MemoryAvailableBytes.Get()
	if !ok1 || !ok2 {
		return Optional[int64]{}
	}
	return Some(total - free)
}

// Core is the state of a core, as the operating system counts them.
type Core struct {
	Index       int               `json:"index"`
	LoadPercent Optional[float64] `json:"load_percent,omitzero"` // since the last reading
}
