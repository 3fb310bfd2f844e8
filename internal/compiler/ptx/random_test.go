package ptx

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

// program generates random kernels: scalar variables of all kinds, expressions over
// them, conditions, loops and an array in memory. Anything that may fail is checked.
type program struct {
	random *rand.Rand
	types  []*ir.Type
	vars   []*ir.Local
	locals []*ir.Local
	array  *ir.Local
	loops  []*ir.Label
	count  int
}

const arrayLength = 8

func newProgram(seed uint64) *program {
	p := &program{random: rand.New(rand.NewPCG(seed, 2)), types: append(append([]*ir.Type{ir.TBool}, integerTypes...), ir.TFloat32, ir.TFloat64)}
	p.array = irtest.Local("array", ir.ArrayOf(arrayLength, ir.TInt16))
	p.locals = []*ir.Local{p.array}
	for _, t := range p.types {
		for n := range 2 {
			v := irtest.Local(fmt.Sprintf("%s_%d", t, n), t)
			p.vars, p.locals = append(p.vars, v), append(p.locals, v)
		}
	}
	return p
}

func (p *program) pick(t *ir.Type) *ir.Local {
	for {
		if v := p.vars[p.random.IntN(len(p.vars))]; v.Type == t {
			return v
		}
	}
}

func (p *program) leaf(t *ir.Type) ir.Expr {
	switch {
	case p.random.IntN(3) > 0:
		return ir.Get(p.pick(t))
	case t.Kind == ir.Bool:
		return irtest.Bool(p.random.IntN(2) == 0)
	case t.IsFloat():
		return ir.FloatConst(t, float64(p.random.IntN(64)-32)/4)
	}
	return ir.IntConst(t, int64(p.random.Uint64()>>p.random.IntN(64)))
}

func (p *program) element() ir.Place {
	t := []*ir.Type{ir.TInt, ir.TInt32, ir.TUint16, ir.TUint64}[p.random.IntN(4)]
	index := irtest.Op(p.expr(t, 2), ir.And, ir.IntConst(t, arrayLength-1))
	return &ir.IndexPlace{X: irtest.Var(p.array), Index: index, Check: p.random.IntN(2) == 0}
}

func (p *program) expr(t *ir.Type, depth int) ir.Expr {
	if depth == 0 {
		return p.leaf(t)
	}
	sub := func(t *ir.Type) ir.Expr { return p.expr(t, depth-1) }
	switch n := p.random.IntN(10); {
	case n == 0:
		return &ir.Select{Cond: sub(ir.TBool), X: sub(t), Y: sub(t)}
	case t.Kind == ir.Bool && n < 4:
		return irtest.Op(sub(t), ir.LAnd+ir.BinaryOp(p.random.IntN(2)), sub(t))
	case t.Kind == ir.Bool && n == 4:
		return &ir.Unary{Op: ir.LNot, X: sub(t)}
	case t.Kind == ir.Bool:
		of := p.types[1+p.random.IntN(len(p.types)-1)]
		return irtest.Op(sub(of), ir.Eq+ir.BinaryOp(p.random.IntN(6)), sub(of))
	case t.IsFloat() && n < 3:
		return irtest.To(t, sub(integerTypes[p.random.IntN(len(integerTypes))]))
	case t.IsFloat() && n < 5:
		return &ir.Intrinsic{Op: [...]*ir.IntrinsicOp{ir.Min, ir.Max}[p.random.IntN(2)], T: t, Args: []ir.Expr{sub(t), sub(t)}}
	case t.IsFloat():
		return irtest.Op(sub(t), ir.Add+ir.BinaryOp(p.random.IntN(4)), sub(t))
	case t.Kind == ir.Int16 && n == 1:
		return irtest.Load(p.element())
	case n < 4:
		return irtest.To(t, sub(integerTypes[p.random.IntN(len(integerTypes))]))
	case n == 4:
		return irtest.Op(sub(t), ir.Shl+ir.BinaryOp(p.random.IntN(2)), sub([]*ir.Type{ir.TUint8, ir.TUint32, ir.TUint64}[p.random.IntN(3)]))
	case n == 5:
		return irtest.Op(sub(t), ir.Div+ir.BinaryOp(p.random.IntN(2)), irtest.Op(sub(t), ir.Or, ir.IntConst(t, 1)))
	}
	return irtest.Op(sub(t), [...]ir.BinaryOp{ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.AndNot}[p.random.IntN(7)], sub(t))
}

func (p *program) body(depth int) []ir.Stmt {
	var out []ir.Stmt
	for range 2 + p.random.IntN(4) {
		switch n := p.random.IntN(8); {
		case n == 0 && depth > 0:
			s := irtest.If(p.expr(ir.TBool, 2), p.body(depth-1)...)
			if p.random.IntN(2) == 0 {
				s.Else = p.body(depth - 1)
			}
			out = append(out, s)
		case n == 1 && depth > 0:
			out = append(out, p.loop(depth)...)
		case n == 2:
			out = append(out, irtest.SetPlace(p.element(), p.expr(ir.TInt16, 2)))
		case n == 3 && len(p.loops) > 0:
			var leave ir.Stmt = &ir.Break{Label: p.loops[p.random.IntN(len(p.loops))]}
			if p.random.IntN(2) == 0 {
				leave = &ir.Continue{Label: p.loops[p.random.IntN(len(p.loops))]}
			}
			out = append(out, irtest.If(p.expr(ir.TBool, 2), leave))
		default:
			v := p.vars[p.random.IntN(len(p.vars))]
			out = append(out, irtest.Set(v, p.expr(v.Type, 3)))
		}
	}
	return out
}

// loop counts with a separate variable, so that it ends.
func (p *program) loop(depth int) []ir.Stmt {
	p.count++
	i := irtest.Local(fmt.Sprintf("loop%d", p.count), ir.TInt32)
	p.locals = append(p.locals, i)
	list := irtest.For(i, ir.IntConst(ir.TInt32, 0), ir.IntConst(ir.TInt32, int64(1+p.random.IntN(4))))
	l := list[1].(*ir.Loop)
	p.loops = append(p.loops, l.Label)
	l.Body = p.body(depth - 1)
	p.loops = p.loops[:len(p.loops)-1]
	if p.random.IntN(2) == 0 {
		l.Cond = irtest.Op(l.Cond, ir.LAnd, irtest.Op(irtest.Load(p.element()), ir.Ne, ir.IntConst(ir.TInt16, 3)))
	}
	return list
}

// kernel wraps the body: variables are initialized from the thread's index, and their
// last values are stored.
func (p *program) kernel() (*ir.Kernel, []irtest.Value) {
	const threads = 4
	var body, end []ir.Stmt
	var params []*ir.Local
	var args []irtest.Value
	for n, v := range p.vars {
		out := irtest.Local("out_"+v.Name, ir.SliceOf(v.Type))
		params, args = append(params, out), append(args, irtest.SliceValue(v.Type, threads))
		start := irtest.Add(irtest.Thread(ir.ThreadIdxX), irtest.Int(int64(n)-9))
		if v.Type.Kind == ir.Bool {
			body = append(body, irtest.Set(v, irtest.Lt(start, irtest.Int(2))))
		} else {
			body = append(body, irtest.Set(v, irtest.To(v.Type, start)))
		}
		end = append(end, irtest.SetPlace(irtest.Elem(out, irtest.Thread(ir.ThreadIdxX)), ir.Get(v)))
	}
	for n := range arrayLength {
		body = append(body, irtest.SetPlace(irtest.Index(irtest.Var(p.array), irtest.Int(int64(n))), ir.IntConst(ir.TInt16, int64(n*n))))
	}
	body = append(body, p.body(3)...)
	return irtest.Kernel("random", params, p.locals, append(body, end...)...), args
}

func TestRandomKernelsComputeWhatTheReferenceComputes(t *testing.T) {
	programs := uint64(80)
	if testing.Short() {
		programs = 20
	}
	for seed := range programs {
		k, args := newProgram(seed).kernel()
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { same(t, k, 4, args...) })
	}
}
