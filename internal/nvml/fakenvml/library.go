// Package fakenvml substitutes NVML in tests. Its GPUs have the values that a test sets, and
// are reported in the layouts of nvml.h.
package fakenvml

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
	"unsafe"

	"quern.dev/internal/nvml"
)

// Library implements nvml.Library.
type Library struct {
	// Fail has the result codes of functions that fail, by name.
	Fail map[string]nvml.Code
	// Missing are the names of functions that the library does not have.
	Missing []string
	// Wait is how long each call takes.
	Wait time.Duration

	mu    sync.Mutex
	names []string
	gpus  []*GPU
	texts map[nvml.Code][]byte
	calls map[string]int
	xids  []xid
	open  int
}

type xid struct {
	gpu    int
	number uint64
}

// GPU has the values of a GPU, in NVML's units.
type GPU struct {
	Name, UUID, PCI                       string
	Utilization, MemoryBusy               uint32 // percent
	Encoder, Decoder                      uint32 // percent
	Total, Used, Reserved                 uint64 // bytes
	Power, PowerLimit                     uint32 // milliwatts
	Energy                                uint64 // millijoules
	Temperature, MemoryTemperature        uint32 // degrees Celsius
	SMClock, MaxSMClock                   uint32 // MHz
	MemoryClock, MaxMemoryClock           uint32 // MHz
	ClockReasons                          uint64
	PCIeGeneration, PCIeWidth             uint32
	PCIeTransmit, PCIeReceive             uint64 // bytes
	PCIeReplays                           uint32
	NarrowPCIe                            bool   // its counters have 32 bits
	NVLinkTransmit, NVLinkReceive         uint64 // KiB
	ECCCorrected, ECCUncorrected          uint64
	Compute, Graphics                     []nvml.Process
	Samples                               []nvml.ProcessUtilization // Time is how old they are, in microseconds
	Lost                                  bool                      // every call fails with GPUIsLost
	Lacks                                 []string                  // functions that this GPU does not support
	LacksFields                           []nvml.FieldID
	ThroughputTransmit, ThroughputReceive uint32 // KB/s, of nvmlDeviceGetPcieThroughput
	MaxPCIeGeneration, MaxPCIeWidth       uint32
	DefaultPowerLimit                     uint32 // milliwatts
	ECC, ECCLater, Persistence            bool
}

// H200 returns the values of a busy GPU.
func H200(index int) *GPU {
	const mib = 1 << 20
	return &GPU{
		Name: "NVIDIA H200", UUID: fmt.Sprintf("GPU-%08x-1111-2222-3333-444455556666", index), PCI: fmt.Sprintf("00000000:%02X:00.0", 4+index),
		Utilization: 97, MemoryBusy: 41, Encoder: 0, Decoder: 0,
		Total: 143771 * mib, Used: 121344 * mib, Reserved: 608 * mib,
		Power: 612_500, PowerLimit: 700_000, Energy: 123_456_789,
		Temperature: 64, MemoryTemperature: 78,
		SMClock: 1980, MaxSMClock: 1980, MemoryClock: 3201, MaxMemoryClock: 3201,
		ClockReasons:   4,
		PCIeGeneration: 5, PCIeWidth: 16, MaxPCIeGeneration: 5, MaxPCIeWidth: 16,
		DefaultPowerLimit: 700_000, ECC: true, ECCLater: true, Persistence: true,
		PCIeTransmit: 1 << 40, PCIeReceive: 1 << 41,
		NVLinkTransmit: 1 << 30, NVLinkReceive: 1 << 31,
		Compute: []nvml.Process{{PID: 4_000_001, Memory: 120_000 * mib, KnowsMemory: true}},
		Samples: []nvml.ProcessUtilization{{PID: 4_000_001, SM: 95, Memory: 40}},
	}
}

// New returns a library with GPUs.
func New(gpus ...*GPU) *Library { return &Library{gpus: gpus} }

// Open returns the library, for nvml.Substitute.
func (l *Library) Open() (nvml.Library, error) { return l, nil }

// Change changes the values of a GPU.
func (l *Library) Change(index int, f func(g *GPU)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.gpus[index])
}

// XID reports a critical error of a GPU.
func (l *Library) XID(gpu int, number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.xids = append(l.xids, xid{gpu, number})
}

// Calls returns how often a function was called.
func (l *Library) Calls(name string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls[name]
}

// Users returns how often the library was initialized and not shut down.
func (l *Library) Users() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Lookup returns the number of a function.
func (l *Library) Lookup(name string) uintptr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.Missing, name) {
		return 0
	}
	if at := slices.Index(l.names, name); at >= 0 {
		return uintptr(at + 1)
	}
	l.names = append(l.names, name)
	return uintptr(len(l.names))
}

// firstHandle is the handle of GPU 0.
const firstHandle = 0x1000

func memory(at uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
}

func put32(at uintptr, v uint32) { binary.NativeEndian.PutUint32(memory(at, 4), v) }
func put64(at uintptr, v uint64) { binary.NativeEndian.PutUint64(memory(at, 8), v) }

func putText(at uintptr, size int, s string) nvml.Code {
	if len(s)+1 > size {
		return nvml.InsufficientSize
	}
	b := memory(at, len(s)+1)
	b[copy(b, s)] = 0
	return nvml.Success
}

// Call calls a function.
func (l *Library) Call(function uintptr, args []uintptr) uintptr {
	time.Sleep(l.Wait)
	l.mu.Lock()
	defer l.mu.Unlock()
	name := l.names[function-1]
	if l.calls == nil {
		l.calls = map[string]int{}
	}
	l.calls[name]++
	if name == "nvmlErrorString" {
		return l.text(nvml.Code(args[0]))
	}
	if code, ok := l.Fail[name]; ok {
		return uintptr(code)
	}
	return uintptr(l.call(name, args))
}

func (l *Library) text(code nvml.Code) uintptr {
	known := map[nvml.Code]string{nvml.NotSupported: "Not Supported", nvml.NoPermission: "Insufficient Permissions",
		nvml.DriverNotLoaded: "Driver Not Loaded", nvml.GPUIsLost: "GPU is lost", nvml.VersionMismatch: "Driver/library version mismatch"}
	if l.texts == nil {
		l.texts = map[nvml.Code][]byte{}
	}
	if l.texts[code] == nil {
		text := known[code]
		if text == "" {
			text = "Unknown Error"
		}
		l.texts[code] = append([]byte(text), 0)
	}
	return uintptr(unsafe.Pointer(&l.texts[code][0]))
}

func (l *Library) call(name string, args []uintptr) nvml.Code {
	switch name {
	case "nvmlInit_v2", "nvmlInit":
		l.open++
		return nvml.Success
	case "nvmlShutdown":
		l.open--
		return nvml.Success
	case "nvmlSystemGetDriverVersion":
		return putText(args[0], int(args[1]), "580.95.05")
	case "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion":
		put32(args[0], 13000)
		return nvml.Success
	case "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount":
		put32(args[0], uint32(len(l.gpus)))
		return nvml.Success
	case "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex":
		if args[0] >= uintptr(len(l.gpus)) {
			return nvml.NotFound
		}
		put64(args[1], uint64(firstHandle+args[0]))
		return nvml.Success
	case "nvmlEventSetCreate":
		put64(args[0], 77)
		return nvml.Success
	case "nvmlEventSetFree":
		return nvml.Success
	case "nvmlEventSetWait_v2", "nvmlEventSetWait":
		if len(l.xids) == 0 {
			return nvml.Timeout
		}
		x := l.xids[0]
		l.xids = l.xids[1:]
		put64(args[1], uint64(firstHandle+x.gpu))
		put64(args[1]+8, 8)
		put64(args[1]+16, x.number)
		return nvml.Success
	}
	at := int(args[0]) - firstHandle
	if at < 0 || at >= len(l.gpus) {
		return 2 // invalid argument
	}
	g := l.gpus[at]
	switch {
	case g.Lost:
		return nvml.GPUIsLost
	case slices.Contains(g.Lacks, name):
		return nvml.NotSupported
	}
	return g.call(name, at, args)
}

func (g *GPU) call(name string, index int, args []uintptr) nvml.Code {
	switch name {
	case "nvmlDeviceGetName":
		return putText(args[1], int(args[2]), g.Name)
	case "nvmlDeviceGetUUID":
		return putText(args[1], int(args[2]), g.UUID)
	case "nvmlDeviceGetPciInfo_v3":
		return putText(args[1]+36, 32, g.PCI)
	case "nvmlDeviceGetMinorNumber":
		put32(args[1], uint32(index))
	case "nvmlDeviceGetUtilizationRates":
		put32(args[1], g.Utilization)
		put32(args[1]+4, g.MemoryBusy)
	case "nvmlDeviceGetEncoderUtilization":
		put32(args[1], g.Encoder)
		put32(args[2], 20000)
	case "nvmlDeviceGetDecoderUtilization":
		put32(args[1], g.Decoder)
		put32(args[2], 20000)
	case "nvmlDeviceGetMemoryInfo":
		for i, v := range []uint64{g.Total, g.Total - g.Used - g.Reserved, g.Used + g.Reserved} {
			put64(args[1]+uintptr(8*i), v)
		}
	case "nvmlDeviceGetMemoryInfo_v2":
		if binary.NativeEndian.Uint32(memory(args[1], 4)) != 33554472 {
			return 25 // the version does not match
		}
		for i, v := range []uint64{g.Total, g.Reserved, g.Total - g.Used - g.Reserved, g.Used} {
			put64(args[1]+uintptr(8+8*i), v)
		}
	case "nvmlDeviceGetPowerUsage":
		put32(args[1], g.Power)
	case "nvmlDeviceGetEnforcedPowerLimit":
		put32(args[1], g.PowerLimit)
	case "nvmlDeviceGetTotalEnergyConsumption":
		put64(args[1], g.Energy)
	case "nvmlDeviceGetTemperature":
		put32(args[2], g.Temperature)
	case "nvmlDeviceGetClockInfo":
		put32(args[2], [...]uint32{1: g.SMClock, 2: g.MemoryClock}[args[1]])
	case "nvmlDeviceGetMaxClockInfo":
		put32(args[2], [...]uint32{1: g.MaxSMClock, 2: g.MaxMemoryClock}[args[1]])
	case "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons":
		put64(args[1], g.ClockReasons)
	case "nvmlDeviceGetPerformanceState":
		put32(args[1], 0)
	case "nvmlDeviceGetCurrPcieLinkGeneration":
		put32(args[1], g.PCIeGeneration)
	case "nvmlDeviceGetCurrPcieLinkWidth":
		put32(args[1], g.PCIeWidth)
	case "nvmlDeviceGetPcieThroughput":
		put32(args[2], [...]uint32{g.ThroughputTransmit, g.ThroughputReceive}[args[1]])
	case "nvmlDeviceGetPcieReplayCounter":
		put32(args[1], g.PCIeReplays)
	case "nvmlDeviceGetMaxPcieLinkGeneration":
		put32(args[1], g.MaxPCIeGeneration)
	case "nvmlDeviceGetMaxPcieLinkWidth":
		put32(args[1], g.MaxPCIeWidth)
	case "nvmlDeviceGetPowerManagementDefaultLimit":
		put32(args[1], g.DefaultPowerLimit)
	case "nvmlDeviceGetPersistenceMode":
		put32(args[1], flag(g.Persistence))
	case "nvmlDeviceGetEccMode":
		put32(args[1], flag(g.ECC))
		put32(args[2], flag(g.ECCLater))
	case "nvmlDeviceGetTotalEccErrors":
		put64(args[3], [...]uint64{g.ECCCorrected, g.ECCUncorrected}[args[1]])
	case "nvmlDeviceGetFieldValues":
		for i := range args[1] {
			g.field(memory(args[2]+40*i, 40))
		}
	case "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2":
		return putProcesses(args, g.Compute, 24)
	case "nvmlDeviceGetComputeRunningProcesses":
		return putProcesses(args, g.Compute, 16)
	case "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2":
		return putProcesses(args, g.Graphics, 24)
	case "nvmlDeviceGetGraphicsRunningProcesses":
		return putProcesses(args, g.Graphics, 16)
	case "nvmlDeviceGetProcessUtilization":
		return g.putSamples(args)
	case "nvmlDeviceRegisterEvents":
	default:
		return nvml.NotSupported // nvmlDeviceGetFanSpeed, as on GPUs without a fan
	}
	return nvml.Success
}

// flag returns nvmlEnableState_t.
func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

func putProcesses(args []uintptr, list []nvml.Process, size int) nvml.Code {
	room := int(binary.NativeEndian.Uint32(memory(args[1], 4)))
	put32(args[1], uint32(len(list)))
	if len(list) > room {
		return nvml.InsufficientSize
	}
	for i, p := range list {
		at := args[2] + uintptr(i*size)
		put32(at, p.PID)
		if !p.KnowsMemory {
			p.Memory = math.MaxUint64
		}
		put64(at+8, p.Memory)
	}
	return nvml.Success
}

func (g *GPU) putSamples(args []uintptr) nvml.Code {
	var list []nvml.ProcessUtilization
	for _, s := range g.Samples {
		s.Time = uint64(time.Now().UnixMicro()) - s.Time
		if s.Time > uint64(args[3]) {
			list = append(list, s)
		}
	}
	room := int(binary.NativeEndian.Uint32(memory(args[2], 4)))
	put32(args[2], uint32(len(list)))
	if len(list) > room {
		return nvml.InsufficientSize
	}
	if len(list) == 0 {
		return nvml.NotFound
	}
	for i, s := range list {
		at := args[1] + uintptr(32*i)
		put32(at, s.PID)
		put64(at+8, s.Time)
		for k, v := range []uint32{s.SM, s.Memory, s.Encoder, s.Decoder} {
			put32(at+16+uintptr(4*k), v)
		}
	}
	return nvml.Success
}

// narrow returns the type and the value of a counter of PCIe.
func (g *GPU) narrow(v uint64) (kind uint32, value uint64) {
	if g.NarrowPCIe {
		return 1, v & math.MaxUint32
	}
	return 3, v
}

// field fills in an nvmlFieldValue_t.
func (g *GPU) field(b []byte) {
	id := nvml.FieldID(binary.NativeEndian.Uint32(b))
	const u32, u64 = 1, 3
	kind, code, v := uint32(u64), nvml.Success, uint64(0)
	switch id {
	case nvml.FieldMemoryTemperature:
		kind, v = u32, uint64(g.MemoryTemperature)
	case nvml.FieldNVLinkTransmit:
		v = g.NVLinkTransmit
	case nvml.FieldNVLinkReceive:
		v = g.NVLinkReceive
	case nvml.FieldPCIeTransmit:
		kind, v = g.narrow(g.PCIeTransmit)
	case nvml.FieldPCIeReceive:
		kind, v = g.narrow(g.PCIeReceive)
	default:
		code = nvml.NotSupported
	}
	if slices.Contains(g.LacksFields, id) {
		code = nvml.NotSupported
	}
	binary.NativeEndian.PutUint32(b[24:], kind)
	binary.NativeEndian.PutUint32(b[28:], uint32(code))
	if kind == u32 {
		binary.NativeEndian.PutUint32(b[32:], uint32(v))
	} else {
		binary.NativeEndian.PutUint64(b[32:], v)
	}
}
