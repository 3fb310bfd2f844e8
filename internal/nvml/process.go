package nvml

import (
	"errors"
	"math"
	"unsafe"
)

// Process is a process that uses the GPU.
type Process struct {
	PID         uint32
	Memory      uint64 // bytes
	KnowsMemory bool
}

// process1 is nvmlProcessInfo_v1_t, and process2 is nvmlProcessInfo_v2_t and nvmlProcessInfo_t.
type (
	process1 struct {
		pid    uint32
		memory uint64
	}
	process2 struct {
		pid    uint32
		memory uint64
		_      [2]uint32 // instances of a divided GPU
	}
)

// ComputeProcesses returns the processes with a CUDA context, and GraphicsProcesses those that
// draw.
func (d *Device) ComputeProcesses() ([]Process, error) { return d.processes(computeProcesses) }

// GraphicsProcesses is described at ComputeProcesses.
func (d *Device) GraphicsProcesses() ([]Process, error) { return d.processes(graphicsProcesses) }

func (d *Device) processes(s symbol) ([]Process, error) {
	if d.api.versions[s].number == 1 {
		return list(d, s, func(p *process1) (uint32, uint64) { return p.pid, p.memory })
	}
	return list(d, s, func(p *process2) (uint32, uint64) { return p.pid, p.memory })
}

func list[T any](d *Device, s symbol, read func(*T) (pid uint32, memory uint64)) ([]Process, error) {
	// The number of processes may grow between two calls.
	for size := 32; ; size *= 4 {
		infos, n := make([]T, size), new(uint32)
		*n = uint32(size)
		err := d.api.call(s, d.handle, uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(&infos[0])))
		if e := (*Error)(nil); errors.As(err, &e) && e.Code == InsufficientSize && size < 1<<15 {
			continue
		}
		if err != nil {
			return nil, err
		}
		found := make([]Process, min(int(*n), size))
		for i := range found {
			p := &found[i]
			p.PID, p.Memory = read(&infos[i])
			if p.KnowsMemory = p.Memory != math.MaxUint64; !p.KnowsMemory {
				p.Memory = 0
			}
		}
		return found, nil
	}
}

// ProcessUtilization is how much a process used the GPU, in percent
// (nvmlProcessUtilizationSample_t).
type ProcessUtilization struct {
	PID                          uint32
	Time                         uint64 // microseconds since 1970
	SM, Memory, Encoder, Decoder uint32
}

// ProcessUtilization returns the samples since a time, in microseconds since 1970. There may be
// several per process, and none for an idle one.
func (d *Device) ProcessUtilization(since uint64) ([]ProcessUtilization, error) {
	for size := 128; ; size *= 4 {
		samples, n := make([]ProcessUtilization, size), new(uint32)
		*n = uint32(size)
		err := d.api.call(processUtilization, d.handle, uintptr(unsafe.Pointer(&samples[0])), uintptr(unsafe.Pointer(n)), uintptr(since))
		e := (*Error)(nil)
		switch {
		case err == nil:
			return samples[:min(int(*n), size)], nil
		case errors.As(err, &e) && e.Code == NotFound:
			return nil, nil
		case errors.As(err, &e) && e.Code == InsufficientSize && size < 1<<15:
			continue
		}
		return nil, err
	}
}
