package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/gpu/compiled"
	"quern.dev/gpu/internal/coverage"
	"quern.dev/internal/driver"
	"quern.dev/internal/lease"
	"quern.dev/internal/limits"
	"quern.dev/internal/trace"
	"quern.dev/kernel/host"
)

// VariantVariable is the environment variable that names the first variant which launches may
// use: "proven", "narrow" or "wide" instead of "coarse". It is for measuring the effect of
// 128-bit accesses, bounds checks and 64-bit indices. Kernels without that variant use their
// last one. Open returns an error for other values.
const VariantVariable = "QUERN_VARIANT"

// variantNames are the names of variants that VariantVariable can have.
var variantNames = [maxVariants]string{"coarse", "proven", "narrow", "wide"}

// maxVariants is the maximum number of variants per kernel.
const maxVariants = 4

func faultKind(k compiled.SiteKind) FaultKind {
	switch k {
	case compiled.IndexSite, compiled.SliceSite:
		return OutOfRange
	case compiled.DivideSite:
		return DivideByZero
	case compiled.ShiftSite:
		return BadShift
	case compiled.NilSite:
		return NilPointer
	default:
		return Panic
	}
}

// Kernel is a kernel that can be launched on any device. It is safe for
// concurrent use.
type Kernel struct {
	// Declared is set in kernels that quern gen declares. Programs do not change it.
	Declared compiled.Declaration

	described   atomic.Bool // what Declared refers to has been read
	description sync.Mutex  // held while it is read

	launches sync.Pool   // of *Launch
	lease    lease.Lease // held by launches, and by graphs and inline launches
	err      error       // why the kernel cannot be launched
	limited  bool        // some variant has limits

	info    kernelInfo
	params  []driver.Param
	special []specialForm
	first   int // first variant that launches may use; see VariantVariable
	base    int // first of these that has one thread per thread of the kernel

	mu     sync.Mutex
	places map[*loadedKernel]struct{}

	label atomic.Pointer[trace.Label] // for recordings; nil before the first
}

// kernelInfo describes a kernel.
type kernelInfo struct {
	compiled.Kernel
	modules string // name of the modules in Code, if it differs from Name
}

// param returns parameter i.
func (k *kernelInfo) param(i int) *param { return (*param)(&k.Params[i]) }

// param is a parameter with methods for launches and messages.
type param compiled.Param

// NewKernel makes a kernel from a generated description. If the description is invalid, each
// launch returns an error.
func NewKernel(info compiled.Kernel) *Kernel { return newKernel(kernelInfo{Kernel: info}) }

func newKernel(info kernelInfo) *Kernel {
	k := &Kernel{}
	k.describe(info)
	return k
}

// ready reads the description of a declared kernel, unless that has been done.
func (k *Kernel) ready() {
	if k.Declared.Code != nil && !k.described.Load() {
		k.read()
	}
}

func (k *Kernel) read() {
	k.description.Lock()
	defer k.description.Unlock()
	if k.described.Load() {
		return
	}
	info, err := k.Declared.Code.Describe(&k.Declared)
	k.describe(kernelInfo{Kernel: info})
	if err != nil {
		k.err = err
	}
	k.described.Store(true)
}

// describe prepares a new kernel for launches.
func (k *Kernel) describe(info kernelInfo) {
	if len(info.Variants) == 0 {
		info.Variants = []compiled.Variant{{Name: "wide"}}
	}
	k.info, k.places = info, make(map[*loadedKernel]struct{})
	for _, p := range info.Params {
		if p.Size < 0 || p.Size == 0 && p.Kind == compiled.Slice {
			k.err = invalid("parameter %s has a size of %d bytes", p.Name, p.Size)
		}
		k.params = append(k.params, driver.Param{Slice: p.Kind == compiled.Slice, Size: p.Size})
	}
	n := len(info.Variants)
	if n > maxVariants || len(info.Variants[n-1].Limits) > 0 {
		k.err = invalid("the kernel has %d variants, and the last one must have no limits", n)
	}
	for _, v := range info.Variants {
		k.limited = k.limited || len(v.Limits) > 0
		if err := limits.Program(v.Limits).Validate(len(info.Params)); err != nil && k.err == nil {
			k.err = fmt.Errorf("limits of variant %s: %w", v.Name, err)
		}
	}
	if name := os.Getenv(VariantVariable); name != "" {
		k.first = slices.IndexFunc(info.Variants, func(v compiled.Variant) bool { return v.Name == name })
		if k.first < 0 {
			k.first = n - 1
		}
	}
	k.base = k.first
	for k.base < n-1 && info.Variants[k.base].Threads > 1 {
		k.base++
	}
	k.specialise()
	k.launches.New = func() any { return newLaunch(k) }
}

// Name returns the name of the kernel's function.
func (k *Kernel) Name() string {
	if k == nil {
		return ""
	}
	return cmp.Or(k.Declared.Name, k.info.Name)
}

// Params returns the kernel's parameters, except for the first one, the thread.
func (k *Kernel) Params() []compiled.Param {
	if k == nil {
		return nil
	}
	k.ready()
	return slices.Clone(k.info.Params)
}

// String returns the kernel's name with its package: "quern.dev/examples/saxpy.saxpy".
func (k *Kernel) String() string {
	if k == nil {
		return ""
	}
	k.ready()
	if k.info.Package == "" {
		return k.Name()
	}
	return k.info.Package + "." + k.info.Name
}

// check returns an error if the kernel cannot be launched.
func (k *Kernel) check() error {
	if k == nil {
		return invalid("kernel is nil")
	}
	k.ready()
	switch {
	case k.launches.New == nil:
		return invalid("kernel was not made by NewKernel")
	case k.lease.Closed():
		return closedError("kernel")
	default:
		return k.err
	}
}

// Prepare loads the kernel on d. Otherwise the first launch on d loads it.
func (k *Kernel) Prepare(d *Device) error {
	if err := k.acquire(); err != nil {
		return k.failed("prepare", err)
	}
	defer k.release()
	return k.failed("prepare", k.prepare(d))
}

// prepare is Prepare for a kernel that is in use.
func (k *Kernel) prepare(d *Device) error {
	if err := d.check(); err != nil {
		return err
	}
	r, err := d.load(k)
	if err != nil {
		return err
	}
	for i := range k.info.Variants {
		if _, err := r.variant(i); err != nil {
			return err
		}
	}
	for _, s := range k.special {
		if err := s.kernel.prepare(d); err != nil {
			return err
		}
	}
	return nil
}

// failed returns the error of an operation on the kernel.
func (k *Kernel) failed(doing string, err error) error {
	if name := k.Name(); name != "" {
		doing += " " + name
	}
	return driverError(doing, err)
}

// module returns the PTX of a variant for a device. capability is the device's compute
// capability times ten, or 0. If the variant needs another device, module returns the module
// with replacements; if that does not exist or needs a newer device too, the error is a
// *CapabilityError.
func (k *kernelInfo) module(variant string, capability int) (string, error) {
	name := cmp.Or(k.modules, k.Name)
	text, err := k.Code.Module(name, variant, false, k.Name)
	if err != nil || capability == 0 {
		return text, err
	}
	if need, only := targetOf(text); need == capability || need < capability && !only {
		return text, nil
	}
	older, err := k.Code.Module(name, variant, true, k.Name)
	if err != nil {
		return "", err
	}
	if older != "" {
		text = older
	}
	if need, _ := targetOf(text); need > capability {
		return "", &CapabilityError{"some of the kernel's instructions", capability / 10, capability % 10, fmt.Sprintf("%d.%d", need/10, need%10)}
	}
	return text, nil
}

// targetOf returns the compute capability times ten in the .target of PTX, or 0 without
// one. only says that the PTX is for devices of exactly this capability, as in sm_90a.
func targetOf(ptx string) (need int, only bool) {
	_, rest, _ := strings.Cut(ptx, ".target sm_")
	name, _, _ := strings.Cut(rest, "\n")
	digits, only := strings.CutSuffix(strings.TrimSpace(name), "a")
	need, err := strconv.Atoi(digits)
	if err != nil {
		return 0, false
	}
	return need, only
}

// placed returns the size in bytes of the kernel's shared variables if they are in
// dynamic shared memory; see [driver.Kernel].
func (k *kernelInfo) placed() int {
	if k.Shared <= driver.MaxStaticShared {
		return 0
	}
	return k.Shared
}

// hostForm returns the function that the CPU device runs. If the kernel's package was
// built with -cover, that is the kernel's own function, because only it has the counters.
func (k *kernelInfo) hostForm() host.Func {
	if k.Plain != nil && k.Host != nil && coverage.Counts(k.Package) {
		return k.Plain
	}
	return k.Host
}

// loadedKernel is a kernel on a device. It holds the device's lease.
type loadedKernel struct {
	dev    *Device
	kernel *Kernel
	id     uint32 // in Device.loaded

	mu       sync.Mutex // while loading
	variants [maxVariants]atomic.Pointer[variant]
	closed   bool
}

// frameID returns the number of the kernel and the variant in fault records.
func (r *loadedKernel) frameID(variant int) uint32 {
	return r.id*maxVariants + uint32(variant)
}

// loadedByID returns the kernel with the ID of a frame, or nil.
func (d *Device) loadedByID(id uint32) (r *loadedKernel, variant int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.loaded[id/maxVariants], int(id % maxVariants)
}

// newLoaded returns a loadedKernel with a unique number. The caller holds d.mu.
func (d *Device) newLoaded(k *Kernel) *loadedKernel {
	for {
		d.lastLoaded = (d.lastLoaded + 1) % (math.MaxUint32 / maxVariants)
		if d.loaded[d.lastLoaded] == nil {
			return &loadedKernel{dev: d, kernel: k, id: d.lastLoaded}
		}
	}
}

// load returns kernel k on the device.
func (d *Device) load(k *Kernel) (*loadedKernel, error) {
	if r, ok := d.kernels.Load(k); ok {
		return r.(*loadedKernel), nil
	}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	r := d.newLoaded(k)
	if other, ok := d.kernels.LoadOrStore(k, r); ok {
		d.mu.Unlock()
		return other.(*loadedKernel), d.release()
	}
	d.loaded[r.id] = r
	d.mu.Unlock()
	k.mu.Lock()
	k.places[r] = struct{}{}
	k.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(err, r.close("unload"))
	}
	return r, nil
}

// variant returns a variant, and loads it if necessary.
func (r *loadedKernel) variant(i int) (*variant, error) {
	slot := &r.variants[i]
	if v := slot.Load(); v != nil {
		return v, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := slot.Load(); v != nil {
		return v, nil
	}
	if r.closed {
		return nil, closedError("device " + r.dev.id)
	}
	info := &r.kernel.info
	device := r.dev.drv.Info()
	if err := info.supported(device); err != nil {
		return nil, err
	}
	text, host, err := "", info.hostForm(), info.Code.Open()
	if host == nil || r.dev.Backend() != CPU {
		text, err = info.module(info.Variants[i].Name, 10*device.Major+device.Minor)
	}
	if err != nil {
		return nil, err
	}
	f, err := r.dev.drv.Load(&driver.Kernel{
		Name: cmp.Or(info.Entry, info.Name), PTX: text, Host: host, Placed: info.placed(), Prints: len(info.Formats) > 0,
		Label:       info.Package + "." + info.Name,
		Cooperative: info.Cooperative, Cluster: info.Cluster,
	})
	if err != nil {
		return nil, err
	}
	v := &variant{function: f, props: f.Properties(), attributes: &device.Limits, info: info}
	if v.sizes, err = v.chooseSizes(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	slot.Store(v)
	return v, nil
}

// close unloads the modules. Errors name the operation doing.
func (r *loadedKernel) close(doing string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.kernel.mu.Lock()
	delete(r.kernel.places, r)
	r.kernel.mu.Unlock()
	var errs []error
	for i := range r.variants {
		if v := r.variants[i].Swap(nil); v != nil {
			errs = append(errs, r.kernel.failed(doing, unlessLost(v.function.Close())))
		}
	}
	return errors.Join(append(errs, r.dev.release())...)
}
