package ir

import "strings"

// Warp is an operation that the threads of a warp execute together: each passes
// arguments and receives results. All existing threads of the warp reach it at once; if
// the block does not fill its last warp, these are fewer than 32. Arguments and results
// are scalars; a nil destination drops a result.
type Warp struct {
	Op   WarpOp
	Dst  []*Local
	Args []Expr
	Pos  Pos
}

func (s *Warp) parts(p parts) {
	p.pos(&s.Pos)
	values(p, &s.Args)
	results(p, &s.Dst)
}

// WarpSize is the number of threads of a full warp.
const WarpSize = 32

// FullWarps reports whether every warp of a block is full, because the kernel declares
// its block.
func (o Options) FullWarps() bool {
	return o.Block[0] > 0 && o.Block[0]*max(o.Block[1], 1)*max(o.Block[2], 1)%WarpSize == 0
}

// GroupSize is the number of threads of a group.
const GroupSize = 128

// FullGroups reports whether the kernel declares a block of whole groups.
func (o Options) FullGroups() bool {
	return o.Block[0] > 0 && o.Block[0]*max(o.Block[1], 1)*max(o.Block[2], 1)%GroupSize == 0
}

// OneWarp reports whether the declared block is at most one warp.
func (o Options) OneWarp() bool {
	return o.Block[0] > 0 && o.Block[0]*max(o.Block[1], 1)*max(o.Block[2], 1) <= WarpSize
}

// Warps returns the maximum number of warps per block.
func (o Options) Warps() int64 {
	threads := 1024
	if o.Block[0] > 0 {
		threads = o.Block[0] * max(o.Block[1], 1) * max(o.Block[2], 1)
	}
	return int64(threads+WarpSize-1) / WarpSize
}

// WarpOp is the kind of a warp operation.
type WarpOp uint8

// Warp operations. Lane numbers are taken modulo 32; if the source lane does not exist,
// a thread gets its own value.
const (
	WarpShuffle       WarpOp = iota // (v, lane int): v of that lane, and whether it exists
	WarpShuffleUp                   // (v, delta int): the same for the lane delta below
	WarpShuffleDown                 // (v, delta int): the same for the lane delta above
	WarpShuffleXor                  // (v, mask int): the same for lane ^ mask
	WarpBallot                      // (bool): bit i is the value of lane i
	WarpAny                         // (bool)
	WarpAll                         // (bool)
	WarpMatchAny                    // (v): the lanes with an equal v
	WarpMatchAll                    // (v): all lanes and true if v is equal in all, otherwise 0 and false
	WarpReduceAdd                   // (v): over all lanes, with lane distances 16, 8, 4, 2, 1
	WarpReduceMin                   //
	WarpReduceMax                   //
	WarpReduceAnd                   //
	WarpReduceOr                    //
	WarpReduceXor                   //
	WarpScanAdd                     // (v): over the lanes up to and including this one, with distances 1, 2, 4, 8, 16
	WarpScanExclusive               // (v): WarpScanAdd of the lane below, 0 in lane 0
	WarpSync                        // orders the memory accesses of the warp

	// Operations on matrices (matrix.go). Pointers are to 16 bytes of shared memory.
	WarpLoadMatrix           // (pointer): words of the four 8x8 matrices that the warp's pointers refer to
	WarpLoadMatrixTransposed //
	WarpMMAFloat16           // (a, b, c): 4 and 2 words, 4 elements of a*b + c
	WarpMMABFloat16          //
	WarpMMATF32              //
	WarpMMAE4M3              //
	WarpMMAE4M3E5M2          //
	WarpMMAE5M2E4M3          //
	WarpMMAE5M2              //
	WarpMMAInt8              //
	WarpMMAInt8Uint8         //
	WarpMMAUint8Int8         //
	WarpMMAUint8             //
	WarpMMAFloat64           //

	// Products of tiles in shared memory, which the next GroupWait completes.
	WarpGroupMMAFloat16   // (a, b pointer, sum): the sum of the thread's elements of a*b and sum
	WarpGroupMMABFloat16  //
	WarpGroupMMATF32      //
	WarpGroupMMAE4M3      //
	WarpGroupMMAE4M3E5M2  //
	WarpGroupMMAE5M2E4M3  //
	WarpGroupMMAE5M2      //
	WarpGroupMMAInt8      //
	WarpGroupMMAInt8Uint8 //
	WarpGroupMMAUint8Int8 //
	WarpGroupMMAUint8     //
	numWarpOps
)

// warpRows describes each operation. The types of arguments and results are letters: T
// is the type of the first argument, i int (int32 once narrowed), b bool, u uint32, f
// float32, s int32, p any pointer; * after the last one means any number of it.
var warpRows = [numWarpOps]struct {
	name     string
	function string // of package kernel
	args     string
	results  string
}{
	WarpShuffle:       {"shuffle", "Shuffle", "Ti", "Tb"},
	WarpShuffleUp:     {"shuffleUp", "ShuffleUp", "Ti", "Tb"},
	WarpShuffleDown:   {"shuffleDown", "ShuffleDown", "Ti", "Tb"},
	WarpShuffleXor:    {"shuffleXor", "ShuffleXor", "Ti", "Tb"},
	WarpBallot:        {"ballot", "Ballot", "b", "u"},
	WarpAny:           {"any", "Any", "b", "b"},
	WarpAll:           {"all", "All", "b", "b"},
	WarpMatchAny:      {"matchAny", "MatchAny", "T", "u"},
	WarpMatchAll:      {"matchAll", "MatchAll", "T", "ub"},
	WarpReduceAdd:     {"reduceAdd", "WarpReduceAdd", "T", "T"},
	WarpReduceMin:     {"reduceMin", "WarpReduceMin", "T", "T"},
	WarpReduceMax:     {"reduceMax", "WarpReduceMax", "T", "T"},
	WarpReduceAnd:     {"reduceAnd", "WarpReduceAnd", "T", "T"},
	WarpReduceOr:      {"reduceOr", "WarpReduceOr", "T", "T"},
	WarpReduceXor:     {"reduceXor", "WarpReduceXor", "T", "T"},
	WarpScanAdd:       {"scanAdd", "WarpScanAdd", "T", "T"},
	WarpScanExclusive: {"scanExclusiveAdd", "WarpScanExclusiveAdd", "T", "T"},
	WarpSync:          {"sync", "", "", ""},

	WarpLoadMatrix:           {"loadMatrix", "LoadMatrix", "p", "uuuu"},
	WarpLoadMatrixTransposed: {"loadMatrixTransposed", "LoadMatrixTransposed", "p", "uuuu"},
	WarpMMAFloat16:           {"mmaFloat16", "MMA", "uuuuuuffff", "ffff"},
	WarpMMABFloat16:          {"mmaBFloat16", "MMA", "uuuuuuffff", "ffff"},
	WarpMMATF32:              {"mmaTF32", "MMA", "uuuuuuffff", "ffff"},
	WarpMMAFloat64:           {"mmaFloat64", "MMA", "uuuuuudddd", "dddd"},
	WarpMMAE4M3:              {"mmaE4M3", "MMA", "uuuuuuffff", "ffff"},
	WarpMMAE4M3E5M2:          {"mmaE4M3E5M2", "MMA", "uuuuuuffff", "ffff"},
	WarpMMAE5M2E4M3:          {"mmaE5M2E4M3", "MMA", "uuuuuuffff", "ffff"},
	WarpMMAE5M2:              {"mmaE5M2", "MMA", "uuuuuuffff", "ffff"},
	WarpMMAInt8:              {"mmaInt8", "MMA", "uuuuuussss", "ssss"},
	WarpMMAInt8Uint8:         {"mmaInt8Uint8", "MMA", "uuuuuussss", "ssss"},
	WarpMMAUint8Int8:         {"mmaUint8Int8", "MMA", "uuuuuussss", "ssss"},
	WarpMMAUint8:             {"mmaUint8", "MMA", "uuuuuussss", "ssss"},

	WarpGroupMMAFloat16:   {"groupMMAFloat16", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMABFloat16:  {"groupMMABFloat16", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMATF32:      {"groupMMATF32", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMAE4M3:      {"groupMMAE4M3", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMAE4M3E5M2:  {"groupMMAE4M3E5M2", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMAE5M2E4M3:  {"groupMMAE5M2E4M3", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMAE5M2:      {"groupMMAE5M2", "GroupMMA", "ppf*", "f*"},
	WarpGroupMMAInt8:      {"groupMMAInt8", "GroupMMA", "pps*", "s*"},
	WarpGroupMMAInt8Uint8: {"groupMMAInt8Uint8", "GroupMMA", "pps*", "s*"},
	WarpGroupMMAUint8Int8: {"groupMMAUint8Int8", "GroupMMA", "pps*", "s*"},
	WarpGroupMMAUint8:     {"groupMMAUint8", "GroupMMA", "pps*", "s*"},
}

func (op WarpOp) String() string {
	if op < numWarpOps {
		return warpRows[op].name
	}
	return name(nil, int(op))
}

// GoName returns the function of package kernel, or the method of its Thread, for the
// operation.
func (op WarpOp) GoName() string {
	if op == WarpSync {
		return "SyncWarp"
	}
	return "kernel." + warpRows[op].function
}

// WarpFunction returns the operation on scalars of a function of package kernel.
func WarpFunction(name string) (op WarpOp, ok bool) {
	return find(WarpSync, func(op WarpOp) bool { return warpRows[op].function == name })
}

// Results returns the types of an operation's results. t is the type of its first
// argument.
func (op WarpOp) Results(t *Type) []*Type {
	var out []*Type
	for _, r := range warpRows[op].results {
		out = append(out, warpType(r, t))
	}
	return out
}

// IsShuffle reports whether the operation returns the value of one lane.
func (op WarpOp) IsShuffle() bool { return op <= WarpShuffleXor }

// IsReduction reports whether the operation combines the values of all lanes and
// returns the result to all of them.
func (op WarpOp) IsReduction() bool { return op >= WarpReduceAdd && op <= WarpReduceXor }

// repeated repeats the letter before a final *, for n letters in all.
func repeated(letters string, n int) string {
	if rest, ok := strings.CutSuffix(letters, "*"); ok {
		last := len(rest) - 1
		return rest[:last] + strings.Repeat(rest[last:], max(n-last, 0))
	}
	return letters
}

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
	case 'd':
		return TFloat64
	case 's':
		return TInt32
	}
	return t
}

func (s *Warp) print(p *printer) { p.line("%swarp %s(%s)", p.gives(s.Dst), s.Op, p.exprs(s.Args)) }

func (s *Warp) verify(v *verifier) {
	if s.Op >= numWarpOps {
		v.fail("unknown warp operation %d", s.Op)
	}
	row := warpRows[s.Op]
	row.args, row.results = repeated(row.args, len(s.Args)), repeated(row.results, len(s.Dst))
	if len(s.Args) != len(row.args) || len(s.Dst) != len(row.results) || s.Op.IsGroupMMA() && len(s.Args) != 2+len(s.Dst) {
		v.fail("warp %s with %d arguments and %d results", s.Op, len(s.Args), len(s.Dst))
	}
	var t *Type
	for i, e := range s.Args {
		if i == 0 {
			t = e.Type()
		}
		if row.args[i] == 'i' && e.Type().Kind == Int32 {
			continue
		}
		v.typed(e, warpType(rune(row.args[i]), t), "argument of warp "+s.Op.String())
	}
	if t != nil && (!t.IsScalar() || (t.Kind == Pointer) != (s.Op.IsLoadMatrix() || s.Op.IsGroupMMA())) {
		v.fail("warp %s of %s", s.Op, t)
	}
	for i, d := range s.Dst {
		v.destination(d, warpType(rune(row.results[i]), t), "warp "+s.Op.String())
	}
}
