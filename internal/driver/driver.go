package driver

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// Candidate is a device that may be opened.
type Candidate struct {
	ID   string // "cuda:0", "cpu"; the name of the back end alone if it has no device
	Info Info
	Err  error // why the device cannot be used; Open is then nil
	Open func() (Device, error)
}

// Info describes a device.
type Info struct {
	Name          string
	DriverVersion string
	Major, Minor  int   // compute capability, 0 if the device has none
	TotalMemory   int64 // bytes, 0 if unknown
	Limits        Limits

	// KernelTimeLimit: the driver ends kernels that run for more than a few seconds.
	KernelTimeLimit bool

	// Async: stream calls return before their work is done.
	Async bool

	// DirectHost: copies from and to Go memory are as fast as copies from and to
	// page-locked memory. It is true for devices without page-locked memory; see
	// [PageLocker].
	DirectHost bool
}

// Limits are the limits and properties of a device.
type Limits struct {
	ThreadsPerBlock int         // at most
	Block           kernel.Dim3 // largest extent in each dimension
	Grid            kernel.Dim3 // largest extent in each dimension
	SharedPerBlock  int         // bytes, static and dynamic, at most
	WarpSize        int         // threads
	Multiprocessors int         // or cores
	L2Size          int         // bytes, 0 if unknown
	ClockRate       int         // kHz, 0 if unknown

	// Maximum per multiprocessor; 0 if unknown.
	ThreadsPerMultiprocessor   int // resident
	BlocksPerMultiprocessor    int // resident
	RegistersPerMultiprocessor int // of 32 bits
	SharedPerMultiprocessor    int // bytes; each block takes 1 KiB more than it uses
}

// Limits of the CUDA model. Devices without limits of their own use them, so that a
// launch is valid on all devices or on none.
const (
	MaxThreadsPerBlock = 1024
	MaxBlockZ          = 64
	MaxGridX           = 1<<31 - 1
	MaxGridYZ          = 1<<16 - 1
	MaxShared          = 227 << 10 // static and dynamic
	MaxStaticShared    = 48 << 10
	WarpSize           = 32

	MaxResidentThreads = 2048 // per multiprocessor
	MaxResidentBlocks  = 32
	MaxRegisters       = 64 << 10
	MaxResidentShared  = 228 << 10
)

// DefaultLimits returns the limits of a device that has none of its own.
func DefaultLimits() Limits {
	return Limits{
		ThreadsPerBlock: MaxThreadsPerBlock,
		Block:           kernel.Dim3{X: MaxThreadsPerBlock, Y: MaxThreadsPerBlock, Z: MaxBlockZ},
		Grid:            kernel.Dim3{X: MaxGridX, Y: MaxGridYZ, Z: MaxGridYZ},
		SharedPerBlock:  MaxShared,
		WarpSize:        WarpSize,

		ThreadsPerMultiprocessor:   MaxResidentThreads,
		BlocksPerMultiprocessor:    MaxResidentBlocks,
		RegistersPerMultiprocessor: MaxRegisters,
		SharedPerMultiprocessor:    MaxResidentShared,
	}
}

// Device is an opened device. A device and the objects it creates are safe for
// concurrent use.
//
// Every device has these methods. Optional capabilities are further interfaces of this
// package, one per capability; see the package documentation.
type Device interface {
	Info() *Info
	Memory() (free, total int64, err error)

	// Alloc returns size > 0 bytes, aligned to at least 64. Their contents are
	// undefined.
	Alloc(size int64) (Memory, error)
	Free(m Memory) error

	// NewStream creates a stream with the given priority, which is 0 unless the device
	// is a [Prioritizer].
	NewStream(priority int) (Stream, error)
	// NewEvent creates an event. An untimed event is cheaper to record and has no time
	// for Since.
	NewEvent(timed bool) (Event, error)
	Load(k *Kernel) (Function, error)

	// Close releases the device. Everything that it created has been closed before.
	Close() error
}

// Memory is an address in the memory of a device.
type Memory struct {
	Addr uint64
	// Host is the same address if the memory is Go's, otherwise nil. It keeps the
	// memory alive.
	Host unsafe.Pointer
}

// Offset returns the address n bytes after m.
func (m Memory) Offset(n int64) Memory {
	if m.Host != nil {
		m.Host = unsafe.Add(m.Host, n)
	}
	m.Addr += uint64(n)
	return m
}

// Stream is a queue of work that runs in order.
type Stream interface {
	Launch(f Function, l *Frame) error

	// CopyIn copies n bytes from Go memory. It returns when src may be reused.
	CopyIn(dst Memory, src unsafe.Pointer, n int64) error
	// CopyOut copies n bytes to Go memory. It returns when they have arrived.
	CopyOut(dst unsafe.Pointer, src Memory, n int64) error
	// Copy copies n bytes within the device. The ranges do not overlap.
	Copy(dst, src Memory, n int64) error
	// Fill writes the pattern count times. It returns when the pattern may be reused.
	Fill(dst Memory, pattern []byte, count int64) error

	Record(e Event) error
	Wait(e Event) error // later work waits for e on the device

	// Synchronize waits until the work is done. If ctx is cancelled, it returns the
	// cause and the work continues.
	Synchronize(ctx context.Context) error
	// Fault returns and clears the first fault of a kernel in completed work, as
	// [*Fault].
	Fault() error
	// Faulted reports, without waiting, whether Fault has something to return. The work
	// need not be complete.
	Faulted() bool
	// Output returns and clears what kernels printed in completed work, in order, and
	// the number of messages that did not fit.
	Output() (messages []Message, dropped int, err error)

	Close() error
}

// Event is a point in the work of a stream. An event that was never recorded counts as
// reached.
type Event interface {
	Synchronize(ctx context.Context) error
	Done() (bool, error)
	// Since returns the time from start to e. Both have been reached.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Kernel is a kernel to load.
type Kernel struct {
	Name string
	PTX  string    // text of one module with an entry of that name
	Host host.Func // for the CPU; nil: the CPU interprets the PTX

	// Placed is the size in bytes of the kernel's shared variables if they exceed
	// MaxStaticShared, otherwise zero. The PTX then places them at the start of dynamic
	// shared memory, before the part that the launch asks for.
	Placed int

	Label string // what reports call it: the package's path, a dot and the Go function

	Prints bool // it calls kernel.Printf

	// Cooperative: all blocks of a launch must be resident at once. A launch with too
	// many blocks returns a [*CooperativeLaunchError] and runs nothing.
	Cooperative bool
	Cluster     kernel.Dim3 // blocks per cluster; X is zero in a kernel without clusters
}

// Function is a kernel on a device.
type Function interface {
	Properties() Properties
	Close() error
}

// Properties describe the resources that a loaded kernel uses.
type Properties struct {
	MaxThreads int // per block, given the registers that the kernel needs
	Registers  int // per thread, 0 if unknown
	Shared     int // static shared memory per block in bytes
	Local      int // local memory per thread in bytes
}

// Sentinel errors.
var (
	ErrOutOfMemory = errors.New("out of memory")
	ErrNoDevice    = errors.New("no usable device")
	ErrDeviceLost  = errors.New("device lost")
	ErrInvalid     = errors.New("invalid argument")
)

// Error is an error that a device's driver returned.
type Error struct {
	Op   string // the driver's function, such as "cuMemAlloc"
	Code int    // 0 if the driver has none
	Name string // of the code, such as "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // what the driver says about it
	Err  error  // the sentinel error that it matches, or nil
}

func (e *Error) Error() string {
	if e.Code == 0 {
		return fmt.Sprintf("%s: %s: %s", e.Op, e.Name, e.Text)
	}
	return fmt.Sprintf("%s: %s (%d): %s", e.Op, e.Name, e.Code, e.Text)
}

// MaxCooperative is the maximum number of blocks of a cooperative launch on devices
// without a limit of their own.
const MaxCooperative = 1 << 10

// CooperativeLaunchError reports that the blocks of a cooperative launch cannot all be
// resident at once.
type CooperativeLaunchError struct {
	Blocks int // in the grid
	Limit  int // at most
}

func (e *CooperativeLaunchError) Error() string {
	return fmt.Sprintf("%d blocks cannot be resident at once, as t.SyncGrid requires; the device has room for %d", e.Blocks, e.Limit)
}

// CheckCooperative returns an error if the grid has more blocks than limit.
func CheckCooperative(grid kernel.Dim3, limit int) error {
	if n := grid.X * grid.Y * grid.Z; n > limit {
		return &CooperativeLaunchError{Blocks: n, Limit: limit}
	}
	return nil
}

// Unwrap returns the sentinel error that e matches.
func (e *Error) Unwrap() error { return e.Err }
