package cuda

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"quern.dev/internal/diskcache"
	"quern.dev/internal/driver"
	"quern.dev/internal/sampling"
	"quern.dev/kernel"
)

// Candidates returns the GPUs, or one candidate with the reason why there are none.
func Candidates() []driver.Candidate {
	lib, err := open()
	if err != nil {
		return none(err)
	}
	return candidates(lib, codes)
}

// CandidatesOf returns the GPUs of a driver library.
func CandidatesOf(lib Library) []driver.Candidate { return candidates(lib, nil) }

func candidates(lib Library, codes *diskcache.Cache) []driver.Candidate {
	a, version, err := newAPI(lib)
	if err != nil {
		return none(err)
	}
	a.codes = codes
	var count int32
	if err := a.call(cuDeviceGetCount, uintptr(unsafe.Pointer(&count))); err != nil {
		return none(err)
	}
	if count == 0 {
		return none(fmt.Errorf("%w: the NVIDIA driver finds no device", driver.ErrNoDevice))
	}
	list := make([]driver.Candidate, count)
	for i := range list {
		list[i] = a.candidate(i, version)
	}
	return list
}

func none(err error) []driver.Candidate {
	return []driver.Candidate{{ID: "cuda", Err: err}}
}

// explainInit adds the likely cause to an error of the driver's initialization.
func explainInit(err error) error {
	if reason := obstacle(); reason != "" {
		return fmt.Errorf("%s (%w)", reason, err)
	}
	return err
}

// Attributes of devices (CUdevice_attribute).
const (
	maxThreadsPerBlock     = 1
	maxBlockX              = 2
	maxBlockY              = 3
	maxBlockZ              = 4
	maxGridX               = 5
	maxGridY               = 6
	maxGridZ               = 7
	maxSharedPerBlock      = 8
	warpSize               = 10
	clockRate              = 13
	multiprocessorCount    = 16
	kernelExecTimeout      = 17
	computeMode            = 20
	l2CacheSize            = 38
	computeMajor           = 75
	computeMinor           = 76
	maxSharedPerBlockOptin = 97
	usesHostPageTables     = 100
)

// modeProhibited is the compute mode that allows no contexts.
const modeProhibited = 2

// minimumMajor is the oldest generation that runs PTX for sm_50.
const minimumMajor = 5

func (a *api) candidate(i, version int) driver.Candidate {
	c := driver.Candidate{ID: fmt.Sprintf("cuda:%d", i)}
	var dev int32
	if c.Err = a.call(cuDeviceGet, uintptr(unsafe.Pointer(&dev)), uintptr(i)); c.Err != nil {
		return c
	}
	if c.Info, c.Err = a.describe(dev); c.Err != nil {
		return c
	}
	c.Info.DriverVersion = versionText(int32(version))
	mode, err := a.attribute(dev, computeMode)
	switch {
	case err != nil:
		c.Err = err
	case mode == modeProhibited:
		c.Err = errors.New("the device is in compute mode \"prohibited\"")
	case c.Info.Major < minimumMajor:
		c.Err = fmt.Errorf("the device has compute capability %d.%d, needed is %d.0", c.Info.Major, c.Info.Minor, minimumMajor)
	default:
		info := c.Info
		c.Open = func() (driver.Device, error) { return a.open(dev, info) }
	}
	return c
}

func (a *api) describe(dev int32) (driver.Info, error) {
	info := driver.Info{Async: true}
	var name [256]byte
	if err := a.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(dev)); err != nil {
		return info, err
	}
	info.Name = text(name[:])
	var total uint64
	if err := a.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(&total)), uintptr(dev)); err != nil {
		return info, err
	}
	info.TotalMemory = int64(total)
	at := &info.Limits
	for _, q := range []struct {
		attribute int
		to        *int
	}{
		{maxThreadsPerBlock, &at.ThreadsPerBlock},
		{maxBlockX, &at.Block.X}, {maxBlockY, &at.Block.Y}, {maxBlockZ, &at.Block.Z},
		{maxGridX, &at.Grid.X}, {maxGridY, &at.Grid.Y}, {maxGridZ, &at.Grid.Z},
		{maxSharedPerBlock, &at.SharedPerBlock},
		{warpSize, &at.WarpSize},
		{multiprocessorCount, &at.Multiprocessors},
		{l2CacheSize, &at.L2Size},
		{clockRate, &at.ClockRate},
		{residentThreads, &at.ThreadsPerMultiprocessor},
		{residentRegisters, &at.RegistersPerMultiprocessor},
		{residentShared, &at.SharedPerMultiprocessor},
		{computeMajor, &info.Major}, {computeMinor, &info.Minor},
	} {
		v, err := a.attribute(dev, q.attribute)
		if err != nil {
			return info, err
		}
		*q.to = v
	}
	if blocks, err := a.attribute(dev, residentBlocks); err == nil { // CUDA 11.1
		at.BlocksPerMultiprocessor = blocks
	}
	limited, err := a.attribute(dev, kernelExecTimeout)
	info.KernelTimeLimit = err == nil && limited != 0
	if more, err := a.attribute(dev, maxSharedPerBlockOptin); err == nil {
		at.SharedPerBlock = max(at.SharedPerBlock, more)
	}
	return info, nil
}

func (a *api) attribute(dev int32, which int) (int, error) {
	var v int32
	err := a.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(&v)), uintptr(which), uintptr(dev))
	return int(v), err
}

// text returns b as a string up to the first zero.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// device is a GPU with its primary context.
type device struct {
	*common // shared with the other open devices for the GPU

	api     *api
	info    driver.Info
	handle  int32   // CUdevice
	context uintptr // CUcontext

	mu    sync.Mutex
	slots []faultSlot // not used by a stream

	peers peers

	persistent []driver.Persistent // of this device; guarded by mu
	postponed  postponed

	samples *sampling.Collector // nil if warps are not sampled

	condition *function // sets the conditions of graphs; nil until first used
}

func (a *api) open(handle int32, info driver.Info) (driver.Device, error) {
	d := &device{api: a, info: info, handle: handle}
	direct, err := a.attribute(handle, usesHostPageTables)
	// The GPU then reads Go memory directly: a copy is not staged, and its source must
	// stay valid until the copy is done.
	d.info.DirectHost = err != nil || direct != 0
	if err := a.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(handle)); err != nil {
		return nil, err
	}
	if err := d.beginSampling(); err != nil {
		return nil, errors.Join(err, a.call(cuDevicePrimaryCtxRelease, uintptr(handle)))
	}
	d.common = inCommon.join(commonKey{a.lib, d.context})
	return d, nil
}

// beginSampling samples the context if the environment says so.
func (d *device) beginSampling() error {
	file := os.Getenv(sampling.Variable)
	if file == "" {
		return nil
	}
	if !d.api.has(cuLinkCreate, cuLinkAddData, cuLinkComplete, cuLinkDestroy) {
		return fmt.Errorf("%s: the driver is too old to tell where the lines of kernels are", sampling.Variable)
	}
	c, err := sampling.Into(file)
	if err == nil {
		err = c.Begin(d.context)
	}
	if err == nil {
		d.samples = c
	}
	return err
}

func (d *device) Info() *driver.Info { return &d.info }

func (d *device) Memory() (free, total int64, err error) {
	var f, t uint64
	err = d.call(cuMemGetInfo, uintptr(unsafe.Pointer(&f)), uintptr(unsafe.Pointer(&t)))
	return int64(f), int64(t), err
}

func (d *device) Alloc(size int64) (driver.Memory, error) {
	var addr uint64
	err := d.call(cuMemAlloc, uintptr(unsafe.Pointer(&addr)), uintptr(size))
	return driver.Memory{Addr: addr}, err
}

func (d *device) Free(m driver.Memory) error {
	return errors.Join(d.awaitPeers(), d.handles(cuMemFree, uintptr(m.Addr)))
}

func (d *device) Close() error {
	errs := []error{d.Apart(driver.FreeMemory, d.catchUp)}
	for _, s := range d.slots {
		errs = append(errs, s.free(d))
	}
	d.slots = nil
	if d.condition != nil {
		errs = append(errs, d.condition.Close())
	}
	if inCommon.leave(commonKey{d.api.lib, d.context}) {
		errs = append(errs, d.closeStreams())
	}
	if d.samples != nil {
		errs = append(errs, d.samples.End(d.context))
	}
	errs = append(errs, d.api.call(cuDevicePrimaryCtxRelease, uintptr(d.handle)))
	return errors.Join(errs...)
}

// extent converts a Dim3 to arguments of a launch.
func extent(to []uintptr, d kernel.Dim3) {
	to[0], to[1], to[2] = uintptr(d.X), uintptr(d.Y), uintptr(d.Z)
}
