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

	// KernelTimeLimit: the driver ends kernels that run for some seconds.
	KernelTimeLimit bool

	// Async: calls of streams return before their work is done.
	Async bool

	// DirectHost: copies from and to Go memory are as fast as those from and to
	// page-locked memory. It holds for devices that lock none; see [PageLocker].
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

	// Of a multiprocessor, at most; 0 if unknown.
	ThreadsPerMultiprocessor   int // resident
	BlocksPerMultiprocessor    int // resident
	RegistersPerMultiprocessor int // of 32 bits
	SharedPerMultiprocessor    int // bytes, of which each block takes 1 KiB more than it uses
}

// Limits of the CUDA model. Devices without limits of their own take these, so
// that a launch is valid on all devices or on none.
const (
	MaxThreadsPerBlock = 1024
	MaxBlockZ          = 64
	MaxGridX           = 1<<31 - 1
	MaxGridYZ          = 1<<16 - 1
	MaxShared          = 227 << 10 // static and dynamic
	MaxStaticShared    = 48 << 10
	WarpSize           = 32

	MaxResidentThreads = 2048 // on a multiprocessor
	MaxResidentBlocks  = 32
	MaxRegisters       = 64 << 10
	MaxResidentShared  = 228 << 10
)

// DefaultLimits are those of a device that has none of its own.
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

// Device is an opened device. It and what it makes are safe for concurrent use.
//
// These methods are all that a device needs. What else a device can do it says by
// implementing interfaces of this package that name one capability each; see the
// package documentation.
type Device interface {
	Info() *Info
	Memory() (free, total int64, err error)

	// Alloc returns size > 0 bytes, aligned to 64 or more. Their contents are
	// undefined.
	Alloc(size int64) (Memory, error)
	Free(m Memory) error

	// NewStream makes a stream with a priority, which is 0 unless the device is a
	// [Prioritizer].
	NewStream(priority int) (Stream, error)
	// NewEvent makes an event. One that is not timed has no time for Since, and costs
	// the streams that record it less.
	NewEvent(timed bool) (Event, error)
	Load(k *Kernel) (Function, error)

	// Close releases the device. All that it made has been closed before.
	Close() error
}

// Memory is an address in the memory of a device.
type Memory struct {
	Addr uint64
	// Host is the same address where the memory is Go's, otherwise nil. It keeps
	// the memory alive.
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

// Stream is a queue of work that is done in order.
type Stream interface {
	Launch(f Function, l *Frame) error

	// CopyIn copies n bytes from Go memory. It returns when src may be reused.
	CopyIn(dst Memory, src unsafe.Pointer, n int64) error
	// CopyOut copies n bytes to Go memory. It returns when they have arrived.
	CopyOut(dst unsafe.Pointer, src Memory, n int64) error
	// Copy copies n bytes within the device. The ranges do not overlap.
	Copy(dst, src Memory, n int64) error
	// Fill writes the pattern count times. It returns when the pattern may be
	// reused.
	Fill(dst Memory, pattern []byte, count int64) error

	Record(e Event) error
	Wait(e Event) error // later work waits for e on the device

	// Synchronize waits until the work is done. Cancelling ctx ends the wait and
	// returns its cause; the work goes on.
	Synchronize(ctx context.Context) error
	// Fault returns what stopped a kernel in work that is done, as [*Fault], and
	// forgets it.
	Fault() error
	// Faulted reports, without waiting, whether Fault has something to return, in
	// work that need not be done.
	Faulted() bool
	// Output returns what kernels printed in work that is done, in order, and how
	// many messages found no room, and forgets both.
	Output() (messages []Message, dropped int, err error)

	Close() error
}

// Event is a point in the work of a stream. One that was never recorded counts
// as reached.
type Event interface {
	Synchronize(ctx context.Context) error
	Done() (bool, error)
	// Since returns the time from start to e, both of which were reached.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Kernel is a kernel to load.
type Kernel struct {
	Name string
	PTX  string    // text of one module with an entry of that name
	Host host.Func // for the CPU; nil: the PTX is run there too

	// Placed is the bytes of the kernel's shared variables where these are more
	// than MaxStaticShared: the PTX then has them at the start of the dynamic
	// shared memory, before that which the launch asks for. Otherwise it is zero.
	Placed int

	Prints bool // it calls kernel.Printf

	// Cooperative: all blocks of a launch have to be resident at once. A launch of
	// more returns a [*CooperativeLaunchError] and runs nothing.
	Cooperative bool
	Cluster     kernel.Dim3 // blocks in a cluster; X is zero in a kernel without
}

// Function is a kernel on a device.
type Function interface {
	Properties() Properties
	Close() error
}

// Properties are a loaded kernel's use of resources.
type Properties struct {
	MaxThreads int // of a block, given the registers that the kernel needs
	Registers  int // a thread, 0 if unknown
	Shared     int // static shared memory of a block in bytes
	Local      int // local memory of a thread in bytes
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

// MaxCooperative is the number of blocks of a cooperative launch on devices without
// a limit of their own.
const MaxCooperative = 1 << 10

// CooperativeLaunchError means that the blocks of a cooperative launch cannot be
// resident at once.
type CooperativeLaunchError struct {
	Blocks int // of the grid
	Limit  int // at most
}

func (e *CooperativeLaunchError) Error() string {
	return fmt.Sprintf("%d blocks cannot be resident at once, as t.SyncGrid needs them to be; the device has room for %d", e.Blocks, e.Limit)
}

// CheckCooperative reports whether more blocks than limit would run.
func CheckCooperative(grid kernel.Dim3, limit int) error {
	if n := grid.X * grid.Y * grid.Z; n > limit {
		return &CooperativeLaunchError{Blocks: n, Limit: limit}
	}
	return nil
}

// Unwrap returns the sentinel error that e matches.
func (e *Error) Unwrap() error { return e.Err }
