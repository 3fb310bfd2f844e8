package ir

import "strings"

// Warp is an operation that the threads of a warp do together: each gives its
// arguments and gets its results. All threads of the warp that exist reach it at
// once; where the block does not fill its last warp, these are fewer than 32.
// Arguments and results are scalars; a nil destination drops a result.
type Warp struct {
	Op   WarpOp
	Dst  []*Local
	Args []Expr
	Pos  Pos
}

func (*Warp) stmt() {}

// WarpSize is the number of threads of a whole warp.
const WarpSize = 32

// FullWarps reports whether every warp of a block has all its threads, because
// the kernel declares its block.
func (o Options) FullWarps() bool {
	return o.Block[0] > 0 && o.Block[0]*max(o.Block[1], 1)*max(o.Block[2], 1)%WarpSize == 0
}

// OneWarp reports whether a block is declared that is at most a warp.
func (o Options) OneWarp() bool {
	return o.Block[0] > 0 && o.Block[0]*max(o.Block[1], 1)*max(o.Block[2], 1) <= WarpSize
}

// Warps returns the largest number of warps in a block.
func (o Options) Warps() int64 {
	threads := 1024
	if o.Block[0] > 0 {
		threads = o.Block[0] * max(o.Block[1], 1) * max(o.Block[2], 1)
	}
	return int64(threads+WarpSize-1) / WarpSize
}

// WarpOp names a warp operation.
type WarpOp uint8

// Warp operations. Lane numbers are taken modulo 32; from a lane that does not
// exist a thread gets its own value.
const (
	WarpShuffle       WarpOp = iota // (v, lane int): v of that lane, and whether it exists
	WarpShuffleUp                   // (v, delta int): the same of the lane delta below
	WarpShuffleDown                 // (v, delta int): of the lane delta above
	WarpShuffleXor                  // (v, mask int): of lane ^ mask
	WarpBallot                      // (bool): bit i is lane i's
	WarpAny                         // (bool)
	WarpAll                         // (bool)
	WarpMatchAny                    // (v): the lanes with an equal v
	WarpMatchAll                    // (v): all lanes, true if v is equal in all; else 0, false
	WarpReduceAdd                   // (v): over all lanes, with lane distances 16, 8, 4, 2, 1
	WarpReduceMin                   //
	WarpReduceMax                   //
	WarpReduceAnd                   //
	WarpReduceOr                    //
	WarpReduceXor                   //
	WarpScanAdd                     // (v): over the lanes up to this one, with distances 1, 2, 4, 8, 16
	WarpScanExclusive               // (v): WarpScanAdd of the lane below, 0 in lane 0
	WarpSync                        // orders the memory accesses of the warp

	// Matrices (matrix.go). Pointers are to 16 bytes of shared memory.
	WarpLoadMatrix           // (pointer): words of the four 8x8 matrices that the warp points to
	WarpLoadMatrixTransposed //
	WarpMMAFloat16           // (a, b, c): 4 and 2 words, 4 elements of a*b + c
	WarpMMABFloat16          //
	WarpMMATF32              //
	WarpMMAInt8              //
	WarpMMAInt8Uint8         //
	WarpMMAUint8Int8         //
	WarpMMAUint8             //
	numWarpOps
)

// warpShape is the name of an operation and the types of its arguments and
// results: T is the type of the first argument, i int (int32 once narrowed), b
// bool, u uint32, f float32, s int32, p any pointer.
type warpShape struct{ name, args, results string }

var warpShapes = [numWarpOps]warpShape{
	WarpShuffle:       {"shuffle", "Ti", "Tb"},
	WarpShuffleUp:     {"shuffleUp", "Ti", "Tb"},
	WarpShuffleDown:   {"shuffleDown", "Ti", "Tb"},
	WarpShuffleXor:    {"shuffleXor", "Ti", "Tb"},
	WarpBallot:        {"ballot", "b", "u"},
	WarpAny:           {"any", "b", "b"},
	WarpAll:           {"all", "b", "b"},
	WarpMatchAny:      {"matchAny", "T", "u"},
	WarpMatchAll:      {"matchAll", "T", "ub"},
	WarpReduceAdd:     {"reduceAdd", "T", "T"},
	WarpReduceMin:     {"reduceMin", "T", "T"},
	WarpReduceMax:     {"reduceMax", "T", "T"},
	WarpReduceAnd:     {"reduceAnd", "T", "T"},
	WarpReduceOr:      {"reduceOr", "T", "T"},
	WarpReduceXor:     {"reduceXor", "T", "T"},
	WarpScanAdd:       {"scanAdd", "T", "T"},
	WarpScanExclusive: {"scanExclusiveAdd", "T", "T"},
	WarpSync:          {"sync", "", ""},

	WarpLoadMatrix:           {"loadMatrix", "p", "uuuu"},
	WarpLoadMatrixTransposed: {"loadMatrixTransposed", "p", "uuuu"},
	WarpMMAFloat16:           {"mmaFloat16", "uuuuuuffff", "ffff"},
	WarpMMABFloat16:          {"mmaBFloat16", "uuuuuuffff", "ffff"},
	WarpMMATF32:              {"mmaTF32", "uuuuuuffff", "ffff"},
	WarpMMAInt8:              {"mmaInt8", "uuuuuussss", "ssss"},
	WarpMMAInt8Uint8:         {"mmaInt8Uint8", "uuuuuussss", "ssss"},
	WarpMMAUint8Int8:         {"mmaUint8Int8", "uuuuuussss", "ssss"},
	WarpMMAUint8:             {"mmaUint8", "uuuuuussss", "ssss"},
}

func (op WarpOp) String() string {
	if op < numWarpOps {
		return warpShapes[op].name
	}
	return name(nil, int(op))
}

// GoName is the function of package kernel, or the method of its Thread, that
// the operation is written as.
func (op WarpOp) GoName() string {
	n := op.String()
	n = strings.ToUpper(n[:1]) + n[1:]
	switch {
	case op == WarpSync:
		return "SyncWarp"
	case op.IsMMA():
		return "kernel.MMA"
	case op.IsReduction(), op == WarpScanAdd, op == WarpScanExclusive:
		n = "Warp" + n
	}
	return "kernel." + n
}

// Results returns the types of an operation's results, t being the type of its
// first argument.
func (op WarpOp) Results(t *Type) []*Type {
	var out []*Type
	for _, r := range warpShapes[op].results {
		out = append(out, warpType(r, t))
	}
	return out
}

// IsShuffle reports whether the operation hands on a value of one lane.
func (op WarpOp) IsShuffle() bool { return op <= WarpShuffleXor }

// IsReduction reports whether the operation combines the values of all lanes,
// and gives all of them the result.
func (op WarpOp) IsReduction() bool { return op >= WarpReduceAdd && op <= WarpReduceXor }

func warpType(r rune, t *Type) *Type {
	switch r {
	case 'i':
		return TInt
	case 'b':
		return TBool
	case 'u':
		return TUint32
	case 'f':
		return TFloat32
	case 's':
		return TInt32
	}
	return t
}

// Defined returns the variables that a statement other than an Assign gives a
// value; entries may be nil.
func Defined(s Stmt) []*Local {
	switch s := s.(type) {
	case *Call:
		return s.Dst
	case *Atomic:
		return []*Local{s.Dst}
	case *Warp:
		return s.Dst
	case *LoadVector:
		return s.Dst
	case *Effect:
		return s.Dst
	case *Memory:
		return []*Local{s.Dst}
	}
	return nil
}

func (c *Cloner) warp(s *Warp) *Warp {
	t := *s
	t.Dst = make([]*Local, len(s.Dst))
	for i, v := range s.Dst {
		if v != nil {
			t.Dst[i] = c.local(v)
		}
	}
	t.Args = c.exprs(s.Args)
	return &t
}

func (p *printer) warp(s *Warp) {
	dst := ""
	for i, v := range s.Dst {
		if i > 0 {
			dst += ", "
		}
		dst += p.local(v)
	}
	if dst != "" {
		dst += " = "
	}
	p.line("%swarp %s(%s)", dst, s.Op, p.exprs(s.Args))
}

func (v *verifier) warp(s *Warp) {
	if s.Op >= numWarpOps {
		v.fail("unknown warp operation %d", s.Op)
	}
	shape := warpShapes[s.Op]
	if len(s.Args) != len(shape.args) || len(s.Dst) != len(shape.results) {
		v.fail("warp %s with %d arguments and %d results", s.Op, len(s.Args), len(s.Dst))
	}
	var t *Type
	for i, e := range s.Args {
		if i == 0 {
			t = e.Type()
		}
		if shape.args[i] == 'i' && e.Type().Kind == Int32 {
			v.expr(e)
			continue
		}
		v.typed(e, warpType(rune(shape.args[i]), t), "argument of warp "+s.Op.String())
	}
	if t != nil && (!t.IsScalar() || (t.Kind == Pointer) != s.Op.IsLoadMatrix()) {
		v.fail("warp %s of %s", s.Op, t)
	}
	for i, d := range s.Dst {
		if d == nil {
			continue
		}
		v.local(d)
		v.written[d] = true
		if want := warpType(rune(shape.results[i]), t); !d.Type.Equal(want) {
			v.fail("warp %s: destination %s has type %s, want %s", s.Op, d.Name, d.Type, want)
		}
	}
}
