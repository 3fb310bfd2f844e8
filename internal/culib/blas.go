package culib

import (
	"errors"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Functions of cuBLASLt.
const (
	ltCreate = iota
	ltDestroy
	ltDescCreate
	ltDescDestroy
	ltDescSet
	ltLayoutCreate
	ltLayoutDestroy
	ltLayoutSet
	ltPreferenceCreate
	ltPreferenceDestroy
	ltPreferenceSet
	ltHeuristic
	ltMatmul
)

var blasFunctions = [...]string{
	ltCreate:            "cublasLtCreate",
	ltDestroy:           "cublasLtDestroy",
	ltDescCreate:        "cublasLtMatmulDescCreate",
	ltDescDestroy:       "cublasLtMatmulDescDestroy",
	ltDescSet:           "cublasLtMatmulDescSetAttribute",
	ltLayoutCreate:      "cublasLtMatrixLayoutCreate",
	ltLayoutDestroy:     "cublasLtMatrixLayoutDestroy",
	ltLayoutSet:         "cublasLtMatrixLayoutSetAttribute",
	ltPreferenceCreate:  "cublasLtMatmulPreferenceCreate",
	ltPreferenceDestroy: "cublasLtMatmulPreferenceDestroy",
	ltPreferenceSet:     "cublasLtMatmulPreferenceSetAttribute",
	ltHeuristic:         "cublasLtMatmulAlgoGetHeuristic",
	ltMatmul:            "cublasLtMatmul",
}

// Types of elements (cudaDataType).
const (
	real32    = 0
	real64    = 1
	real16    = 2
	int8Type  = 3
	int32Type = 10
	realB16   = 14
)

// Types of arithmetic (cublasComputeType_t).
const (
	compute32F     = 68
	compute64F     = 70
	compute32I     = 72
	compute32FTF32 = 77
)

// Attributes.
const (
	descTransA   = 3 // cublasLtMatmulDescAttributes_t
	descTransB   = 4
	descEpilogue = 7
	descBias     = 8

	layoutBatch = 5 // cublasLtMatrixLayoutAttribute_t
	layoutStep  = 6

	preferenceMemory    = 1 // cublasLtMatmulPreferenceAttributes_t
	preferenceAlignment = 5 // of A; B, C and D follow
)

// Bits of an epilogue (cublasLtEpilogue_t), which has the value 1 if none is set.
const (
	epilogueReLU = 2
	epilogueBias = 4
	epilogueGELU = 32
)

// elementTypes gives the types of A, B; of C, alpha and beta; and of the arithmetic.
var elementTypes = [...]struct{ factor, result, compute int32 }{
	engine.Float32:  {real32, real32, compute32F},
	engine.Float64:  {real64, real64, compute64F},
	engine.TF32:     {real32, real32, compute32FTF32},
	engine.Float16:  {real16, real32, compute32F},
	engine.BFloat16: {realB16, real32, compute32F},
	engine.Int8:     {int8Type, int32Type, compute32I},
}

const (
	productMemory = 32 << 20 // temporary memory that a product may use; NVIDIA's advice for compute capability 9.0
	mostPlans     = 512      // shapes whose descriptors are kept
	mostAlignment = 256      // bytes; more does not matter
	leastForIMMA  = 16
)

// products multiplies matrices with cuBLASLt.
type products struct {
	lib    *library
	handle uintptr

	mu    sync.RWMutex
	plans map[productKey]*productPlan
}

// productKey is what an algorithm depends on.
type productKey struct {
	engine.Product
	align [4]uint16 // of A, B, C and the matrix that is added, in bytes
}

// productPlan is the descriptors of a product and the algorithm for it.
type productPlan struct {
	mu     sync.Mutex // held while work is queued: the address of the bias is an attribute
	closed bool
	err    error

	desc, a, b, add, c uintptr
	algorithm          [8]uint64
	memory             int
}

// heuristic is cublasLtMatmulHeuristicResult_t.
type heuristic struct {
	algorithm [8]uint64
	memory    uint64
	state     int32
	waves     float32
	_         [4]int32
}

// multiplier returns the products of a device.
func multiplier(d *gpu.Device) (*products, error) {
	x, l, err := libraryOf(d, engine.BLAS)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.blas != nil {
		return x.blas, nil
	}
	p := &products{lib: l, plans: make(map[productKey]*productPlan)}
	if err := d.Native(func() error { return l.call(ltCreate, uintptr(unsafe.Pointer(&p.handle))) }); err != nil {
		return nil, err
	}
	x.blas = p
	return p, nil
}

func (p *products) close() error {
	var errs []error
	for _, plan := range p.plans {
		errs = append(errs, plan.destroy(p.lib))
	}
	return errors.Join(append(errs, p.lib.call(ltDestroy, p.handle))...)
}

// check returns an error for what cuBLASLt has not, or not in row-major order.
func checkProduct(p *engine.Product) error {
	reason := ""
	switch {
	case p.Element == engine.Uint8:
		reason = "it does not multiply integers without a sign"
	case p.Element == engine.Float8:
		reason = "products of 8-bit floats are not supported"
	case p.BiasRows:
		reason = "it adds no bias with an element for each row"
	case p.Residual && (p.Activation != 0 || p.Beta):
		reason = "it adds a residual only without an activation, and if beta is 0"
	case (p.Residual || p.Bias || p.Activation != 0) && p.Element == engine.Int8:
		reason = "products of integers have no epilogue"
	default:
		return nil
	}
	return unsupported(engine.BLAS, p.Op, reason)
}

// CanMultiply implements engine.Provider.
func (Provider) CanMultiply(d *gpu.Device, p engine.Product) error {
	if err := checkProduct(&p); err != nil {
		return err
	}
	m, err := multiplier(d)
	if err != nil {
		return own(p.Op, err)
	}
	plan, err := m.plan(d, productKey{p, [4]uint16{leastForIMMA, leastForIMMA, leastForIMMA, leastForIMMA}})
	if err != nil {
		return own(p.Op, err)
	}
	plan.mu.Unlock()
	return nil
}

// alignmentOf returns the alignment of an address in bytes.
func alignmentOf(a uintptr) uint16 {
	return uint16(min(uint64(1)<<bits.TrailingZeros64(uint64(a)|mostAlignment), mostAlignment))
}

// multiplication is a call of Multiply.
type multiplication struct {
	lib                      *library
	handle, stream           uintptr
	plan                     *productPlan
	alpha, beta              uint64
	a, b, c, add, bias, work uintptr
	run                      func() error // the method do
}

var multiplications = sync.Pool{New: func() any {
	m := new(multiplication)
	m.run = m.do
	return m
}}

// Multiply implements engine.Provider.
func (Provider) Multiply(s *gpu.Stream, p engine.Product, o engine.Operands, w *gpu.Workspace) error {
	return own(p.Op, multiply(s, p, o, w))
}

func multiply(s *gpu.Stream, p engine.Product, o engine.Operands, w *gpu.Workspace) error {
	if err := checkProduct(&p); err != nil {
		return err
	}
	d := s.Device()
	from, err := multiplier(d)
	if err != nil {
		return err
	}
	n, err := gpu.OpenNative(s, blasFunctions[ltMatmul])
	if err != nil {
		return err
	}
	defer n.Close()
	m := multiplications.Get().(*multiplication)
	defer multiplications.Put(m)
	m.lib, m.handle, m.stream = from.lib, from.handle, n.Stream()
	m.alpha, m.beta = o.Alpha, o.Beta
	m.a, m.b, m.c = gpu.Address(n, o.A, false), gpu.Address(n, o.B, false), gpu.Address(n, o.C, true)
	m.add, m.bias = m.c, 0
	if p.Residual {
		m.add = gpu.Address(n, o.Residual, false)
		m.beta = one(p.Element)
	}
	if p.Bias {
		m.bias = gpu.Address(n, o.Bias, false)
	}
	if m.plan, err = from.plan(d, productKey{p, [4]uint16{alignmentOf(m.a), alignmentOf(m.b), alignmentOf(m.c), alignmentOf(m.add)}}); err != nil {
		return err
	}
	defer m.plan.mu.Unlock()
	scratch, err := gpu.OpenScratch(s, []*gpu.Workspace{w})
	if err != nil {
		return err
	}
	defer scratch.Close()
	m.work = 0
	if m.plan.memory > 0 {
		memory := gpu.Take[byte](scratch, m.plan.memory)
		if run, err := scratch.Ready(); !run {
			return err
		}
		m.work = gpu.Address(n, memory, true)
	} else if run, err := scratch.Ready(); !run {
		return err
	}
	return n.Run(m.run)
}

// one returns the bits of 1 in the type of beta.
func one(e engine.Number) uint64 {
	if e == engine.Float64 {
		return 0x3ff0000000000000
	}
	return 0x3f800000
}

// do queues the product. m and its plan are on the heap.
func (m *multiplication) do() error {
	p := m.plan
	if m.bias != 0 {
		if err := m.lib.enqueue(ltDescSet, p.desc, descBias, uintptr(unsafe.Pointer(&m.bias)), unsafe.Sizeof(m.bias)); err != nil {
			return err
		}
	}
	err := m.lib.enqueue(ltMatmul, m.handle, p.desc, uintptr(unsafe.Pointer(&m.alpha)), m.b, p.b, m.a, p.a, uintptr(unsafe.Pointer(&m.beta)), m.add, p.add, m.c, p.c,
		uintptr(unsafe.Pointer(&p.algorithm)), m.work, uintptr(p.memory), m.stream)
	runtime.KeepAlive(m)
	return err
}

// plan returns the plan of a product, locked.
func (p *products) plan(d *gpu.Device, k productKey) (*productPlan, error) {
	k.Op, k.Beta = "", false
	for {
		p.mu.RLock()
		plan := p.plans[k]
		p.mu.RUnlock()
		if plan == nil {
			if err := p.add(d, k); err != nil {
				return nil, err
			}
			continue
		}
		plan.mu.Lock()
		switch {
		case plan.err != nil:
			plan.mu.Unlock()
			return nil, plan.err
		case !plan.closed:
			return plan, nil
		}
		plan.mu.Unlock() // another one has taken its place
	}
}

// add makes a plan, and drops one if there are many. What the library does not support is kept
// as an error.
func (p *products) add(d *gpu.Device, k productKey) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.plans[k] != nil {
		return nil
	}
	plan := new(productPlan)
	err := d.Native(func() error {
		if len(p.plans) >= mostPlans {
			if err := p.drop(); err != nil {
				return err
			}
		}
		if err := plan.prepare(p, &k); err != nil {
			return errors.Join(err, plan.destroy(p.lib))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	plan.err, plan.closed = own("", err), false
	p.plans[k] = plan
	return nil
}

// drop destroys a plan that is not in use, if there is one.
func (p *products) drop() error {
	for k, plan := range p.plans {
		if plan.mu.TryLock() {
			defer plan.mu.Unlock()
			delete(p.plans, k)
			return plan.destroy(p.lib)
		}
	}
	return nil
}

// destroy destroys the descriptors.
func (p *productPlan) destroy(l *library) error {
	p.closed = true
	var errs []error
	for _, x := range []struct {
		handle   *uintptr
		function int
	}{{&p.desc, ltDescDestroy}, {&p.a, ltLayoutDestroy}, {&p.b, ltLayoutDestroy}, {&p.add, ltLayoutDestroy}, {&p.c, ltLayoutDestroy}} {
		if *x.handle != 0 {
			errs = append(errs, l.call(x.function, *x.handle))
			*x.handle = 0
		}
	}
	return errors.Join(errs...)
}

// prepare makes the descriptors and finds the algorithm.
func (p *productPlan) prepare(from *products, k *productKey) error {
	l, t := from.lib, elementTypes[k.Element]
	err := errors.Join(
		l.call(ltDescCreate, uintptr(unsafe.Pointer(&p.desc)), uintptr(t.compute), uintptr(t.result)),
		p.layout(l, &p.a, t.factor, k.TransA, k.M, k.K, k.StrideA, k.StepA, k.Batch),
		p.layout(l, &p.b, t.factor, k.TransB, k.K, k.N, k.StrideB, k.StepB, k.Batch),
		p.layout(l, &p.c, t.result, false, k.M, k.N, k.StrideC, k.StepC, k.Batch),
	)
	if k.Residual {
		err = errors.Join(err, p.layout(l, &p.add, t.result, false, k.M, k.N, k.StrideR, k.StepR, k.Batch))
	} else {
		err = errors.Join(err, p.layout(l, &p.add, t.result, false, k.M, k.N, k.StrideC, k.StepC, k.Batch))
	}
	if err != nil {
		return err
	}
	epilogue := int32(0)
	if k.Bias {
		epilogue |= epilogueBias
	}
	switch k.Activation {
	case 1:
		epilogue |= epilogueReLU
	case 2:
		epilogue |= epilogueGELU
	}
	epilogue = max(epilogue, 1)
	// The library's A is B, and its B is A.
	for _, x := range []struct {
		attribute int
		value     int32
	}{{descTransA, flag(k.TransB)}, {descTransB, flag(k.TransA)}, {descEpilogue, epilogue}} {
		if err := l.call(ltDescSet, p.desc, uintptr(x.attribute), uintptr(unsafe.Pointer(&x.value)), unsafe.Sizeof(x.value)); err != nil {
			return err
		}
	}
	return p.choose(from, k)
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// layout makes the descriptor of row-major matrices, which are rows*cols after transposition.
func (p *productPlan) layout(l *library, to *uintptr, element int32, transposed bool, rows, cols, stride, step, batch int) error {
	if transposed {
		rows, cols = cols, rows
	}
	if err := l.call(ltLayoutCreate, uintptr(unsafe.Pointer(to)), uintptr(element), uintptr(cols), uintptr(rows), uintptr(stride)); err != nil {
		return err
	}
	if batch == 1 {
		return nil
	}
	count, distance := int32(batch), int64(step)
	return errors.Join(
		l.call(ltLayoutSet, *to, layoutBatch, uintptr(unsafe.Pointer(&count)), unsafe.Sizeof(count)),
		l.call(ltLayoutSet, *to, layoutStep, uintptr(unsafe.Pointer(&distance)), unsafe.Sizeof(distance)),
	)
}

// choose asks the library for the algorithm.
func (p *productPlan) choose(from *products, k *productKey) (err error) {
	l := from.lib
	var preference uintptr
	if err := l.call(ltPreferenceCreate, uintptr(unsafe.Pointer(&preference))); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.call(ltPreferenceDestroy, preference)) }()
	memory := uint64(productMemory)
	if err := l.call(ltPreferenceSet, preference, preferenceMemory, uintptr(unsafe.Pointer(&memory)), unsafe.Sizeof(memory)); err != nil {
		return err
	}
	for i, align := range [...]uint16{k.align[1], k.align[0], k.align[3], k.align[2]} {
		bytes := uint32(align)
		if err := l.call(ltPreferenceSet, preference, uintptr(preferenceAlignment+i), uintptr(unsafe.Pointer(&bytes)), unsafe.Sizeof(bytes)); err != nil {
			return err
		}
	}
	var found heuristic
	var count int32
	err = l.call(ltHeuristic, from.handle, p.desc, p.b, p.a, p.add, p.c, preference, 1, uintptr(unsafe.Pointer(&found)), uintptr(unsafe.Pointer(&count)))
	if err == nil && count > 0 && found.state != 0 {
		err = l.failed(ltHeuristic, int(found.state))
	}
	if err == nil && count == 0 {
		err = l.failed(ltHeuristic, 15)
	}
	if err != nil {
		return err
	}
	p.algorithm, p.memory = found.algorithm, int(found.memory)
	return nil
}
