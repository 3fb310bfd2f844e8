package driver

import (
	"unsafe"

	"quern.dev/kernel"
)

// Param describes the layout of one kernel parameter.
type Param struct {
	Slice bool
	Size  int // bytes of a value
}

// Arg is the storage of one argument.
type Arg struct {
	// For a slice.
	Data   unsafe.Pointer // where the memory is Go's, otherwise nil
	Addr   uint64
	Length int64 // elements

	// For a value: Size bytes in words of their own.
	Value unsafe.Pointer
	Size  int
}

// Frame holds the arguments of one launch. Only one launch at a time may use it.
type Frame struct {
	Grid, Block kernel.Dim3
	Shared      int // dynamic shared memory in bytes
	// Threads is the number of the kernel's threads, along X, that one PTX thread runs;
	// see Frame.Blocks. It is at least 1. Kernels compiled to Go run them one by one.
	Threads int
	// Adjacent: these threads have consecutive numbers in the grid; otherwise they are
	// the same thread of consecutive blocks.
	Adjacent bool
	Args     []Arg

	// Params points at each PTX parameter in order: one for a value, two for a slice
	// (address and length), then Control, ID and Stated. A kernel may declare fewer of
	// the last three.
	Params []unsafe.Pointer
	// Bytes is the memory of each element of Params.
	Bytes [][]byte

	Control uint64 // address of the stream's control block; the stream sets it
	ID      uint32 // identifies the kernel in fault records
	Stated  uint32 // Grid.X

	// Call holds the arguments of the driver call.
	Call [12]uintptr
}

// NewFrame returns a frame for a kernel with the given parameters.
func NewFrame(params []Param) *Frame {
	f := &Frame{Args: make([]Arg, len(params))}
	words := 0
	for _, p := range params {
		words += wordsOf(p)
	}
	values := make([]uint64, words)
	for i, p := range params {
		a := &f.Args[i]
		if p.Slice {
			f.add(unsafe.Pointer(&a.Addr), 8)
			f.add(unsafe.Pointer(&a.Length), 8)
			continue
		}
		n := wordsOf(p)
		a.Size, a.Value = p.Size, unsafe.Pointer(unsafe.SliceData(values))
		values = values[n:]
		f.add(a.Value, p.Size)
	}
	f.add(unsafe.Pointer(&f.Control), 8)
	f.add(unsafe.Pointer(&f.ID), 4)
	f.add(unsafe.Pointer(&f.Stated), 4)
	return f
}

// Blocks returns the grid for the PTX. Along X it is Grid divided by the number of
// threads that a PTX thread runs, rounded up.
func (f *Frame) Blocks() kernel.Dim3 {
	d := f.Grid
	if n := f.Threads; n > 1 {
		d.X = (d.X-1)/n + 1
	}
	return d
}

// First returns the first of the kernel's threads that a PTX thread runs.
func (f *Frame) First(block, thread kernel.Dim3) (kernel.Dim3, kernel.Dim3) {
	if f.Threads > 1 {
		block.X *= f.Threads
		if f.Adjacent {
			n := thread.X * f.Threads
			block.X += n / f.Block.X
			thread.X = n % f.Block.X
		}
	}
	return block, thread
}

// wordsOf returns the number of 8-byte words that hold a value of parameter p. It is at
// least one, so that every value has its own address.
func wordsOf(p Param) int {
	if p.Slice {
		return 0
	}
	return max(1, (p.Size+7)/8)
}

func (f *Frame) add(p unsafe.Pointer, size int) {
	f.Params = append(f.Params, p)
	f.Bytes = append(f.Bytes, unsafe.Slice((*byte)(p), size))
}

// Release drops the pointers to the memory of the last launch.
func (f *Frame) Release() {
	for i := range f.Args {
		f.Args[i].Data = nil
	}
}

// Clone returns a frame with the same arguments.
func (f *Frame) Clone() *Frame {
	params := make([]Param, len(f.Args))
	for i, a := range f.Args {
		params[i] = Param{Slice: a.Value == nil, Size: a.Size}
	}
	c := NewFrame(params)
	c.Grid, c.Block, c.Shared, c.Threads, c.Adjacent, c.ID = f.Grid, f.Block, f.Shared, f.Threads, f.Adjacent, f.ID
	for i, a := range f.Args {
		to := &c.Args[i]
		to.Data, to.Addr, to.Length = a.Data, a.Addr, a.Length
		if a.Value != nil {
			copy(unsafe.Slice((*byte)(to.Value), a.Size), unsafe.Slice((*byte)(a.Value), a.Size))
		}
	}
	return c
}
