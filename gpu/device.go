package gpu

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
	"quern.dev/internal/trace"
)

// Device is an open device. It is safe for concurrent use. Each call of [Open] returns a
// separate device. Its buffers, streams and events cannot be used with another device, even
// for the same hardware.
type Device struct {
	backend     Backend
	id          string
	passed      []string
	drv         driver.Device
	able        capabilities // of drv
	async       bool         // of drv
	memoryTrack trace.Track  // in recordings

	def     *Stream
	output  *output
	staging staging

	launchTimeout time.Duration // see Config.LaunchTimeout

	persistentMemory persistentMemory

	// lease is held by each stream, event, buffer and loaded kernel, so that the driver's
	// device is closed after them.
	lease lease.Lease

	mu      sync.Mutex
	streams []*Stream
	asked   DeviceStats // of closed streams
	events  map[*Event]struct{}
	memory  map[*memory]struct{}
	graphs  map[*GraphExec]struct{}
	pools   []devicePool
	onClose []func() error

	ownPool     func() *Pool // made on first use; closed if the device is
	ownHostPool func() *HostPool

	managed managedTotal

	kernels    sync.Map                 // *Kernel -> *loadedKernel
	loaded     map[uint32]*loadedKernel // by ID, guarded by mu
	lastLoaded uint32                   // the ID that was last assigned

	timer      atomic.Pointer[timer] // of recordings without CUPTI
	timing     sync.Mutex            // guards changes of timer
	lastStream atomic.Int64          // the number that was last assigned
}

// Attributes are the limits and properties of a device.
type Attributes struct {
	ThreadsPerBlock int  // maximum
	Block           Dim3 // largest extent in each dimension
	Grid            Dim3 // largest extent in each dimension
	SharedPerBlock  int  // maximum in bytes, static plus dynamic
	WarpSize        int  // threads
	Multiprocessors int  // or cores
	L2Size          int  // bytes, 0 if unknown
	ClockRate       int  // kHz, 0 if unknown

	// Limits of a multiprocessor, 0 if unknown.
	ThreadsPerMultiprocessor   int // resident
	BlocksPerMultiprocessor    int // resident
	RegistersPerMultiprocessor int // of 32 bits
	SharedPerMultiprocessor    int // bytes; each block takes 1 KiB more than it uses
}

func newDevice(name Backend, id string, drv driver.Device, passed []string, c Config) (*Device, error) {
	d := &Device{
		backend: name,
		id:      id,
		passed:  passed,
		drv:     drv,
		able:    capabilitiesOf(drv),
		async:   drv.Info().Async,
		output:  newOutput(c.Output),
		events:  make(map[*Event]struct{}),
		loaded:  make(map[uint32]*loadedKernel),
		memory:  make(map[*memory]struct{}),
	}
	d.launchTimeout = c.LaunchTimeout
	d.ownPool = sync.OnceValue(func() *Pool {
		p := newPool(d, PoolConfig{})
		p.open(p) // if the device is closed, so is the pool, and using it returns an error
		return p
	})
	d.ownHostPool = sync.OnceValue(func() *HostPool {
		p := newHostPool(d, PoolConfig{})
		p.open(p)
		return p
	})
	s, err := d.newStream(context.Background())
	if err != nil {
		return nil, errors.Join(err, driverError("close "+id, drv.Close()))
	}
	d.def = s
	d.memoryTrack.Process, d.memoryTrack.Thread = id, "memory"
	d.describe()
	d.prepareTimer()
	return d, nil
}

// opened reports whether d was made by Open.
func (d *Device) opened() bool { return d != nil && d.drv != nil }

// info describes the device. It is empty if the device was never opened.
func (d *Device) info() *driver.Info {
	if !d.opened() {
		return new(driver.Info)
	}
	return d.drv.Info()
}

// Name returns the name of the hardware, such as "NVIDIA H200".
func (d *Device) Name() string { return d.info().Name }

// Backend returns the kind of the device.
func (d *Device) Backend() Backend {
	if d == nil {
		return ""
	}
	return d.backend
}

// ID returns the name that Config.Device has for the device, such as "cuda:0".
func (d *Device) ID() string {
	if d == nil {
		return ""
	}
	return d.id
}

// ComputeCapability returns the version of the GPU's instruction set, such as 9, 0, or 0, 0
// for other devices.
func (d *Device) ComputeCapability() (major, minor int) {
	i := d.info()
	return i.Major, i.Minor
}

// DriverVersion returns the version of the device's software. For GPUs it is the CUDA
// version that the driver supports.
func (d *Device) DriverVersion() string { return d.info().DriverVersion }

// Attributes returns the device's limits and properties.
func (d *Device) Attributes() Attributes { return Attributes(d.info().Limits) }

// PassedOver says why each better device was not opened, such as
// "cuda: libcuda.so.1 was not found".
func (d *Device) PassedOver() []string {
	if d == nil {
		return nil
	}
	return slices.Clone(d.passed)
}

// Memory returns the device's free and total memory in bytes, zero if unknown or if the
// device is closed.
func (d *Device) Memory() (free, total int64) {
	if d.acquire() != nil {
		return 0, 0
	}
	defer d.release()
	free, total, err := d.drv.Memory()
	if err != nil {
		return 0, 0
	}
	return free, total
}

// DefaultStream returns the device's own stream, which is closed with the device.
func (d *Device) DefaultStream() *Stream {
	if d == nil {
		return nil
	}
	return d.def
}

// Synchronize waits for the work of all streams, and returns the faults of their kernels.
// Cancelling ctx ends the wait, not the work.
func (d *Device) Synchronize(ctx context.Context) error {
	if err := d.check(); err != nil {
		return driverError("synchronize", err)
	}
	if err := d.notCalled(); err != nil {
		return driverError("synchronize", err)
	}
	ctx = orBackground(ctx)
	var errs []error
	for _, s := range d.workingStreams() {
		if _, err := s.enter(); err != nil {
			continue // it was closed in the meantime
		}
		if err := s.drain(ctx); err != nil {
			errs = append(errs, err)
		}
		s.release()
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return joinLost(errs)
}

// Close waits for the device's work, and releases the device and everything that it made.
// It returns faults of kernels that no wait has returned, and a [LeakError] if buffers are
// still open. Closing again does nothing. If a [Persistent] does not quiesce, the device is
// released only when the process ends.
func (d *Device) Close() error {
	if !d.opened() {
		return nil
	}
	if err := d.notCalled(); err != nil {
		return driverError("close", err)
	}
	first, destroy := d.lease.Close()
	if !first {
		return nil
	}
	if err := d.able.persistent.EndPersistent(); err != nil {
		return driverError("close", err) // a wait for their kernels would not end
	}
	d.persistentMemory.giveBack(d)
	var errs []error
	for _, s := range d.openStreams() {
		errs = append(errs, s.Close())
	}
	errs = append(errs, d.closeGraphs())
	d.endTrace()
	d.mu.Lock()
	events, memories, loaded, pools := d.events, d.memory, slices.Collect(maps.Values(d.loaded)), slices.Clone(d.pools)
	d.events, d.memory = nil, nil
	d.mu.Unlock()
	for e := range events {
		errs = append(errs, e.Close())
	}
	var leaked []allocation
	for m := range memories {
		leaked = append(leaked, m.allocation())
		errs = append(errs, m.close())
	}
	for _, p := range pools {
		more, err := p.close()
		leaked, errs = append(leaked, more...), append(errs, err)
	}
	if len(leaked) > 0 {
		errs = append(errs, newLeakError(d, leaked))
	}
	for _, r := range loaded {
		errs = append(errs, r.close("unload"))
	}
	if destroy {
		errs = append(errs, d.destroy())
	}
	for i, err := range errs {
		errs[i] = partOf("close "+d.id, err)
	}
	return joinLost(errs)
}

func (d *Device) destroy() error {
	return driverError("release", unlessLost(errors.Join(d.runOnClose(), d.closeStaging(), d.persistentMemory.close(d), d.drv.Close())))
}

// release ends a use of the device.
func (d *Device) release() error {
	if d.lease.Release() {
		return d.destroy()
	}
	return nil
}

// workingStreams returns the streams whose work ends by itself.
func (d *Device) workingStreams() []*Stream {
	return slices.DeleteFunc(d.openStreams(), func(s *Stream) bool { return s.detached })
}

func (d *Device) openStreams() []*Stream {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.streams)
}

// check returns an error if the device cannot be used.
func (d *Device) check() error {
	switch {
	case d == nil:
		return invalid("device is nil")
	case d.drv == nil:
		return invalid("device was not made by Open")
	case d.lease.Closed():
		return closedError("device " + d.id)
	default:
		return nil
	}
}

// acquire begins a use of the device, which release ends.
func (d *Device) acquire() error {
	if err := d.check(); err != nil {
		return err
	}
	if !d.lease.Acquire() {
		return closedError("device " + d.id)
	}
	return nil
}

// orBackground returns ctx, or context.Background if it is nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
