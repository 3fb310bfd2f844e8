package culib

import (
	"errors"
	"sync"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/internal/engine"
)

// Functions of cuSPARSE.
const (
	spCreate = iota
	spDestroy
	spSetStream
	spCreateCSR
	spDestroyMatrix
	spCreateVector
	spDestroyVector
	spCreateDense
	spDestroyDense
	spVectorSize
	spVector
	spMatrixSize
	spMatrix
)

var sparseFunctions = [...]string{
	spCreate:        "cusparseCreate",
	spDestroy:       "cusparseDestroy",
	spSetStream:     "cusparseSetStream",
	spCreateCSR:     "cusparseCreateCsr",
	spDestroyMatrix: "cusparseDestroySpMat",
	spCreateVector:  "cusparseCreateDnVec",
	spDestroyVector: "cusparseDestroyDnVec",
	spCreateDense:   "cusparseCreateDnMat",
	spDestroyDense:  "cusparseDestroyDnMat",
	spVectorSize:    "cusparseSpMV_bufferSize",
	spVector:        "cusparseSpMV",
	spMatrixSize:    "cusparseSpMM_bufferSize",
	spMatrix:        "cusparseSpMM",
}

const (
	indexInt32 = 2 // cusparseIndexType_t
	orderRow   = 2 // cusparseOrder_t

	// The algorithms that have the same result in each run, as package sparse promises
	// (cusparseSpMVAlg_t, cusparseSpMMAlg_t).
	vectorCSR2 = 3
	matrixCSR3 = 12
)

// sparseHandle is the handle for a device.
type sparseHandle struct {
	lib    *library
	handle uintptr
	mu     sync.Mutex // held while work is queued: the stream is a setting of the handle
}

func (h *sparseHandle) close() error { return h.lib.call(spDestroy, h.handle) }

// sparseOf returns the handle for a device.
func sparseOf(d *gpu.Device) (*sparseHandle, error) {
	x, l, err := libraryOf(d, engine.Sparse)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sparse != nil {
		return x.sparse, nil
	}
	h := &sparseHandle{lib: l}
	if err := d.Native(func() error { return l.call(spCreate, uintptr(unsafe.Pointer(&h.handle))) }); err != nil {
		return nil, err
	}
	x.sparse = h
	return h, nil
}

func checkSparse(p *engine.SparseProduct) error {
	switch {
	case p.Transpose:
		return unsupported(engine.Sparse, p.Op, "its products with a transposed matrix differ from run to run")
	case p.Entries == 0:
		return unsupported(engine.Sparse, p.Op, "it takes no matrix without entries")
	default:
		return nil
	}
}

// CanMultiplySparse implements engine.Provider.
func (Provider) CanMultiplySparse(d *gpu.Device, p engine.SparseProduct) error {
	if err := checkSparse(&p); err != nil {
		return err
	}
	_, err := sparseOf(d)
	return own(p.Op, err)
}

// sparseCall is a call of MultiplySparse.
type sparseCall struct {
	*sparseHandle
	p                         engine.SparseProduct
	alpha, beta               uint64
	start, index, value, b, c uintptr // addresses
	matrix, from, to          uintptr // descriptors
	stream, work              uintptr
	memory                    uint64
	prepared, run             func() error // the methods size and do
}

var sparseCalls = sync.Pool{New: func() any {
	c := new(sparseCall)
	c.prepared, c.run = c.size, c.do
	return c
}}

// MultiplySparse implements engine.Provider.
func (Provider) MultiplySparse(s *gpu.Stream, p engine.SparseProduct, o engine.SparseOperands, w *gpu.Workspace) error {
	return own(p.Op, multiplySparse(s, p, o, w))
}

func multiplySparse(s *gpu.Stream, p engine.SparseProduct, o engine.SparseOperands, w *gpu.Workspace) (err error) {
	if err := checkSparse(&p); err != nil {
		return err
	}
	d := s.Device()
	h, err := sparseOf(d)
	if err != nil {
		return err
	}
	n, err := gpu.OpenNative(s, sparseFunctions[functionOf(&p)])
	if err != nil {
		return err
	}
	defer n.Close()
	c := sparseCalls.Get().(*sparseCall)
	defer sparseCalls.Put(c)
	c.sparseHandle, c.p, c.alpha, c.beta, c.stream, c.work, c.memory = h, p, o.Alpha, o.Beta, n.Stream(), 0, 0
	c.start, c.index, c.value = gpu.Address(n, o.Start, false), gpu.Address(n, o.Index, false), gpu.Address(n, o.Value, false)
	c.b, c.c = gpu.Address(n, o.B, false), gpu.Address(n, o.C, true)
	scratch, err := gpu.OpenScratch(s, []*gpu.Workspace{w})
	if err != nil {
		return err
	}
	defer scratch.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() {
		if e := c.destroy(); e != nil {
			err = errors.Join(err, e)
		}
	}()
	if err := d.Native(c.prepared); err != nil {
		return err
	}
	memory := gpu.Take[byte](scratch, int(c.memory))
	if run, err := scratch.Ready(); !run {
		return err
	}
	c.work = gpu.Address(n, memory, true)
	return n.Run(c.run)
}

// functionOf returns the function that computes a product.
func functionOf(p *engine.SparseProduct) int {
	if p.Vector {
		return spVector
	}
	return spMatrix
}

// element returns the type of the elements.
func (c *sparseCall) element() uintptr {
	if c.p.Double {
		return real64
	}
	return real32
}

// size makes the descriptors and asks for the size of the temporary memory. c is on the heap.
func (c *sparseCall) size() error {
	l, p, element := c.lib, &c.p, c.element()
	c.matrix, c.from, c.to = 0, 0, 0
	err := errors.Join(
		l.enqueue(spSetStream, c.handle, c.stream),
		l.enqueue(spCreateCSR, uintptr(unsafe.Pointer(&c.matrix)), uintptr(p.Rows), uintptr(p.Cols), uintptr(p.Entries), c.start, c.index, c.value, indexInt32, indexInt32, 0, element),
	)
	if p.Vector {
		err = errors.Join(err,
			l.enqueue(spCreateVector, uintptr(unsafe.Pointer(&c.from)), uintptr(p.Cols), c.b, element),
			l.enqueue(spCreateVector, uintptr(unsafe.Pointer(&c.to)), uintptr(p.Rows), c.c, element))
	} else {
		err = errors.Join(err,
			l.enqueue(spCreateDense, uintptr(unsafe.Pointer(&c.from)), uintptr(p.Cols), uintptr(p.Columns), uintptr(p.StrideB), c.b, element, orderRow),
			l.enqueue(spCreateDense, uintptr(unsafe.Pointer(&c.to)), uintptr(p.Rows), uintptr(p.Columns), uintptr(p.StrideC), c.c, element, orderRow))
	}
	if err != nil {
		return err
	}
	if p.Vector {
		return l.enqueue(spVectorSize, c.handle, 0, uintptr(unsafe.Pointer(&c.alpha)), c.matrix, c.from, uintptr(unsafe.Pointer(&c.beta)), c.to, element, vectorCSR2, uintptr(unsafe.Pointer(&c.memory)))
	}
	return l.enqueue(spMatrixSize, c.handle, 0, 0, uintptr(unsafe.Pointer(&c.alpha)), c.matrix, c.from, uintptr(unsafe.Pointer(&c.beta)), c.to, element, matrixCSR3, uintptr(unsafe.Pointer(&c.memory)))
}

// do queues the product.
func (c *sparseCall) do() error {
	l, element := c.lib, c.element()
	if c.p.Vector {
		return l.enqueue(spVector, c.handle, 0, uintptr(unsafe.Pointer(&c.alpha)), c.matrix, c.from, uintptr(unsafe.Pointer(&c.beta)), c.to, element, vectorCSR2, c.work)
	}
	return l.enqueue(spMatrix, c.handle, 0, 0, uintptr(unsafe.Pointer(&c.alpha)), c.matrix, c.from, uintptr(unsafe.Pointer(&c.beta)), c.to, element, matrixCSR3, c.work)
}

// destroy destroys the descriptors, which queued work does not use.
func (c *sparseCall) destroy() error {
	dense := spDestroyDense
	if c.p.Vector {
		dense = spDestroyVector
	}
	var errs []error
	for _, x := range [...]struct {
		handle   uintptr
		function int
	}{{c.matrix, spDestroyMatrix}, {c.from, dense}, {c.to, dense}} {
		if x.handle != 0 {
			if err := c.lib.enqueue(x.function, x.handle); err != nil {
				errs = append(errs, err)
			}
		}
	}
	c.matrix, c.from, c.to = 0, 0, 0
	return errors.Join(errs...)
}
