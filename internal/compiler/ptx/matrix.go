package ptx

import (
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/mma"
)

// Tensor cores need sm_80 and PTX 7.0 (PTX ISA, mma); ldmatrix needs one generation
// less of both.
const (
	tensorTarget  = 80
	tensorVersion = 70

	// The multiplication of float64 with 16 rows; before, there are only 8.
	doubleTarget  = 90
	doubleVersion = 78
)

// loadMatrix emits an ldmatrix.
func (g *generator) loadMatrix(s *ir.Warp) {
	g.need(tensorTarget)
	g.needVersion(tensorVersion)
	addr, ok := s.Args[0].(*ir.Addr)
	if !ok || g.spaceOf(s.Args[0]) != sharedSpace {
		g.fail(s.Pos, "kernel.LoadMatrixA and similar functions read shared memory; copy the matrix there first, or read it by kernel.ReadMatrixA or kernel.ReadMatrixB")
		return
	}
	if g.alignment(addr.Place)%matrixLine != 0 {
		g.fail(s.Pos, "kernel.LoadMatrixA and similar functions read lines that begin at multiples of 16 bytes; declare the tile as an array of such lines")
		return
	}
	a := g.address(addr.Place)
	opcode := "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
	if s.Op == ir.WarpLoadMatrixTransposed {
		opcode = "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
	}
	g.results(s.Dst, b32Class, func(dst []operand) { g.matrix(opcode, dst, &a) })
}

// matrixLine is the size and alignment of what ldmatrix reads per thread.
const matrixLine = 16

var mmaTypes = map[mma.Format]string{
	mma.Float16: "f16", mma.BFloat16: "bf16", mma.TF32: "tf32", mma.E4M3: "e4m3", mma.E5M2: "e5m2", mma.Int8: "s8", mma.Uint8: "u8",
}

var mmaShapes = map[mma.Format]string{
	mma.Float16: "m16n8k16", mma.BFloat16: "m16n8k16", mma.TF32: "m16n8k8", mma.E4M3: "m16n8k32", mma.E5M2: "m16n8k32", mma.Int8: "m16n8k32", mma.Uint8: "m16n8k32",
}

// mma emits a multiplication.
func (g *generator) mma(s *ir.Warp) {
	g.need(tensorTarget)
	g.needVersion(tensorVersion)
	a, b := s.Op.MMAFormats()
	if a == mma.Float64 {
		g.mmaDouble(s)
		return
	}
	sum, class := "f32", f32Class
	if s.Op.MMASum().Kind == ir.Int32 {
		sum, class = "s32", b32Class
	}
	var args []operand
	for i, e := range s.Args {
		x := g.inRegister(g.value(e))
		if a == mma.TF32 && i < 6 {
			r := g.register(b32Class)
			f := g.register(f32Class)
			g.emit("mov.b32", f, x)
			g.emit("cvt.rna.tf32.f32", r, f)
			x = r
		}
		args = append(args, x)
	}
	if a.IsFloat8() {
		g.results(s.Dst, class, func(dst []operand) { g.mmaFloat8(a, b, dst, args[:4], args[4:6], args[6:]) })
		return
	}
	opcode := "mma.sync.aligned." + mmaShapes[a] + ".row.col." + sum + "." + mmaTypes[a] + "." + mmaTypes[b] + "." + sum
	g.results(s.Dst, class, func(dst []operand) { g.matrix(opcode, dst, nil, args[:4], args[4:6], args[6:]) })
}

// mmaDouble emits a multiplication of float64.
func (g *generator) mmaDouble(s *ir.Warp) {
	var x []operand
	for _, e := range s.Args {
		x = append(x, g.inRegister(g.value(e)))
	}
	double := func(low, high operand) []operand {
		d := g.register(f64Class)
		g.join(d, low, high)
		return []operand{d}
	}
	top, bottom, b, c := double(x[0], x[2]), double(x[1], x[3]), double(x[4], x[5]), x[6:]
	g.results(s.Dst, f64Class, func(dst []operand) {
		if g.has(doubleTarget) {
			g.needVersion(doubleVersion)
			g.matrix("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", dst, nil, append(top, bottom...), b, c)
			return
		}
		const half = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
		g.matrix(half, dst[:2], nil, top, b, c[:2])
		g.matrix(half, dst[2:], nil, bottom, b, c[2:])
	})
}

// matrix emits an instruction whose destination and sources are vectors, with or
// without an address.
func (w *writer) matrix(opcode string, dst []operand, a *address, src ...[]operand) {
	vector := func(b []byte, list []operand) []byte {
		b = append(b, '{')
		for i, o := range list {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = o.append(b)
		}
		return append(b, '}')
	}
	w.text = append(append(append(w.text, '\t'), opcode...), ' ')
	w.text = vector(w.text, dst)
	if a != nil {
		w.text = a.append(append(w.text, ", "...))
	}
	for _, list := range src {
		w.text = vector(append(w.text, ", "...), list)
	}
	w.text = append(w.text, ";\n"...)
}

// results is like result for an operation with several results of one class.
func (g *generator) results(vars []*ir.Local, c class, compute func(dst []operand)) {
	dst := make([]operand, len(vars))
	for i, v := range vars {
		if v != nil && g.variable(v).home == inRegisters {
			dst[i] = g.scalar(g.variable(v))
		} else {
			dst[i] = g.register(c)
		}
	}
	compute(dst)
	for i, v := range vars {
		if v != nil && g.variable(v).home != inRegisters {
			g.storePlace(&ir.VarPlace{Var: v}, dst[i])
		}
	}
}
