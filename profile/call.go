package profile

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"quern.dev/gpu"
	"quern.dev/gpu/compiled"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// Call is a launch of a kernel whose arguments are made up, for any size n. It serves
// [Validate], [Analyze] and, with [Call.Workload], [Advise].
type Call struct {
	Kernel *gpu.Kernel
	// Args are expressions of n by the names of parameters: the value of a number ("2.5",
	// "n", "n*n"), or the length of a slice ("n", "4*n+1"). Numbers that are missing are n if
	// they are integers, 1.5 if they are floats, true, and n for lengths.
	Args map[string]string
	// Threads is the number of threads as an expression of n; "n" if empty. Two or three
	// expressions, separated by commas, make a plane or a volume.
	Threads string
	// Block is the block size; zero leaves it to the kernel.
	Block int
}

// Input is a kind of contents of slices.
type Input string

// Kinds of contents. Integers are at least 0 and less than n in random ones, so that they can
// be indices.
const (
	Random Input = "random" // floats in [-1, 1)
	Zeros  Input = "zeros"
	Edges  Input = "edges" // infinities, NaN, the largest, the smallest, subnormal numbers
)

// evaluate returns the value of an expression of n.
func evaluate(text string, n int) (float64, error) {
	e, err := parser.ParseExpr(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not an expression of n such as 4*n+1", text)
	}
	v, ok := value(e, float64(n))
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number: use numbers, n, + - * / and parentheses", text)
	}
	return v, nil
}

// value evaluates an expression tree. Divisions are exact.
func value(e ast.Expr, n float64) (float64, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64)
		return v, err == nil
	case *ast.Ident:
		return n, e.Name == "n"
	case *ast.ParenExpr:
		return value(e.X, n)
	case *ast.UnaryExpr:
		v, ok := value(e.X, n)
		return -v, ok && e.Op == token.SUB
	case *ast.BinaryExpr:
		x, ok1 := value(e.X, n)
		y, ok2 := value(e.Y, n)
		ok := ok1 && ok2
		switch e.Op {
		case token.ADD:
			return x + y, ok
		case token.SUB:
			return x - y, ok
		case token.MUL:
			return x * y, ok
		case token.QUO:
			return x / y, ok && y != 0
		}
	}
	return 0, false
}

// grid returns the grid for a size.
func (c *Call) grid(n int) (gpu.Grid, error) {
	text := c.Threads
	if text == "" {
		text = "n"
	}
	var dims []int
	for part := range strings.SplitSeq(text, ",") {
		v, err := evaluate(part, n)
		if err != nil {
			return gpu.Grid{}, fmt.Errorf("threads: %w", err)
		}
		dims = append(dims, int(math.Ceil(v)))
	}
	var g gpu.Grid
	switch len(dims) {
	case 1:
		g = gpu.Linear(dims[0])
	case 2:
		g = gpu.Plane(dims[0], dims[1])
	case 3:
		g = gpu.Volume(dims[0], dims[1], dims[2])
	default:
		return g, fmt.Errorf("threads: %q has %d dimensions; want 1 to 3", text, len(dims))
	}
	if c.Block > 0 {
		g = g.Block(gpu.Dim3{X: c.Block})
	}
	return g, nil
}

// array is a slice argument: its contents on the host, and a buffer on a device.
type array interface {
	upload(s *gpu.Stream) error
	send(s *gpu.Stream) error
	download(ctx context.Context, s *gpu.Stream) error
	pin(d *gpu.Device) error
	sendPinned(s *gpu.Stream, lo, hi float64) error
	receivePinned(s *gpu.Stream, lo, hi float64) error
	buffer() any
	part(lo, hi float64) any
	output() any // contents after a download, as a slice
	measure(other any) (gputest.Distance, error)
	bytes() int64
	length() int
	name() string
	isOutput() bool
	close() error
}

// slice is an array of elements of type T.
type slice[T any] struct {
	param    string
	readOnly bool
	host     []T // before the launch
	result   []T // after a download
	device   *gpu.Buffer[T]
	pinned   *gpu.HostBuffer[T]
}

func (a *slice[T]) upload(s *gpu.Stream) (err error) {
	a.device, err = gpu.Upload(s, a.host)
	return err
}

func (a *slice[T]) send(s *gpu.Stream) error { return gpu.CopyIn(s, a.device, a.host) }

func (a *slice[T]) download(ctx context.Context, s *gpu.Stream) error {
	if a.result == nil {
		a.result = make([]T, len(a.host))
	}
	return gpu.Download(ctx, s, a.result, a.device)
}

// pin copies the contents to page-locked memory.
func (a *slice[T]) pin(d *gpu.Device) (err error) {
	if a.pinned == nil {
		if a.pinned, err = gpu.AllocHost[T](d, len(a.host)); err != nil {
			return err
		}
	}
	copy(a.pinned.Data(), a.host)
	return nil
}

// bounds converts shares of the array to indices.
func (a *slice[T]) bounds(lo, hi float64) (int, int) {
	n := float64(len(a.host))
	return int(math.Round(lo * n)), int(math.Round(hi * n))
}

func (a *slice[T]) sendPinned(s *gpu.Stream, lo, hi float64) error {
	i, j := a.bounds(lo, hi)
	return gpu.CopyInAsync(s, a.device.Slice(i, j), a.pinned.Slice(i, j))
}

func (a *slice[T]) receivePinned(s *gpu.Stream, lo, hi float64) error {
	i, j := a.bounds(lo, hi)
	return gpu.CopyOutAsync(s, a.pinned.Slice(i, j), a.device.Slice(i, j))
}

func (a *slice[T]) part(lo, hi float64) any { i, j := a.bounds(lo, hi); return a.device.Slice(i, j) }
func (a *slice[T]) buffer() any             { return a.device }

func (a *slice[T]) output() any {
	if a.pinned != nil {
		return slices.Clone(a.pinned.Data())
	}
	return slices.Clone(a.result)
}

func (a *slice[T]) measure(other any) (gputest.Distance, error) {
	list, ok := other.([]T)
	if !ok {
		return gputest.Distance{}, fmt.Errorf("%s: elements of type %T", a.param, other)
	}
	return gputest.Measure(a.output().([]T), list)
}

func (a *slice[T]) bytes() int64 {
	var v T
	return int64(len(a.host)) * int64(unsafe.Sizeof(v))
}

func (a *slice[T]) length() int    { return len(a.host) }
func (a *slice[T]) name() string   { return a.param }
func (a *slice[T]) isOutput() bool { return !a.readOnly }

func (a *slice[T]) close() error {
	var errs []error
	if a.device != nil {
		errs = append(errs, a.device.Close())
	}
	if a.pinned != nil {
		errs = append(errs, a.pinned.Close())
	}
	a.device, a.pinned = nil, nil
	return errors.Join(errs...)
}

// elementTypes make arrays of the types of elements that can be made up.
var elementTypes = map[string]func(p *compiled.Param, n int, in Input, r *rand.Rand) array{
	"int": integers[int], "int8": integers[int8], "int16": integers[int16], "int32": integers[int32], "int64": integers[int64],
	"uint": integers[uint], "uint8": integers[uint8], "uint16": integers[uint16], "uint32": integers[uint32], "uint64": integers[uint64],
	"float32": floats[float32], "float64": floats[float64],
	"quern.dev/kernel.Float16": func(p *compiled.Param, n int, in Input, r *rand.Rand) array {
		return converted(p, n, in, r, kernel.ToFloat16[float32])
	},
	"quern.dev/kernel.BFloat16": func(p *compiled.Param, n int, in Input, r *rand.Rand) array {
		return converted(p, n, in, r, kernel.ToBFloat16[float32])
	},
}

// integers makes an array of integers.
func integers[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](p *compiled.Param, n int, in Input, r *rand.Rand) array {
	a := &slice[T]{param: p.Name, readOnly: p.ReadOnly, host: make([]T, n)}
	zero := T(0)
	largest := ^zero
	if largest < zero { // signed
		largest = T(uint64(1)<<(8*unsafe.Sizeof(zero)-1) - 1)
	}
	edges := []T{0, 1, ^zero, largest, largest + 1, 2}
	for i := range a.host {
		switch in {
		case Random:
			a.host[i] = T(r.Uint64N(uint64(min(float64(n), float64(largest)))))
		case Edges:
			a.host[i] = edges[i%len(edges)]
		}
	}
	return a
}

// edgeFloats are the largest and smallest numbers of a type, and those that are no numbers.
func edgeFloats(largest, least, normal float64) []float64 {
	return []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), largest, -largest, least, -least, normal, normal / 2, 1 + 0x1p-10}
}

// floats makes an array of floats.
func floats[T float32 | float64](p *compiled.Param, n int, in Input, r *rand.Rand) array {
	edges := edgeFloats(math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126)
	if unsafe.Sizeof(T(0)) == 8 {
		edges = edgeFloats(math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022)
	}
	a := &slice[T]{param: p.Name, readOnly: p.ReadOnly, host: make([]T, n)}
	for i := range a.host {
		switch in {
		case Random:
			a.host[i] = T(2*r.Float64() - 1)
		case Edges:
			a.host[i] = T(edges[r.IntN(len(edges))])
		}
	}
	return a
}

// converted makes an array of 16-bit floats.
func converted[T any](p *compiled.Param, n int, in Input, r *rand.Rand, convert func(float32) T) array {
	from := floats[float32](p, n, in, r).(*slice[float32])
	a := &slice[T]{param: p.Name, readOnly: p.ReadOnly}
	for _, v := range from.host {
		a.host = append(a.host, convert(v))
	}
	return a
}

// bound is a call whose arrays are on a device.
type boundCall struct {
	call   *Call
	grid   gpu.Grid
	args   []any // scalars, and nil for arrays
	arrays []array
}

// most bytes of a slice that is made up.
const mostMadeUp = 8 << 30

// bind makes the arguments for a size, and uploads the arrays.
func (c *Call) bind(s *gpu.Stream, n int, in Input, seed uint64) (*boundCall, error) {
	if c.Kernel == nil {
		return nil, errors.New("Call.Kernel is nil")
	}
	if n < 1 {
		return nil, fmt.Errorf("size %d: want at least 1", n)
	}
	grid, err := c.grid(n)
	if err != nil {
		return nil, err
	}
	b := &boundCall{call: c, grid: grid}
	params := c.Kernel.Params()
	for name := range c.Args {
		if !slices.ContainsFunc(params, func(p compiled.Param) bool { return p.Name == name }) {
			var names []string
			for _, p := range params {
				names = append(names, p.Name)
			}
			return nil, fmt.Errorf("kernel %s has no parameter %s; it has %s", c.Kernel.Name(), name, strings.Join(names, ", "))
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range params {
		if err := b.add(&params[i], s, n, in, r); err != nil {
			return nil, errors.Join(fmt.Errorf("parameter %s: %w", params[i].Name, err), b.close())
		}
	}
	return b, nil
}

// add makes the argument for a parameter.
func (b *boundCall) add(p *compiled.Param, s *gpu.Stream, n int, in Input, r *rand.Rand) error {
	text, given := b.call.Args[p.Name]
	v := float64(n)
	if given && text != "true" && text != "false" {
		var err error
		if v, err = evaluate(text, n); err != nil {
			return err
		}
	}
	switch p.Kind {
	case compiled.Slice:
		make := elementTypes[p.Type]
		if make == nil {
			return fmt.Errorf("elements of type %s cannot be made up; write a program with profile.Workload", p.Type)
		}
		if v < 0 || v*float64(p.Size) > mostMadeUp {
			return fmt.Errorf("a length of %v: want 0 to %d", v, mostMadeUp/p.Size)
		}
		a := make(p, int(v), in, r)
		b.arrays = append(b.arrays, a)
		b.args = append(b.args, nil)
		return a.upload(s)
	case compiled.Scalar:
		arg, err := scalar(p, v, given, text)
		b.args = append(b.args, arg)
		return err
	}
	return fmt.Errorf("a value of type %s cannot be made up; write a program with profile.Workload", p.Type)
}

// scalarTypes are the types of numbers.
var scalarTypes = map[string]reflect.Type{
	"int": reflect.TypeFor[int](), "int8": reflect.TypeFor[int8](), "int16": reflect.TypeFor[int16](), "int32": reflect.TypeFor[int32](), "int64": reflect.TypeFor[int64](),
	"uint": reflect.TypeFor[uint](), "uint8": reflect.TypeFor[uint8](), "uint16": reflect.TypeFor[uint16](), "uint32": reflect.TypeFor[uint32](), "uint64": reflect.TypeFor[uint64](),
	"float32": reflect.TypeFor[float32](), "float64": reflect.TypeFor[float64](),
}

// scalar converts a value to the type of a parameter.
func scalar(p *compiled.Param, v float64, given bool, text string) (any, error) {
	if p.Type == "bool" {
		return !given || text == "true", nil
	}
	t := scalarTypes[p.Type]
	if t == nil {
		return nil, fmt.Errorf("a value of type %s cannot be made up; write a program with profile.Workload", p.Type)
	}
	to := reflect.New(t).Elem()
	switch {
	case to.CanFloat():
		if !given {
			v = 1.5
		}
		to.SetFloat(v)
	case to.CanInt():
		if to.OverflowInt(int64(v)) {
			return nil, fmt.Errorf("%v does not fit %s", v, p.Type)
		}
		to.SetInt(int64(v))
	case v < 0 || to.OverflowUint(uint64(v)):
		return nil, fmt.Errorf("%v does not fit %s", v, p.Type)
	default:
		to.SetUint(uint64(v))
	}
	return to.Interface(), nil
}

// launch launches the kernel on the whole arrays.
func (b *boundCall) launch(s *gpu.Stream) error {
	return b.call.Kernel.Launch(s, b.grid, b.arguments(func(a array) any { return a.buffer() })...)
}

// arguments returns the arguments, with a buffer for each array.
func (b *boundCall) arguments(of func(a array) any) []any {
	args, next := slices.Clone(b.args), 0
	for i := range args {
		if args[i] == nil {
			args[i] = of(b.arrays[next])
			next++
		}
	}
	return args
}

// each calls f for all arrays.
func (b *boundCall) each(f func(a array) error) error {
	for _, a := range b.arrays {
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

// eachOutput calls f for the arrays that the kernel may write.
func (b *boundCall) eachOutput(f func(a array) error) error {
	return b.each(func(a array) error {
		if !a.isOutput() {
			return nil
		}
		return f(a)
	})
}

// send restores the contents of the arrays on the device.
func (b *boundCall) send(s *gpu.Stream) error {
	return b.each(func(a array) error { return a.send(s) })
}

// receive waits and downloads what the kernel may have written.
func (b *boundCall) receive(ctx context.Context, s *gpu.Stream) error {
	return b.eachOutput(func(a array) error { return a.download(ctx, s) })
}

func (b *boundCall) close() error {
	var errs []error
	for _, a := range b.arrays {
		errs = append(errs, a.close())
	}
	return errors.Join(errs...)
}

// Workload returns the call as work for [Advise], with random contents of slices. Arrays that
// the kernel may write are copied in both directions.
func (c Call) Workload() Workload {
	name := ""
	if c.Kernel != nil {
		name = c.Kernel.Name()
	}
	return Workload{Name: name, Prepare: func(s *gpu.Stream, n int) (*Instance, error) {
		b, err := c.bind(s, n, Random, 1)
		if err != nil {
			return nil, err
		}
		i := &Instance{Launch: b.launch, Close: b.close}
		for _, a := range b.arrays {
			i.In = append(i.In, a.bytes())
			if a.isOutput() {
				i.Out = append(i.Out, a.bytes())
			}
		}
		return i, nil
	}}
}
