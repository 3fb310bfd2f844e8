package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"quern.dev/gpu/compiled"
	"quern.dev/gpu/internal/layout"
	"quern.dev/internal/driver"
	"quern.dev/internal/limits"
	"quern.dev/internal/trace"
)

// Launch is a launch under construction. Generated launchers use it: [Kernel.Begin], then
// [Arg], [SliceArg] or [TextureArg] for each parameter in order, then [Launch.End], after
// which it must not be used. End returns the first error. These functions do nothing
// for the nil Launch that Begin returns with an error. A Launch is not safe for concurrent use.
type Launch struct {
	kernel *Kernel
	stream *Stream
	grid   Grid
	err    error

	frame   *driver.Frame
	params  []launchParam // by parameter
	next    int           // parameter that the next argument is for
	wide    bool          // limits cannot be evaluated for an argument
	special bool          // an argument's memory does not come directly from the driver
	placed  placement     // of the last launch
	shape   *trace.Shape  // of the last launch that was recorded

	// For the limits, when a launch is not placed as the last one was.
	values []int64  // by parameter: the integer or the length; then the bytes of dynamic shared memory
	places []uint64 // by parameter: the address of a slice
	dims   [6]int64 // grid and block
}

// launchParam is a parameter of a launch. A driver's call evicts most of the processor's
// caches, so the data that a launch reads is kept together.
type launchParam struct {
	size     int // bytes of a value or an element
	slice    bool
	readOnly bool
	integer  layout.Integer // how limits read the value

	accepted unsafe.Pointer // the type of the last argument that Kernel.Launch was given

	memory *memory // of a slice or texture; nil for values
	held   bool    // the memory is in use until the launch ends
	offset int64   // of a slice in the memory, bytes
	value  int64   // the integer or the length
	place  uint64  // the address of a slice

	// From the last launch that was placed.
	placedValue int64
	placedPlace uint64 // modulo placeAlignment
}

func newLaunch(k *Kernel) *Launch {
	l := &Launch{
		kernel: k,
		frame:  driver.NewFrame(k.params),
		params: make([]launchParam, len(k.params)),
		values: make([]int64, len(k.params)+1),
		places: make([]uint64, len(k.params)),
	}
	for i := range l.params {
		p := &k.info.Params[i]
		l.params[i] = launchParam{size: p.Size, slice: p.Kind == compiled.Slice, readOnly: p.ReadOnly}
		if k.limited {
			l.params[i].integer = layout.IntegerOf(*p)
		}
	}
	return l
}

// Begin begins a launch of k on the grid g.
func (k *Kernel) Begin(s *Stream, g Grid) (*Launch, error) {
	if err := k.check(); err != nil {
		return nil, k.failed("launch", err)
	}
	if err := s.check(); err != nil {
		return nil, k.failed("launch", err)
	}
	if !k.lease.Acquire() {
		return nil, k.failed("launch", closedError("kernel"))
	}
	l := k.launches.Get().(*Launch)
	l.stream, l.grid, l.err, l.next, l.wide, l.special = s, g, nil, 0, false, false
	return l, nil
}

// argument returns the storage of the next argument. It returns nil if there are no more
// parameters, or if the launch has failed or was not begun.
func (l *Launch) argument() *driver.Arg {
	if l == nil || l.stream == nil {
		return nil
	}
	i := l.next
	l.next++
	if l.err != nil || i >= len(l.frame.Args) {
		return nil
	}
	return &l.frame.Args[i]
}

// fail records the error of the current argument, unless there was one before.
func (l *Launch) fail(err error) {
	if l.err == nil {
		l.err = fmt.Errorf("argument %s: %w", l.kernel.info.Params[l.next-1].Name, err)
	}
}

// Arg sets the next argument, a number, bool, struct or array.
func Arg[T any](l *Launch, v T) {
	a := l.argument()
	if a == nil {
		return
	}
	if a.Value == nil || a.Size != int(unsafe.Sizeof(v)) {
		l.fail(l.kernel.info.param(l.next-1).mistyped(layout.FullName(reflect.TypeFor[T]()), reflect.TypeFor[T](), a.Value != nil))
		return
	}
	*(*T)(a.Value) = v
	l.setInteger(a.Value)
}

// setInteger records the value of the current argument for the limits.
func (l *Launch) setInteger(p unsafe.Pointer) {
	s := &l.params[l.next-1]
	if s.integer == layout.NotInteger {
		return
	}
	v, ok := s.integer.Read(p)
	s.value = v
	l.wide = l.wide || !ok
}

// SliceArg sets the next argument, a slice.
func SliceArg[T any](l *Launch, b *Buffer[T]) {
	a := l.argument()
	if a == nil {
		return
	}
	var zero T
	if s := &l.params[l.next-1]; !s.slice || s.size != int(unsafe.Sizeof(zero)) {
		l.fail(l.kernel.info.param(l.next-1).mistyped("*gpu.Buffer["+layout.FullName(reflect.TypeFor[T]())+"]", reflect.TypeFor[T](), s.slice))
		return
	}
	l.pass(a, b.bytesOf())
}

// pass sets the current argument, a slice.
func (l *Launch) pass(a *driver.Arg, b *Buffer[byte]) {
	s := &l.params[l.next-1]
	if !b.plain(l.stream.dev) {
		err := b.check(l.stream.dev)
		if err == nil {
			err = b.mem.acquireFor(l.stream, access(!s.readOnly))
		}
		if err != nil {
			if errors.Is(err, ErrReadOnly) {
				err = fmt.Errorf("the kernel may write it: %w", err)
			}
			l.fail(err)
			return
		}
		l.special, s.held = true, true
	}
	a.Length = int64(b.length)
	s.memory, s.offset, s.value = b.mem, b.offset, a.Length
}

// hold begins the uses of the memory that pass has left, and sets the addresses of slices.
// A driver's call evicts the buffers from the processor's caches. The loads in pass overlap;
// atomic operations between them would make each wait for the one before.
func (l *Launch) hold() error {
	for i := range l.params {
		s := &l.params[i]
		m := s.memory
		if m == nil || !s.slice {
			continue
		}
		if !s.held && !m.lease.Acquire() {
			return fmt.Errorf("argument %s: %w", l.kernel.info.Params[i].Name, m.closedError())
		}
		s.held = true
		at := m.drv.Offset(s.offset)
		a := &l.frame.Args[i]
		a.Addr, s.place = at.Addr, at.Addr
		if at.Host != nil {
			a.Data = at.Host
		}
	}
	return nil
}

// describe returns the Go type of an argument for p.
func (p *param) describe() string {
	if p.Kind == compiled.Slice {
		return "*gpu.Buffer[" + p.Type + "]"
	}
	if p.Kind == compiled.Texture {
		return "*gpu.Texture2D[" + p.Type + "]"
	}
	return p.Type
}

// End checks the launch and submits it. On a GPU it returns when the launch is queued, on
// the CPU and the simulator when it is done or given up. The next wait on the stream, not
// End, returns a fault of the kernel.
func (l *Launch) End() error {
	if l == nil || l.stream == nil {
		return driverError("launch", invalid("launch was not made by Begin, or has ended"))
	}
	k, dev := l.kernel, l.stream.dev
	err := l.submit()
	l.drop()
	if err != nil {
		if dev.lease.Closed() && errors.Is(err, ErrClosed) {
			err = dev.check() // says more than that an argument is closed
		}
		return k.failed("launch", err)
	}
	return nil
}

// EndBegun is End for a launch that Begin has returned with err, which EndBegun returns if it is
// not nil.
func (l *Launch) EndBegun(err error) error {
	if err != nil {
		return err
	}
	return l.End()
}

func (l *Launch) submit() error {
	if l.err != nil {
		return l.err
	}
	if want := len(l.frame.Args); l.next != want {
		return invalid("%s, want %d", count(l.next, "argument"), want)
	}
	if err := l.hold(); err != nil {
		return err
	}
	c, err := l.stream.enter()
	if err != nil {
		return err
	}
	defer l.stream.release()
	if l.special {
		if err := l.visit(); err != nil {
			return err
		}
	}
	if c != nil {
		return c.launch(l)
	}
	if run, err := l.stream.admit(l.kernel); !run {
		return err
	}
	v, err := l.place()
	if err != nil {
		return err
	}
	n := l.stream.began(l.kernel)
	o := l.stream.traceLaunch(trace.Launch, l.kernel)
	if o != nil {
		o.Launches(l.traceShape(v))
	}
	return l.stream.launched(n, o.end(l.stream.drv.Launch(v.function, l.frame)))
}

// visit orders the launch after other work on the memory of its arguments.
func (l *Launch) visit() error {
	for i := range l.params {
		m := l.params[i].memory
		if m == nil || m.pooled() == nil && m.view() == nil {
			continue
		}
		if err := m.visit(l.stream); err != nil {
			return fmt.Errorf("argument %s: %w", l.kernel.info.Params[i].Name, err)
		}
	}
	return nil
}

// place chooses the block size and the module, and checks the sizes.
func (l *Launch) place() (*variant, error) {
	if l.placed.holds(l) {
		return l.placed.variant, nil
	}
	l.placed.forget()
	for i := range l.params {
		l.values[i], l.places[i] = l.params[i].value, l.params[i].place
	}
	r, err := l.stream.dev.load(l.form())
	if err != nil {
		return nil, err
	}
	number, v, err := l.decide(r)
	if err != nil {
		return nil, err
	}
	l.placed.remember(l, r, number, v)
	return v, nil
}

// decide is place for one form of the kernel. It returns the variant and its number, and sets
// the blocks in the frame.
func (l *Launch) decide(r *loadedKernel) (number int, v *variant, err error) {
	k, dev := r.kernel, r.dev
	if v, err = r.variant(k.base); err != nil {
		return 0, nil, err
	}
	f := l.frame
	if f.Grid, f.Block, err = v.resolve(l.grid); err != nil {
		return 0, nil, err
	}
	chosen := k.base
	if k.limited {
		l.values[len(k.params)] = int64(l.grid.shared)
		l.dims = [...]int64{
			int64(f.Grid.X), int64(f.Grid.Y), int64(f.Grid.Z),
			int64(f.Block.X), int64(f.Block.Y), int64(f.Block.Z),
		}
		chosen = k.choose(l)
	}
	if chosen < k.base { // coarse: in the blocks of the base
		coarse, err := r.variant(chosen)
		switch {
		case err != nil:
			return 0, nil, err
		case f.Block.X*f.Block.Y*f.Block.Z <= coarse.props.MaxThreads:
			v = coarse
		default:
			chosen = k.base
		}
	}
	if chosen > k.base {
		if v, err = r.variant(chosen); err != nil {
			return 0, nil, err
		}
		block, err := v.block(l.grid)
		if err != nil {
			return 0, nil, err
		}
		if block != f.Block { // few variants use a different block size from the base
			if f.Grid, err = l.grid.blocksOf(block, k.info.Cluster); err != nil {
				return 0, nil, err
			}
			f.Block = block
		}
	}
	f.Shared, f.ID = l.grid.shared, r.frameID(chosen)
	form := &k.info.Variants[chosen]
	f.Threads, f.Adjacent = max(1, form.Threads), form.Adjacent
	if want := k.info.Block; want.X > 0 && f.Block != filled(want) {
		return 0, nil, invalid("block %v, but the kernel declares block %v", f.Block, filled(want))
	}
	if err := checkClusters(k.info.Cluster, f.Grid); err != nil {
		return 0, nil, err
	}
	return chosen, v, checkSize(l.grid, f.Grid, f.Block, k.info.Shared, &v.props, &dev.drv.Info().Limits)
}

// choose returns the number of the first variant whose limits the launch meets.
func (k *Kernel) choose(l *Launch) int {
	last := len(k.info.Variants) - 1
	if l.wide {
		return last
	}
	for i := k.first; i < last; i++ {
		if limits.Program(k.info.Variants[i].Limits).HoldAt(l.values, l.places, &l.dims) {
			return i
		}
	}
	return last
}
