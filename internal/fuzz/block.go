package fuzz

import (
	"fmt"

	"quern.dev/kernel"
)

// block generates a kernel whose threads cooperate: they exchange values through shared
// memory between barriers.
func (k *kernelGenerator) block() {
	blocks, threads := k.size()
	k.c.Grid, k.c.Block = kernel.Dim3{X: blocks, Y: 1, Z: 1}, kernel.Dim3{X: threads, Y: 1, Z: 1}
	n := blocks * threads
	f := k.f
	f.leave = false
	k.param("n", tInt, n)
	f.add(&variable{name: "n", t: tInt, fixed: true})
	f.add(&variable{name: "i", t: tInt, fixed: true})
	f.add(&variable{name: "tid", t: tInt, fixed: true, limit: threads})
	k.inputs(n, "i")
	f.threads = threads
	k.sources(n, "i")
	k.results(n, "i")
	k.atomicBuffers()

	var cells []*variable
	for i := range 1 + k.IntN(2) {
		t := k.basic()
		if k.IntN(5) == 0 && len(k.structs) > 0 {
			t = pick(k.generator, k.structs)
		}
		v := &variable{name: fmt.Sprintf("cells%d", i), t: arrayOf(threads+k.IntN(3), t)}
		f.line("%s := kernel.Shared[%s](t)\n_ = %s", v.name, v.t.text, v.name)
		cells = append(cells, v)
	}
	counts := &variable{name: "counts", t: arrayOf(1+k.IntN(6), pick(k.generator, []*typ{tInt32, tUint32, tInt64, tUint64}))}
	f.line("%s := kernel.Shared[%s](t)\n_ = %s", counts.name, counts.t.text, counts.name)
	f.line("i, tid := t.Global(), t.ThreadIdx.X\n_ = tid")
	for _, v := range k.outputs {
		f.add(v)
	}
	for _, v := range k.tables {
		f.add(v)
	}
	f.line("acc := uint64(0)")
	f.add(&variable{name: "acc", t: tUint64})
	if k.IntN(3) == 0 {
		k.segments(threads)
	}
	exchange := ""
	if k.IntN(2) == 0 {
		exchange = k.exchange(cells[0])
	}
	shared := &phases{frame: f, cells: cells, counts: counts, exchange: exchange, threads: threads}
	f.body(k.amount(3, 6))
	for range 1 + k.amount(3, 5) {
		shared.phase()
		f.plain(k.amount(2, 4))
	}
	f.leave = k.IntN(2) == 0
	f.body(k.amount(2, 5))
	for _, v := range f.vars {
		if v.name[0] == 'v' && v.t.isBasic() {
			f.collect(v)
		}
	}
	k.store("i")
	k.finish(k.options(fmt.Sprint(threads)), "", f.b.String(), "")
}

// exchange declares a function that stores a value, waits at a barrier and reads another
// thread's value.
func (k *kernelGenerator) exchange(cells *variable) string {
	name := k.global("exchange")
	k.decls = append(k.decls, fmt.Sprintf(`func %s(t kernel.Thread, cells *%s, v %s, by int) %s {
	cells[t.ThreadIdx.X] = v
	t.Sync()
	w := cells[(t.ThreadIdx.X+by)%%t.BlockDim.X]
	t.Sync()
	return w
}
`, name, cells.t.text, cells.t.elem.text, cells.t.elem.text))
	return name
}

// phases generates steps that all threads of a block execute together. All control flow
// around them is uniform across the block.
type phases struct {
	*frame
	cells    []*variable
	counts   *variable
	exchange string
	threads  int
}

// plain generates n statements. The variables they declare stay visible.
func (f *frame) plain(n int) {
	outer := f.inScope()
	for range n {
		if *f.cost < most {
			f.statement()
		}
	}
	for _, v := range f.vars {
		if !outer[v] {
			f.line("_ = %s", v.name)
		}
	}
}

func (p *phases) within(do func(in *phases)) {
	in := *p
	in.frame = p.scope()
	in.labels = nil
	do(&in)
}

func (p *phases) phase() {
	g := p.g
	c := pick(g, p.cells)
	if !g.faulty && g.IntN(3) == 0 {
		p.warp()
		return
	}
	switch g.IntN(8) {
	case 0:
		if p.exchange != "" {
			*p.fresh++
			name := fmt.Sprintf("v%d", *p.fresh)
			p.line("%s := %s(t, %s, %s, %d)", name, p.exchange, p.cells[0].name, p.value(p.cells[0].t.elem), g.IntN(9))
			p.add(&variable{name: name, t: p.cells[0].t.elem})
			p.line("_ = %s", name)
			return
		}
		p.swap(c)
	case 1:
		if p.depth > 2 {
			p.swap(c)
			return
		}
		*p.fresh++
		r := fmt.Sprintf("r%d", *p.fresh)
		limit, n := fmt.Sprint(1+g.IntN(3)), 3
		if g.IntN(2) == 0 {
			limit = "(n & 3)"
		}
		p.line("for %s := range %s {", r, limit)
		p.within(func(in *phases) {
			in.trips *= n
			in.add(&variable{name: r, t: tInt, fixed: true, limit: n})
			in.collect(in.vars[len(in.vars)-1])
			in.phase()
			in.body(g.IntN(3))
		})
		p.line("}")
	case 2:
		if p.depth > 2 {
			p.swap(c)
			return
		}
		p.line("if %s {", pick(g, []string{"n > 20", "t.BlockIdx.X&1 == 0", "t.GridDim.X == 2 || n == 8", "len(sums) < 33"}))
		p.within(func(in *phases) {
			in.phase()
			in.body(g.IntN(3))
		})
		p.line("}")
	case 3:
		p.count()
	case 4:
		p.reduce(c)
	default:
		p.swap(c)
	}
}

// swap generates an exchange: each thread stores a value and reads that of another thread.
func (p *phases) swap(c *variable) {
	g := p.g
	p.line("%s[tid] = %s", c.name, p.value(c.t.elem))
	p.line("t.Sync()")
	p.plain(g.IntN(2))
	// A faulty index must not be one of a cell that no thread has written.
	if p.hasSources() && (!g.faulty || c.t.n == p.threads) && g.IntN(3) == 0 {
		p.tile = &variable{name: c.name, t: c.t, length: p.threads}
		p.reduction()
		p.tile = nil
	}
	*p.fresh++
	name := fmt.Sprintf("v%d", *p.fresh)
	p.line("%s := %s[%s]", name, c.name, p.other())
	p.add(&variable{name: name, t: c.t.elem})
	p.line("_ = %s", name)
	p.line("t.Sync()")
}

// other returns the index of some thread of the block.
func (p *phases) other() string {
	return pick(p.g, []string{
		fmt.Sprintf("(tid+%d)%%t.BlockDim.X", p.g.IntN(40)),
		"t.BlockDim.X-1-tid",
		"(tid^1)%t.BlockDim.X",
		fmt.Sprintf("min(tid+1, %d)", p.threads-1),
		"max(tid-1, 0)",
		fmt.Sprintf("%s%%uint(t.BlockDim.X)", p.expr(tUint, 1)),
	})
}

// count generates counting with atomics.
func (p *phases) count() {
	g := p.g
	n, t := p.counts.t.n, p.counts.t.elem
	p.line("for k := tid; k < %d; k += t.BlockDim.X {\ncounts[k] = %s\n}", n, g.constant(t))
	p.line("t.Sync()")
	op := pick(g, []string{"Add", "Sub", "Min", "Max", "And", "Or", "Xor"})
	p.line("kernel.Atomic%s(&counts[%s], %s)", op, p.index(n), p.expr(t, 2))
	p.line("t.Sync()")
	*p.fresh++
	name := fmt.Sprintf("v%d", *p.fresh)
	p.line("%s := counts[%s]", name, p.index(n))
	p.add(&variable{name: name, t: t})
	p.line("_ = %s", name)
	p.line("t.Sync()")
}

// reduce generates a tree reduction of the threads' values.
func (p *phases) reduce(c *variable) {
	text, t := "%[1]s[%[2]s]", c.t.elem
	if t.form != integer {
		p.swap(c)
		return
	}
	at := func(i string) string { return fmt.Sprintf(text, c.name, i) }
	p.line("%s = %s", at("tid"), p.expr(t, 2))
	p.line("t.Sync()")
	p.line("for s := t.BlockDim.X / 2; s > 0; s /= 2 {\nif tid < s {\n%s %s= %s\n}\nt.Sync()\n}", at("tid"), pick(p.g, []string{"+", "^", "|", "*"}), at("tid+s"))
	*p.fresh++
	name := fmt.Sprintf("v%d", *p.fresh)
	p.line("%s := %s", name, at("0"))
	p.add(&variable{name: name, t: t})
	p.line("_ = %s", name)
	p.line("t.Sync()")
}

// warp generates a warp operation. It generates nothing where a thread may stop, because
// the results of the other threads are then unspecified.
func (p *phases) warp() {
	g := p.g
	*p.fresh++
	v := &variable{name: fmt.Sprintf("v%d", *p.fresh)}
	call := ""
	t := g.integerType()
	switch g.IntN(6) {
	case 0, 1:
		v.t = g.basic()
		if g.IntN(6) == 0 && len(g.structs) > 0 {
			v.t = pick(g, g.structs)
		}
		lane := fmt.Sprint(g.IntN(32))
		if g.IntN(2) == 0 {
			lane = p.expr(tInt, 1)
		}
		call = fmt.Sprintf("kernel.%s(t, %s, %s)", pick(g, []string{"Shuffle", "ShuffleUp", "ShuffleDown", "ShuffleXor"}), p.value(v.t), lane)
	case 2:
		v.t = t
		call = fmt.Sprintf("kernel.WarpReduce%s(t, %s)", pick(g, []string{"Add", "Min", "Max", "And", "Or", "Xor"}), p.expr(t, 2))
	case 3:
		v.t = t
		if !g.noFloats && g.IntN(2) == 0 {
			v.t = pick(g, floats)
		}
		call = fmt.Sprintf("kernel.%s(t, %s)", pick(g, []string{"WarpReduceAdd", "WarpReduceMin", "WarpReduceMax", "WarpScanAdd", "WarpScanExclusiveAdd"}), p.expr(v.t, 2))
	case 4:
		v.t = tBool
		call = fmt.Sprintf("kernel.%s(t, %s)", pick(g, []string{"Any", "All"}), p.condition(2))
	default:
		v.t = tUint32
		call = fmt.Sprintf("kernel.Ballot(t, %s)", p.condition(2))
		if g.IntN(2) == 0 {
			call = fmt.Sprintf("kernel.MatchAny(t, %s)", p.expr(t, 2))
		}
	}
	if g.IntN(4) == 0 {
		p.line("var %s %s", v.name, v.t.text)
		p.line("if %s {\n%s = %s\n}", pick(g, []string{"t.Warp() == 0", "n > 20", "t.Warp() > 0"}), v.name, call)
	} else {
		p.line("%s := %s", v.name, call)
	}
	p.add(v)
	p.line("_ = %s", v.name)
}
