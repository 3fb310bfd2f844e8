package ir

// Memory is an operation on memory whose order, or time, matters: passes move
// no access to memory across it. What it needs of a result goes to Dst.
type Memory struct {
	Op     MemoryOp
	Dst    *Local  // nil: there is none, or it is dropped
	Places []Place // that it reads or writes
	Args   []Expr
	Scope  Scope
	Count  int64 // of AsyncWait: the groups that need not have arrived
	Apart  bool  // of SliceCopy: the slices are known to share no memory
	Pos    Pos
}

// MemoryOp names an operation on memory.
type MemoryOp uint8

// Operations on memory. Ordered accesses have one place, of a scalar type.
const (
	LoadRelaxed  MemoryOp = iota // Dst = the place, read anew each time
	LoadAcquire                  // and ahead of all accesses that follow
	StoreRelaxed                 // the place = Args[0]
	StoreRelease                 // and after all accesses before
	AsyncCopy                    // Places[0], in shared memory, = Places[1], in global memory, before a later AsyncWait ends
	AsyncCommit                  // what was begun since the last one is a group
	AsyncWait                    // until at most Count groups of the thread are pending
	BulkCopy                     // Args[1] is copied to Args[0], both slices; Places[0] is the barrier. The block does it together
	BulkWait                     // until the copies with the barrier Places[0] have arrived and all threads of the block are here
	SliceCopy                    // Args[2] elements, the length of the shorter one, are copied from slice Args[1] to Args[0], as Go does
	Clock                        // Dst = a counter of the processor's cycles
	GlobalTimer                  // Dst = nanoseconds
	numMemoryOps
)

var memoryNames = [numMemoryOps]string{"load relaxed", "load acquire", "store relaxed", "store release",
	"async copy", "async commit", "async wait", "bulk copy", "bulk wait", "slice copy", "clock", "global timer"}

var memoryGoNames = [numMemoryOps]string{"LoadRelaxed", "LoadAcquire", "StoreRelaxed", "StoreRelease",
	"AsyncCopy", "AsyncCommit", "AsyncWait", "BulkCopy", "BulkWait", "copy", "Clock", "GlobalTimer"}

func (op MemoryOp) String() string { return memoryNames[op] }

// GoName is the function of package kernel that the operation is written as.
func (op MemoryOp) GoName() string {
	if op == SliceCopy {
		return memoryGoNames[op]
	}
	return "kernel." + memoryGoNames[op]
}

// IsBulk reports whether the threads of a block do the operation together.
func (op MemoryOp) IsBulk() bool { return op == BulkCopy || op == BulkWait }

// IsLoad reports whether the operation reads one place into Dst.
func (op MemoryOp) IsLoad() bool { return op == LoadRelaxed || op == LoadAcquire }

// IsStore reports whether the operation writes Args[0] to one place.
func (op MemoryOp) IsStore() bool { return op == StoreRelaxed || op == StoreRelease }

func (*Memory) stmt() {}

// Scope is the set of threads that an operation on memory is ordered for.
type Scope uint8

// Scopes.
const (
	DeviceScope Scope = iota
	BlockScope
	SystemScope
)

func (s Scope) String() string { return [...]string{"device", "block", "system"}[s] }

func (r *Rewriter) memory(s *Memory) {
	for i := range s.Places {
		s.Places[i] = r.Target(s.Places[i])
	}
	r.values(s.Args)
}

func (v *Visitor) memory(s *Memory) {
	for _, p := range s.Places {
		v.Target(p)
	}
	v.values(s.Args)
}

func (c *Cloner) memory(s *Memory) Stmt {
	t := *s
	if s.Dst != nil {
		t.Dst = c.local(s.Dst)
	}
	t.Places = nil
	for _, p := range s.Places {
		t.Places = append(t.Places, c.Place(p))
	}
	t.Args = c.exprs(s.Args)
	return &t
}

func (p *printer) memory(s *Memory) {
	text := s.Op.String()
	if s.Scope != DeviceScope {
		text += " " + s.Scope.String()
	}
	for i, place := range s.Places {
		if i > 0 {
			text += ","
		}
		text += " &" + p.place(place)
	}
	if len(s.Args) > 0 {
		text += ", " + p.exprs(s.Args)
	}
	if s.Op == AsyncWait {
		p.line("%s %d", text, s.Count)
		return
	}
	if s.Dst != nil {
		text = p.local(s.Dst) + " = " + text
	}
	p.line("%s", text)
}

// memory checks an operation on memory.
func (v *verifier) memory(s *Memory) {
	if s.Op >= numMemoryOps {
		v.fail("unknown operation %d on memory", s.Op)
	}
	for _, p := range s.Places {
		v.place(p)
		v.writes(p)
	}
	places, args := 0, 0
	var result *Type
	switch {
	case s.Op.IsLoad():
		places = 1
	case s.Op.IsStore():
		places, args = 1, 1
	case s.Op == AsyncCopy:
		places = 2
	case s.Op == BulkCopy:
		places, args = 1, 2
	case s.Op == BulkWait:
		places = 1
	case s.Op == SliceCopy:
		args = 3
	case s.Op == Clock, s.Op == GlobalTimer:
		result = TInt64
	}
	if len(s.Places) != places || len(s.Args) != args {
		v.fail("%s with %d places and %d operands, want %d and %d", s.Op, len(s.Places), len(s.Args), places, args)
	}
	if s.Op.IsLoad() {
		result = s.Places[0].Type()
	}
	if s.Op == AsyncCopy && !s.Places[0].Type().Equal(s.Places[1].Type()) {
		v.fail("%s from %s to %s", s.Op, s.Places[1].Type(), s.Places[0].Type())
	}
	for i, e := range s.Args {
		if s.Op == SliceCopy && i == 2 {
			v.typed(e, TInt, "operand of "+s.Op.String())
			continue
		}
		if s.Op == BulkCopy || s.Op == SliceCopy {
			v.expr(e)
			if t := e.Type(); t.Kind != Slice || !t.Equal(s.Args[0].Type()) {
				v.fail("%s of %s", s.Op, t)
			}
			continue
		}
		v.typed(e, s.Places[0].Type(), "operand of "+s.Op.String())
	}
	if s.Dst == nil {
		return
	}
	v.local(s.Dst)
	v.written[s.Dst] = true
	if result == nil || !s.Dst.Type.Equal(result) {
		v.fail("%s: destination has type %s, want %v", s.Op, s.Dst.Type, result)
	}
}
