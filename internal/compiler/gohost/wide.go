package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// maxWidth is the maximum number of threads in a row of several blocks. The rows of the
// variables that live across the loops of a row stay in a core's first cache.
const maxWidth = 1024

// isWide reports whether a row of threads can continue through several blocks that
// follow one another along X: the threads of a block share nothing, and the X
// coordinates of block and thread occur only in BlockIdx.X*BlockDim.X + ThreadIdx.X,
// which is the same for thread n of a block and for thread 0 of a block that starts
// there.
func isWide(k *ir.Kernel) bool {
	wide, found := true, false
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Barrier, *ir.Warp, *ir.Memory, *ir.Effect:
				wide = false
			case *ir.Call:
				wide = wide && !s.Func.UsesThread
			}
			return wide
		},
		Expr: func(x ir.Expr) bool {
			if isGlobalX(k, x) {
				found = true
				return false
			}
			if t, ok := x.(*ir.ThreadValue); ok {
				switch t.Op {
				case ir.ThreadIdxX, ir.BlockIdxX, ir.LaneID, ir.WarpID:
					wide = false
				}
			}
			if _, ok := ir.Dynamic(x); ok {
				wide = false
			}
			return wide
		},
		Place: func(p ir.Place) bool {
			if _, ok := p.(*ir.SharedPlace); ok {
				wide = false
			}
			return wide
		},
	}
	v.Body(k.Func.Body)
	return wide && found && k.Options.Cluster == [3]int{}
}

// isGlobalX reports whether x is BlockIdx.X*BlockDim.X + ThreadIdx.X.
func isGlobalX(k *ir.Kernel, x ir.Expr) bool {
	sum, ok := x.(*ir.Binary)
	if !ok || sum.Op != ir.Add || sum.X.Type().Kind != ir.Int {
		return false
	}
	for _, pair := range [...][2]ir.Expr{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		product, ok := pair[0].(*ir.Binary)
		if !ok || product.Op != ir.Mul || !isThread(pair[1], ir.ThreadIdxX) {
			continue
		}
		if isThread(product.X, ir.BlockIdxX) && isDimX(k, product.Y) || isThread(product.Y, ir.BlockIdxX) && isDimX(k, product.X) {
			return true
		}
	}
	return false
}

func isThread(x ir.Expr, op ir.ThreadOp) bool {
	t, ok := x.(*ir.ThreadValue)
	return ok && t.Op == op
}

func isDimX(k *ir.Kernel, x ir.Expr) bool {
	c, ok := constant(x)
	return isThread(x, ir.BlockDimX) || ok && c.Int64() > 0 && c.Int64() == int64(k.Options.Block[0])
}

// rowThreads returns the number of threads along X that run together: those of a block,
// or of several blocks.
func (e *emitter) rowThreads() string {
	if !e.wide {
		return e.coordinate(ir.BlockDimX)
	}
	return e.outer(e.names.name(rowThreads{}, "width"), "int")
}

type rowThreads struct{}

// nextBlocks prints the head of the loop over the blocks, or over runs of blocks that
// form wide rows.
func (e *emitter) nextBlocks(t *text) {
	if !e.wide {
		t.add("for r.Next() {")
		return
	}
	width := e.names.name(rowThreads{}, "width")
	t.add("for %[1]s := r.NextRow(%[2]d); %[1]s > 0; %[1]s = r.NextRow(%[2]d) {", width, maxWidth)
}

// threadLimit bounds the values that take part in the computation of the first and the
// last thread that pass a condition, so that no sum or difference of three of them wraps.
const threadLimit = "1<<61"

// isFar reports whether an expression is a constant beyond threadLimit. The Go compiler rejects
// differences of such constants.
func isFar(x ir.Expr) bool {
	c, ok := constant(x)
	return ok && (c.Int64() < -1<<61 || c.Int64() > 1<<61)
}

// near returns the condition that an expression is within threadLimit, or "" if it
// always is.
func (e *emitter) near(x ir.Expr) string {
	if c, ok := constant(x); ok && c.Int64() > -1<<31 && c.Int64() < 1<<31 {
		return ""
	}
	switch x := x.(type) {
	case *ir.Len:
		return ""
	case *ir.ThreadValue:
		if x.Op <= ir.ThreadIdxZ {
			return ""
		}
	}
	s := e.value(x, ir.TInt, precAdd)
	return fmt.Sprintf("%s >= -%s && %s <= %s", s, threadLimit, s, threadLimit)
}
