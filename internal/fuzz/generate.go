package fuzz

import (
	"fmt"
	"go/format"
	"math/rand/v2"
	"strings"

	"quern.dev/kernel"
)

// generator generates one program.
type generator struct {
	*rand.Rand
	decls     []string
	structs   []*typ
	callables []*callable
	helpers   map[string]bool
	tables    []*variable
	names     int
	pending   []string

	faulty   bool // checks may fail
	noFloats bool
	large    bool // generate more and longer functions
	thread   bool // functions may take the thread as a parameter
	dense    bool // the kernel consists mainly of reductions and of neighbouring accesses
}

// amount returns a random number below small or, in large programs, below large.
func (g *generator) amount(small, large int) int {
	if g.large {
		return g.IntN(large)
	}
	return g.IntN(small)
}

// suffix ends the names of all package-level declarations in a program, so that many
// programs can share a package.
const suffix = "P0"

func (g *generator) global(stem string) string {
	g.names++
	return fmt.Sprintf("%s%d%s", stem, g.names, suffix)
}

// helpers are functions that define results that Go leaves unspecified.
var helpers = map[string]string{
	"truth": `func truthP0(b bool) int {
	if b {
		return 1
	}
	return 0
}`,
	"whole": `func wholeP0(x float64) int {
	if x > -1e15 && x < 1e15 {
		return int(x)
	}
	return 7
}`,
	// The payload of a NaN is unspecified.
	"image": `func imageP0(x float64) uint64 {
	if x != x {
		return 1
	}
	return math.Float64bits(x)
}`,
}

func (g *generator) helper(name string) string {
	g.helpers[name] = true
	return name + suffix
}

// Generate returns the program for a seed.
func Generate(seed uint64) *Case {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), helpers: map[string]bool{}}
	g.faulty = g.IntN(4) == 0
	g.noFloats = g.IntN(4) == 0
	g.large = g.IntN(8) == 0
	g.dense = g.IntN(3) == 0
	c := &Case{Seed: seed, Values: map[string]int64{}, Contents: map[string]Contents{}}
	k := &kernelGenerator{generator: g, c: c}
	k.generate()

	var b strings.Builder
	b.WriteString(c.header())
	b.WriteString("package main\n\n")
	body := strings.Join(g.decls, "\n")
	for _, name := range [...]string{"truth", "whole", "image"} {
		if g.helpers[name] {
			body += "\n" + helpers[name] + "\n"
		}
	}
	var imports strings.Builder
	for _, path := range [...]string{"math", "math/bits", "quern.dev/kernel"} {
		if strings.Contains(body, path[strings.LastIndexByte(path, '/')+1:]+".") {
			fmt.Fprintf(&imports, "%q\n", path)
		}
	}
	fmt.Fprintf(&b, "import (\n%s)\n\n%s", imports.String(), body)
	text, err := format.Source([]byte(b.String()))
	if err != nil {
		panic(fmt.Sprintf("fuzz: seed %d: %v\n%s", seed, err, b.String()))
	}
	c.Source = string(text)
	return c
}

// kernelGenerator generates the kernel of a program.
type kernelGenerator struct {
	*generator
	c       *Case
	f       *frame
	params  []string
	outputs []*variable
}

func (k *kernelGenerator) param(name string, t *typ, value int) {
	k.params = append(k.params, name+" "+t.text)
	k.c.Values[name] = int64(value)
}

func (k *kernelGenerator) generate() {
	for range k.IntN(3) {
		k.declareStruct()
	}
	if k.IntN(4) == 0 {
		k.vector()
	}
	for range k.IntN(2) {
		k.table()
	}
	k.thread = true
	for range k.amount(3, 6) {
		if k.dense && k.IntN(3) > 0 {
			continue
		}
		k.function()
	}
	cost, fresh := 0, 0
	k.f = &frame{g: k.generator, b: &strings.Builder{}, trips: 1, cost: &cost, fresh: &fresh,
		thread: true, leave: true, digest: true, kernel: true, declared: map[string]bool{}}
	switch n := k.IntN(10); {
	case n < 5:
		k.flat()
	case n < 7:
		k.plane()
	default:
		k.block()
	}
}

// table declares a package-level variable that is never written.
func (g *generator) table() {
	t := arrayOf(2+g.IntN(7), g.basic())
	v := &variable{name: g.global("tab"), t: t, fixed: true, read: true}
	elems := make([]string, t.n)
	for i := range elems {
		elems[i] = g.constant(t.elem)
	}
	g.decls = append(g.decls, fmt.Sprintf("var %s = %s{%s}\n", v.name, t.text, strings.Join(elems, ", ")))
	g.tables = append(g.tables, v)
}

// inputs adds parameters that all threads read: numbers, and slices of at least least
// elements.
func (k *kernelGenerator) inputs(least int, at string) {
	for i := range k.IntN(4) {
		t := k.basic()
		if k.IntN(6) == 0 {
			t = k.composite()
		}
		name := string(rune('p' + i))
		k.params = append(k.params, name+" "+t.text)
		k.f.add(&variable{name: name, t: t})
	}
	for i := range 1 + k.IntN(3) {
		t := k.basic()
		if k.IntN(5) == 0 && len(k.structs) > 0 {
			t = pick(k.generator, k.structs)
		}
		n := least + k.IntN(3)
		v := &variable{name: fmt.Sprintf("in%d", i), t: sliceOf(t), fixed: true, read: true, length: max(n, 1), at: at}
		k.param(v.name, v.t, max(n, 1))
		k.f.add(v)
	}
}

// results adds slices in which each thread has its own elements, starting at index times
// their number.
func (k *kernelGenerator) results(threads int, index string) {
	for i := range 1 + k.IntN(3) {
		t := k.basic()
		if k.IntN(5) == 0 && len(k.structs) > 0 {
			t = pick(k.generator, k.structs)
		}
		if k.IntN(4) == 0 { // that of an input
			if v := pick(k.generator, k.f.vars); v.t.form == slice {
				t = v.t.elem
			}
		}
		own := pick(k.generator, []int{1, 1, 2, 3, 4, 8})
		base := index
		if own > 1 {
			base = fmt.Sprintf("(%s)*%d", index, own)
		}
		v := &variable{name: fmt.Sprintf("out%d", i), t: sliceOf(t), fixed: true, own: own, base: base}
		k.param(v.name, v.t, threads*own)
		k.outputs = append(k.outputs, v)
	}
	if !k.noFloats && k.IntN(3) == 0 {
		t := pick(k.generator, floats)
		k.param("fused", sliceOf(t), threads)
		k.param("bound", sliceOf(t), threads)
	}
	k.param("sums", sliceOf(tUint64), threads)
}

// atomicBuffers adds slices that threads update with one commutative operation each.
func (k *kernelGenerator) atomicBuffers() {
	for _, op := range [...]string{"Add", "Min", "Max", "And", "Or", "Xor"} {
		if k.IntN(5) > 0 {
			continue
		}
		t := pick(k.generator, []*typ{tInt32, tUint32, tInt64, tUint64, tInt, tUint})
		if op == "Add" && !k.noFloats && k.IntN(3) == 0 {
			t = pick(k.generator, floats)
		}
		v := &variable{name: "atomic" + op, t: sliceOf(t), fixed: true, read: true, length: 1 + k.IntN(4)}
		k.param(v.name, v.t, v.length)
		k.f.atomics = append(k.f.atomics, v)
	}
}

// atomic generates an atomic update of an element.
func (f *frame) atomic() {
	if len(f.atomics) == 0 {
		f.assignment()
		return
	}
	v := pick(f.g, f.atomics)
	op := strings.TrimPrefix(v.name, "atomic")
	operand := ""
	if v.t.elem.form == float {
		// Sums of small integers are exact.
		operand = fmt.Sprintf("%s(int8(%s))", v.t.elem.text, f.expr(tInt, 2))
	} else {
		operand = f.expr(v.t.elem, 2)
		if op == "Add" && f.g.IntN(3) == 0 {
			op = "Sub"
		}
	}
	f.line("kernel.Atomic%s(&%s[%s], %s)", op, v.name, f.index(v.length), operand)
}

// finish writes the kernel around the statements in the frame.
func (k *kernelGenerator) finish(options string, head, body, tail string) {
	name := "kernel" + suffix
	k.decls = append(k.decls, fmt.Sprintf("//quern:kernel%s\nfunc %s(t kernel.Thread, %s) {\n%s%s%s}\n",
		options, name, strings.Join(k.params, ", "), head, body, tail))
}

// main generates the statements of a thread. index names the variable with the thread's
// number.
func (k *kernelGenerator) main(index string, statements int) string {
	f := k.f
	for _, v := range k.outputs {
		if k.IntN(2) == 0 {
			continue
		}
		// A window on the thread's own elements.
		f.line("w%s := %s[%s:%s+%d:%s+%d]", v.name, v.name, v.base, v.base, v.own, v.base, v.own)
		f.add(&variable{name: "w" + v.name, t: v.t, fixed: true, length: v.own})
		f.line("_ = w%s", v.name)
	}
	for _, v := range k.outputs {
		f.add(v)
	}
	for _, v := range k.tables {
		f.add(v)
	}
	f.line("acc := uint64(0)")
	f.add(&variable{name: "acc", t: tUint64})
	if f.leave && k.IntN(3) == 0 {
		f.early()
	}
	f.body(statements)
	k.store(index)
	return ""
}

// store generates the stores of a thread's results.
func (k *kernelGenerator) store(index string) {
	f := k.f
	f.noFaults = true
	if _, ok := k.c.Values["fused"]; ok {
		t := tFloat32
		for _, p := range k.params {
			if p == "fused []float64" {
				t = tFloat64
			}
		}
		value, bound := "", ""
		if f.hasSources() && k.IntN(2) == 0 {
			f.noFaults = false
			value, bound = f.fusedSum(t)
			f.noFaults = true
		} else {
			f.noCalls(func() { value, bound = f.fusedExpr(t, 3) })
		}
		f.line("fused[%s], bound[%s] = %s, %s", index, index, value, bound)
	}
	f.line("sums[%s] = acc", index)
}

// size picks the numbers of blocks and of threads per block.
func (k *kernelGenerator) size() (blocks, threads int) {
	blocks = pick(k.generator, []int{1, 1, 2, 3})
	threads = pick(k.generator, []int{1, 4, 7, 8, 16, 31, 32, 33})
	if k.IntN(10) == 0 {
		threads = 64
	}
	return blocks, threads
}

func (k *kernelGenerator) options(block string) string {
	if k.IntN(2) == 0 {
		return " block=" + block
	}
	return ""
}

// flat generates a kernel over elements along X.
func (k *kernelGenerator) flat() {
	blocks, threads := k.size()
	k.c.Grid, k.c.Block = kernel.Dim3{X: blocks, Y: 1, Z: 1}, kernel.Dim3{X: threads, Y: 1, Z: 1}
	n := max(1, blocks*threads-k.IntN(4))
	limit := pick(k.generator, []string{"n", "n", "len(sums)"})
	k.param("n", tInt, n)
	form := k.IntN(4)
	if form == 3 {
		n += k.IntN(2 * threads)
		k.c.Values["n"] = int64(n)
	}
	k.f.add(&variable{name: "n", t: tInt, fixed: true})
	k.f.add(&variable{name: "i", t: tInt, fixed: true})
	k.inputs(n, "i")
	k.f.threads = threads
	k.sources(n, "i")
	k.results(n, "i")
	k.atomicBuffers()
	var head, tail string
	switch form {
	case 0:
		head = fmt.Sprintf("i := t.Global()\nif i >= %s {\nreturn\n}\n", limit)
	case 1, 2:
		head, tail = fmt.Sprintf("if i := t.Global(); i < %s {\n", limit), "}\n"
	case 3:
		head, tail = fmt.Sprintf("for i := t.Global(); i < %s; i += t.Stride() {\n", limit), "}\n"
		k.f.trips = 2
		k.f.labels = []string{""}
	}
	if form > 0 {
		k.f.depth = 1
	}
	k.main("i", k.statements(1+k.amount(5, 14)))
	k.finish(k.options(fmt.Sprint(threads)), head, k.f.b.String(), tail)
}

// plane generates a kernel over elements along X and Y.
func (k *kernelGenerator) plane() {
	block := kernel.Dim3{X: 1 + k.IntN(8), Y: 1 + k.IntN(4), Z: 1}
	grid := kernel.Dim3{X: 1 + k.IntN(2), Y: 1 + k.IntN(2), Z: 1}
	k.c.Grid, k.c.Block = grid, block
	w, h := max(1, grid.X*block.X-k.IntN(3)), max(1, grid.Y*block.Y-k.IntN(3))
	k.param("w", tInt, w)
	k.param("h", tInt, h)
	for _, name := range []string{"w", "h", "x", "y"} {
		k.f.add(&variable{name: name, t: tInt, fixed: true})
	}
	index := "y*w + x"
	k.inputs(w*h, pick(k.generator, []string{index, "min(y+1, h-1)*w + x", "y*w + max(x-1, 0)"}))
	k.sources(w*h, index)
	k.results(w*h, index)
	k.atomicBuffers()
	head := "x, y := t.Global2()\nif x >= w || y >= h {\nreturn\n}\n"
	tail := ""
	if k.IntN(2) == 0 {
		head, tail = "x, y := t.Global2()\nif x < w && y < h {\n", "}\n"
		k.f.depth = 1
	}
	k.main(index, k.statements(1+k.amount(4, 10)))
	k.finish(k.options(fmt.Sprintf("%dx%d", block.X, block.Y)), head, k.f.b.String(), tail)
}

// statements returns the number of statements of a kernel that has n of them if it is not
// dense.
func (k *kernelGenerator) statements(n int) int {
	if k.dense {
		return 1 + k.IntN(3)
	}
	return n
}
