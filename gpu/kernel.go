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

	"quern.dev/internal/driver"
	"quern.dev/internal/limits"
	"quern.dev/kernel/host"
)

// KernelInfo is what quern gen knows about a kernel. Programs do not write it
// themselves.
type KernelInfo struct {
	Name    string // of an instance of a generic kernel with its type arguments: "scale[float32]"
	Entry   string // of the kernel in its PTX; empty if it is Name
	Package string // import path
	Handler string // of an actor, that the kernel was made for; else empty
	Pos     string // "saxpy.go:14"
	Params  []Param

	// Code is the GPU code of the package. Without it the kernel runs on the CPU
	// only.
	Code *Code

	// Variants are the forms of the kernel, fastest first. A launch uses the
	// first whose limits it meets; the last one has none. No variants means one
	// without checks that can fail.
	Variants []Variant

	// Special are forms of the kernel for particular arguments. A launch uses the
	// first whose limits it meets.
	Special []Special

	Block  Dim3 // that the kernel must be launched with, zero if any will do
	Shared int  // static shared memory of a block in bytes

	Formats []Format // calls of kernel.Printf

	Cooperative bool // it waits for the whole grid: all blocks have to be resident at once
	Cluster     Dim3 // blocks in a cluster, zero if it has none

	// Host is the kernel compiled to Go. Without it the CPU interprets the PTX.
	Host host.Func
	// Plain is the kernel's own function, which the CPU runs in its place where
	// coverage is counted.
	Plain host.Func

	modules string // name of the modules in Code, if not Name
}

// Variant is a form of a kernel that is exact for launches which meet its limits.
type Variant struct {
	Name   string  // "coarse", "proven", "narrow" or "wide"
	Limits []int64 // conditions on the arguments; see package internal/limits
	Sites  []Site  // the checks that can fail

	// Threads is how many threads of the kernel, along X, one thread runs: as
	// many blocks fewer are launched, with a last one for the rest. Zero is one.
	Threads int
	// Adjacent: these threads have numbers in the grid that follow each other;
	// otherwise they are the same thread of blocks that do.
	Adjacent bool
}

// VariantVariable is the environment variable that names the first variant which
// launches may use, "proven", "narrow" or "wide" instead of "coarse": for
// measuring what 128-bit accesses, bounds checks and 64-bit indices bring or cost. Kernels without that variant use their
// last one.
const VariantVariable = "QUERN_VARIANT"

// maxVariants is how many variants a kernel can have.
const maxVariants = 4

// Param is a parameter of a kernel.
type Param struct {
	Name string
	Kind ParamKind
	Type string // Go type of the value or of the elements, with the paths of packages
	Size int    // of the value or of an element, bytes

	// Layout is Type with what it is defined as in place of every defined type, such
	// as "struct{X float32; Y [2]int32}": it says where each number is. It is empty if
	// it is Type.
	Layout string

	// ReadOnly: the kernel writes no element of the slice. Otherwise it may, and the
	// argument cannot be a view for reading; see [Unified.ReadDevice].
	ReadOnly bool
}

// ParamKind is the form of a parameter.
type ParamKind uint8

// Forms of parameters.
const (
	Scalar  ParamKind = iota // a number or bool
	Slice                    // a slice; the argument is a Buffer
	Struct                   // a struct or array
	Texture                  // a texture; the argument is a Texture2D
)

// Site is a check in a kernel that can fail.
type Site struct {
	Kind      SiteKind
	File      string // with the import path of its package if that is another
	Line, Col int
	Text      string // the reason of a panic
}

// SiteKind is the kind of a check.
type SiteKind uint8

// Kinds of checks.
const (
	IndexSite  SiteKind = iota // an index
	SliceSite                  // a bound of a slice expression
	DivideSite                 // a divisor
	ShiftSite                  // a shift count
	PanicSite                  // a call of panic
	NilSite                    // a pointer
)

func (k SiteKind) fault() FaultKind {
	switch k {
	case IndexSite, SliceSite:
		return OutOfRange
	case DivideSite:
		return DivideByZero
	case ShiftSite:
		return BadShift
	case NilSite:
		return NilPointer
	default:
		return Panic
	}
}

// Kernel is a kernel that can be launched on any device. It is safe for
// concurrent use.
type Kernel struct {
	launches sync.Pool // of *Launch
	lease    lease     // held by launches, and by graphs and calls with one
	err      error     // why it cannot be launched
	limited  bool      // some variant has limits

	info    KernelInfo
	params  []driver.Param
	special []specialForm
	first   int // variant that launches may use; see VariantVariable
	base    int // the first of these with a thread for each of the kernel's

	mu        sync.Mutex
	residents map[*resident]struct{}
}

// NewKernel makes a kernel of what quern gen has written. If that is damaged,
// every launch returns an error that says so.
func NewKernel(info KernelInfo) *Kernel {
	if len(info.Variants) == 0 {
		info.Variants = []Variant{{Name: "wide"}}
	}
	k := &Kernel{info: info, residents: make(map[*resident]struct{})}
	for _, p := range info.Params {
		if p.Size < 0 || p.Size == 0 && p.Kind == Slice {
			k.err = invalid("parameter %s has a size of %d bytes", p.Name, p.Size)
		}
		k.params = append(k.params, driver.Param{Slice: p.Kind == Slice, Size: p.Size})
	}
	n := len(info.Variants)
	if n > maxVariants || len(info.Variants[n-1].Limits) > 0 {
		k.err = invalid("the kernel has %d variants, of which the last must have no limits", n)
	}
	for _, v := range info.Variants {
		k.limited = k.limited || len(v.Limits) > 0
		if err := limits.Program(v.Limits).Validate(len(info.Params)); err != nil && k.err == nil {
			k.err = fmt.Errorf("limits of variant %s: %w", v.Name, err)
		}
	}
	if name := os.Getenv(VariantVariable); name != "" {
		k.first = slices.IndexFunc(info.Variants, func(v Variant) bool { return v.Name == name })
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
	return k
}

// Name returns the name of the kernel's function.
func (k *Kernel) Name() string {
	if k == nil {
		return ""
	}
	return k.info.Name
}

// Params returns the kernel's parameters but the first, the thread.
func (k *Kernel) Params() []Param {
	if k == nil {
		return nil
	}
	return slices.Clone(k.info.Params)
}

// String returns the kernel's name with its package: "quern.dev/examples/saxpy.saxpy".
func (k *Kernel) String() string {
	if k == nil || k.info.Package == "" {
		return k.Name()
	}
	return k.info.Package + "." + k.info.Name
}

// check reports why the kernel cannot be launched.
func (k *Kernel) check() error {
	switch {
	case k == nil:
		return invalid("kernel is nil")
	case k.launches.New == nil:
		return invalid("kernel was not made by NewKernel")
	case k.lease.closed():
		return closedError("kernel")
	default:
		return k.err
	}
}

// Prepare loads the kernel on d, which its first launch does otherwise.
func (k *Kernel) Prepare(d *Device) error {
	if err := k.acquire(); err != nil {
		return k.failed("prepare", err)
	}
	defer k.release()
	return k.failed("prepare", k.prepare(d))
}

// prepare is Prepare of a kernel in use.
func (k *Kernel) prepare(d *Device) error {
	if err := d.check(); err != nil {
		return err
	}
	r, err := d.resident(k)
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

// failed says which kernel could not be prepared or launched.
func (k *Kernel) failed(doing string, err error) error {
	if name := k.Name(); name != "" {
		doing += " " + name
	}
	return driverError(doing, err)
}

// module returns the PTX of a variant for a device of the given compute
// capability, times ten, 0 if it has none. Of a variant that needs a newer one
// there may be a module with replacements; if there is none for the device, the error is a *CapabilityError.
func (k *KernelInfo) module(variant string, capability int) (string, error) {
	name := cmp.Or(k.modules, k.Name)
	text, err := k.Code.module(name, variant, false, k.Name)
	if err != nil || capability == 0 || targetOf(text) <= capability {
		return text, err
	}
	older, err := k.Code.module(name, variant, true, k.Name)
	if err != nil {
		return "", err
	}
	if older != "" {
		text = older
	}
	if need := targetOf(text); need > capability {
		return "", &CapabilityError{"some of the kernel's instructions", capability / 10, capability % 10, fmt.Sprintf("%d.%d", need/10, need%10)}
	}
	return text, nil
}

// targetOf returns the compute capability, times ten, that PTX is for, 0 if it
// does not say.
func targetOf(ptx string) int {
	_, rest, _ := strings.Cut(ptx, ".target sm_")
	digits, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(digits))
	if err != nil {
		return 0
	}
	return n
}

// placed returns the bytes of the kernel's shared variables if they are in
// dynamic shared memory; see [driver.Kernel].
func (k *KernelInfo) placed() int {
	if k.Shared <= driver.MaxStaticShared {
		return 0
	}
	return k.Shared
}

// resident is a kernel on a device. It holds the device's lease.
type resident struct {
	dev    *Device
	kernel *Kernel
	id     uint32 // in Device.loaded

	mu       sync.Mutex // while loading
	variants [maxVariants]atomic.Pointer[variant]
	closed   bool
}

// frameID is what fault records call the kernel: its number and the variant's.
func (r *resident) frameID(variant int) uint32 {
	return r.id*maxVariants + uint32(variant)
}

// residentByID returns the kernel with a frame's ID, nil if there is none.
func (d *Device) residentByID(id uint32) (r *resident, variant int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.loaded[id/maxVariants], int(id % maxVariants)
}

// newResident returns a place for the kernel with a number that no other has. d.mu is
// held.
func (d *Device) newResident(k *Kernel) *resident {
	for {
		d.lastLoaded = (d.lastLoaded + 1) % (math.MaxUint32 / maxVariants)
		if d.loaded[d.lastLoaded] == nil {
			return &resident{dev: d, kernel: k, id: d.lastLoaded}
		}
	}
}

// resident returns the place of kernel k on the device.
func (d *Device) resident(k *Kernel) (*resident, error) {
	if r, ok := d.kernels.Load(k); ok {
		return r.(*resident), nil
	}
	if err := d.acquire(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	r := d.newResident(k)
	if other, ok := d.kernels.LoadOrStore(k, r); ok {
		d.mu.Unlock()
		return other.(*resident), d.release()
	}
	d.loaded[r.id] = r
	d.mu.Unlock()
	k.mu.Lock()
	k.residents[r] = struct{}{}
	k.mu.Unlock()
	if err := d.check(); err != nil {
		return nil, errors.Join(err, r.close("unload"))
	}
	return r, nil
}

// variant returns the loaded module, and loads it first if need be.
func (r *resident) variant(i int) (*variant, error) {
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
	text, err := info.module(info.Variants[i].Name, 10*device.Major+device.Minor)
	if err != nil {
		return nil, err
	}
	f, err := r.dev.drv.Load(&driver.Kernel{
		Name: cmp.Or(info.Entry, info.Name), PTX: text, Host: info.hostForm(), Placed: info.placed(), Prints: len(info.Formats) > 0,
		Cooperative: info.Cooperative, Cluster: info.Cluster,
	})
	if err != nil {
		return nil, err
	}
	v := &variant{function: f, props: f.Properties(), attributes: &device.Attributes, info: info}
	if v.sizes, err = v.chooseSizes(0); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	slot.Store(v)
	return v, nil
}

// close unloads the modules, for an operation.
func (r *resident) close(doing string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.kernel.mu.Lock()
	delete(r.kernel.residents, r)
	r.kernel.mu.Unlock()
	var errs []error
	for i := range r.variants {
		if v := r.variants[i].Swap(nil); v != nil {
			errs = append(errs, r.kernel.failed(doing, unlessLost(v.function.Close())))
		}
	}
	return errors.Join(append(errs, r.dev.release())...)
}
