package ir

// Atomic changes a place atomically; Dst (may be nil) receives the old value. Args are
// the operand, or the expected and the new value of CompareAndSwap.
type Atomic struct {
	Dst   *Local
	Op    AtomicOp
	Place Place
	Args  []Expr
	Scope Scope
	Pos   Pos
}

func (s *Atomic) parts(p parts) {
	p.pos(&s.Pos)
	p.target(&s.Place)
	values(p, &s.Args)
	p.result(&s.Dst)
}

func (s *Atomic) print(p *printer) {
	scope := ""
	if s.Scope != DeviceScope {
		scope = s.Scope.String() + " "
	}
	p.line("%s = atomic %s%s(&%s, %s)", p.local(s.Dst), scope, s.Op, p.place(s.Place), p.exprs(s.Args))
}

func (s *Atomic) verify(v *verifier) {
	t := s.Place.Type()
	if !t.IsInteger() && !t.IsFloat() && !(t.IsHalf() && s.Op == AtomicAdd) {
		v.fail("atomic %s on %s", s.Op, t)
	}
	if want := s.Op.Operands(); len(s.Args) != want {
		v.fail("atomic %s with %d operands, want %d", s.Op, len(s.Args), want)
	}
	for _, e := range s.Args {
		v.typed(e, t, "operand of atomic "+s.Op.String())
	}
	v.destination(s.Dst, t, "atomic "+s.Op.String())
}

// AtomicOp is an atomic operation.
type AtomicOp uint8

// Atomic operations.
const (
	AtomicAdd AtomicOp = iota
	AtomicSub
	AtomicMin
	AtomicMax
	AtomicAnd
	AtomicOr
	AtomicXor
	AtomicExchange
	AtomicCompareAndSwap
	numAtomicOps
)

// atomicRows describes each operation.
var atomicRows = [numAtomicOps]struct {
	name     string
	function string // of package kernel
	operands int
	bitwise  bool // for integers only
}{
	AtomicAdd:            {"add", "AtomicAdd", 1, false},
	AtomicSub:            {"sub", "AtomicSub", 1, false},
	AtomicMin:            {"min", "AtomicMin", 1, false},
	AtomicMax:            {"max", "AtomicMax", 1, false},
	AtomicAnd:            {"and", "AtomicAnd", 1, true},
	AtomicOr:             {"or", "AtomicOr", 1, true},
	AtomicXor:            {"xor", "AtomicXor", 1, true},
	AtomicExchange:       {"exchange", "AtomicExchange", 1, false},
	AtomicCompareAndSwap: {"compareAndSwap", "AtomicCompareAndSwap", 2, false},
}

func (op AtomicOp) String() string { return atomicRows[op].name }

// Operands returns the number of operands, excluding the place.
func (op AtomicOp) Operands() int { return atomicRows[op].operands }

// IsBitwise reports whether the operation is for integers only.
func (op AtomicOp) IsBitwise() bool { return atomicRows[op].bitwise }

// AtomicFunction returns the operation of a function of package kernel.
func AtomicFunction(name string) (op AtomicOp, ok bool) {
	return find(numAtomicOps, func(op AtomicOp) bool { return atomicRows[op].function == name })
}
