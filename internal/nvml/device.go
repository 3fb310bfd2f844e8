package nvml

import (
	"bytes"
	"unsafe"
)

// Device is a GPU. It is safe for concurrent use.
type Device struct {
	api    *API
	handle uintptr
}

// DriverVersion returns the version of the driver, such as "580.95.05".
func (a *API) DriverVersion() (string, error) {
	b := make([]byte, 96)
	err := a.call(driverVersion, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	return goString(b), err
}

// CUDAVersion returns the version of CUDA that the driver supports, as 1000*major + 10*minor.
func (a *API) CUDAVersion() (int, error) {
	v := new(int32)
	err := a.call(cudaVersion, uintptr(unsafe.Pointer(v)))
	return int(*v), err
}

// Count returns the number of GPUs.
func (a *API) Count() (int, error) {
	n := new(uint32)
	err := a.call(count, uintptr(unsafe.Pointer(n)))
	return int(*n), err
}

// Device returns a GPU by its index, in the order of PCI addresses.
func (a *API) Device(index int) (*Device, error) {
	d := &Device{api: a}
	err := a.call(handle, uintptr(index), uintptr(unsafe.Pointer(&d.handle)))
	return d, err
}

func (d *Device) text(s symbol, size int) (string, error) {
	b := make([]byte, size)
	err := d.api.call(s, d.handle, uintptr(unsafe.Pointer(&b[0])), uintptr(size))
	return goString(b), err
}

// Name returns the product's name.
func (d *Device) Name() (string, error) { return d.text(name, 96) }

// UUID returns the GPU's unique identifier, such as "GPU-...".
func (d *Device) UUID() (string, error) { return d.text(uuid, 96) }

// pci is nvmlPciInfo_t.
type pci struct {
	legacy                              [16]byte
	domain, bus, device, id, subsystems uint32
	address                             [32]byte
}

// PCIAddress returns the address on the PCI bus, such as "00000000:04:00.0".
func (d *Device) PCIAddress() (string, error) {
	p := new(pci)
	err := d.api.call(pciInfo, d.handle, uintptr(unsafe.Pointer(p)))
	return goString(p.address[:]), err
}

// goString returns the text before the first zero byte.
func goString(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

func (d *Device) number(s symbol) (uint32, error) {
	v := new(uint32)
	err := d.api.call(s, d.handle, uintptr(unsafe.Pointer(v)))
	return *v, err
}

func (d *Device) numberOf(s symbol, what uint32) (uint32, error) {
	v := new(uint32)
	err := d.api.call(s, d.handle, uintptr(what), uintptr(unsafe.Pointer(v)))
	return *v, err
}

func (d *Device) number64(s symbol) (uint64, error) {
	v := new(uint64)
	err := d.api.call(s, d.handle, uintptr(unsafe.Pointer(v)))
	return *v, err
}

// Minor returns the number of the device file, /dev/nvidiaN.
func (d *Device) Minor() (uint32, error) { return d.number(minorNumber) }

// Utilization is the percentage of time in which a kernel was resident, and in which memory was
// read or written (nvmlUtilization_t).
type Utilization struct{ GPU, Memory uint32 }

// Utilization returns the utilization over the driver's last sampling period.
func (d *Device) Utilization() (Utilization, error) {
	u := new(Utilization)
	err := d.api.call(utilization, d.handle, uintptr(unsafe.Pointer(u)))
	return *u, err
}

// Encoder and Decoder return the utilization of the video engines in percent.
func (d *Device) Encoder() (uint32, error) { return d.engine(encoder) }

// Decoder is described at Encoder.
func (d *Device) Decoder() (uint32, error) { return d.engine(decoder) }

func (d *Device) engine(s symbol) (uint32, error) {
	v := new([2]uint32) // the second is the sampling period
	err := d.api.call(s, d.handle, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))
	return v[0], err
}

// Memory is the use of the GPU's memory in bytes.
type Memory struct {
	Total, Free, Used uint64
	Reserved          uint64 // by the driver and the firmware
	KnowsReserved     bool   // otherwise Used includes it
}

// memory1 is nvmlMemory_t, and memory2 is nvmlMemory_v2_t.
type (
	memory1 struct{ total, free, used uint64 }
	memory2 struct {
		version                     uint32
		total, reserved, free, used uint64
	}
)

const memory2Version = uint32(unsafe.Sizeof(memory2{})) | 2<<24

// Memory returns the use of the memory.
func (d *Device) Memory() (Memory, error) {
	m := &memory2{version: memory2Version}
	if err := d.api.call(memoryInfo2, d.handle, uintptr(unsafe.Pointer(m))); err == nil {
		return Memory{Total: m.total, Free: m.free, Used: m.used, Reserved: m.reserved, KnowsReserved: true}, nil
	}
	old := new(memory1)
	err := d.api.call(memoryInfo, d.handle, uintptr(unsafe.Pointer(old)))
	return Memory{Total: old.total, Free: old.free, Used: old.used}, err
}

// Power returns the power draw in milliwatts.
func (d *Device) Power() (uint32, error) { return d.number(powerUsage) }

// PowerLimit returns the limit in force in milliwatts.
func (d *Device) PowerLimit() (uint32, error) { return d.number(powerLimit) }

// Energy returns the energy used since the driver was loaded, in millijoules.
func (d *Device) Energy() (uint64, error) { return d.number64(energy) }

// Temperature returns the temperature of the GPU in degrees Celsius.
func (d *Device) Temperature() (uint32, error) { return d.numberOf(temperature, 0) }

// Fan returns the speed of the fan in percent of its maximum.
func (d *Device) Fan() (uint32, error) { return d.number(fan) }

// Clock identifies a clock (nvmlClockType_t).
type Clock uint32

// The clocks of multiprocessors and of the memory.
const (
	SMClock     Clock = 1
	MemoryClock Clock = 2
)

// Clock returns the current frequency in MHz.
func (d *Device) Clock(c Clock) (uint32, error) { return d.numberOf(clock, uint32(c)) }

// MaxClock returns the largest frequency in MHz.
func (d *Device) MaxClock(c Clock) (uint32, error) { return d.numberOf(maxClock, uint32(c)) }

// ClockReasons returns bits that say why clocks are lower than they could be
// (nvmlClocksEventReason...).
func (d *Device) ClockReasons() (uint64, error) { return d.number64(clockReasons) }

// PerformanceState returns the performance state, from 0 (fastest) to 15.
func (d *Device) PerformanceState() (uint32, error) { return d.number(performanceState) }

// PCIeGeneration returns the current generation of the PCIe link.
func (d *Device) PCIeGeneration() (uint32, error) { return d.number(pcieGeneration) }

// PCIeWidth returns the current number of lanes of the PCIe link.
func (d *Device) PCIeWidth() (uint32, error) { return d.number(pcieWidth) }

// PCIeReplays returns the number of retried PCIe transfers.
func (d *Device) PCIeReplays() (uint32, error) { return d.number(pcieReplays) }

// PCIeThroughput returns the PCIe traffic in KB/s. It measures for 20 ms in each direction.
func (d *Device) PCIeThroughput() (transmit, receive uint32, err error) {
	if transmit, err = d.numberOf(pcieThroughput, 0); err == nil {
		receive, err = d.numberOf(pcieThroughput, 1)
	}
	return transmit, receive, err
}

// ECCErrors returns the errors of the memory since the driver was loaded.
func (d *Device) ECCErrors(uncorrected bool) (uint64, error) {
	kind, v := uintptr(0), new(uint64)
	if uncorrected {
		kind = 1
	}
	const volatile = 0
	err := d.api.call(eccErrors, d.handle, kind, volatile, uintptr(unsafe.Pointer(v)))
	return *v, err
}

// MaxPCIeGeneration returns the newest generation of PCI Express that the GPU and its slot
// support.
func (d *Device) MaxPCIeGeneration() (uint32, error) { return d.number(maxPCIeGeneration) }

// MaxPCIeWidth returns the largest number of lanes that the GPU and its slot support.
func (d *Device) MaxPCIeWidth() (uint32, error) { return d.number(maxPCIeWidth) }

// DefaultPowerLimit returns the power limit after a reset in milliwatts.
func (d *Device) DefaultPowerLimit() (uint32, error) { return d.number(defaultPowerLimit) }

// Persistence reports whether the driver keeps the GPU initialized without users.
func (d *Device) Persistence() (bool, error) {
	on, err := d.number(persistence)
	return on == 1, err
}

// ECC reports whether errors of the memory are corrected, now and after the next reset.
func (d *Device) ECC() (now, later bool, err error) {
	v := new([2]uint32)
	err = d.api.call(eccMode, d.handle, uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))
	return v[0] == 1, v[1] == 1, err
}
