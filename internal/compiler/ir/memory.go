package ir

// Memory is an operation on memory whose order or time matters: passes do not move
// memory accesses across it. Its result goes to Dst.
type Memory struct {
	Op     MemoryOp
	Dst    *Local  // nil: no result, or dropped
	Places []Place // that it reads or writes
	Args   []Expr
	Scope  Scope
	Count  int64 // for AsyncWait and GroupWait: the number of groups or products that may be pending
	Apart  bool  // for SliceCopy: the slices are known not to overlap
	Pos    Pos
}

// MemoryOp is the kind of an operation on memory.
type MemoryOp uint8

// Operations on memory. Ordered accesses have one place, of a scalar type.
const (
	LoadRelaxed  MemoryOp = iota // Dst = the place, read again each time
	LoadAcquire                  // the same, before all later accesses
	StoreRelaxed                 // the place = Args[0]
	StoreRelease                 // the same, after all earlier accesses
	AsyncCopy                    // Places[0], in shared memory, = Places[1], in global memory; done before a later AsyncWait ends
	AsyncCommit                  // the copies started since the last one form a group
	AsyncWait                    // until at most Count groups of the thread are pending
	GroupWait                    // until at most Count products of tiles of the thread are pending
	BulkCopy                     // copies slice Args[1] to slice Args[0]; Places[0] is the barrier. The whole block does it together
	MapTiles                     // describes the matrix Args[0], with Args[1:4] rows, columns and stride, in Places[0], for tiles of Args[4] rows. The whole block does it together
	BulkCopyTile                 // copies a part of the matrix Args[1], which Places[1] and Args[2:5] describe, from row Args[5] and column Args[6] on, to the tile Args[0]; Places[0] is the barrier
	BulkWait                     // waits until the copies with the barrier Places[0] have arrived and all threads of the block are here
	SliceCopy                    // copies Args[2] elements, the smaller length, from slice Args[1] to Args[0], like Go
	Clock                        // Dst = a cycle counter
	GlobalTimer                  // Dst = nanoseconds
	numMemoryOps
)

// memoryRows describes each operation.
var memoryRows = [numMemoryOps]struct {
	name     string
	function string // of package kernel
	places   int
	args     int
}{
	LoadRelaxed:  {"load relaxed", "LoadRelaxed", 1, 0},
	LoadAcquire:  {"load acquire", "LoadAcquire", 1, 0},
	StoreRelaxed: {"store relaxed", "StoreRelaxed", 1, 1},
	StoreRelease: {"store release", "StoreRelease", 1, 1},
	AsyncCopy:    {"async copy", "AsyncCopy", 2, 0},
	AsyncCommit:  {"async commit", "AsyncCommit", 0, 0},
	AsyncWait:    {"async wait", "AsyncWait", 0, 0},
	GroupWait:    {"group wait", "GroupWait", 0, 0},
	BulkCopy:     {"bulk copy", "BulkCopy", 1, 2},
	MapTiles:     {"map tiles", "MapTiles", 1, 5},
	BulkCopyTile: {"bulk copy tile", "BulkCopyTile", 2, 7},
	BulkWait:     {"bulk wait", "BulkWait", 1, 0},
	SliceCopy:    {"slice copy", "", 0, 3},
	Clock:        {"clock", "Clock", 0, 0},
	GlobalTimer:  {"global timer", "GlobalTimer", 0, 0},
}

func (op MemoryOp) String() string { return memoryRows[op].name }

// GoName returns the function for the operation.
func (op MemoryOp) GoName() string {
	if op == SliceCopy {
		return "copy"
	}
	return "kernel." + memoryRows[op].function
}

// MemoryFunction returns the operation of a function of package kernel.
func MemoryFunction(name string) (op MemoryOp, ok bool) {
	return find(numMemoryOps, func(op MemoryOp) bool { return name != "" && memoryRows[op].function == name })
}

// IsClock reports whether the operation reads a clock.
func (op MemoryOp) IsClock() bool { return op == Clock || op == GlobalTimer }

// Writes reports whether the operation writes place i and does not just read it. The
// barrier of a bulk copy counts as written.
func (op MemoryOp) Writes(i int) bool {
	return !op.IsLoad() && !((op == AsyncCopy || op == BulkCopyTile) && i == 1)
}

// IsBulk reports whether the threads of a block do the operation together.
func (op MemoryOp) IsBulk() bool { return op >= BulkCopy && op <= BulkWait }

// IsLoad reports whether the operation reads one place into Dst.
func (op MemoryOp) IsLoad() bool { return op == LoadRelaxed || op == LoadAcquire }

// IsStore reports whether the operation writes Args[0] to one place.
func (op MemoryOp) IsStore() bool { return op == StoreRelaxed || op == StoreRelease }

func (s *Memory) parts(p parts) {
	p.pos(&s.Pos)
	targets(p, &s.Places)
	values(p, &s.Args)
	p.result(&s.Dst)
}

// Scope is the set of threads that an operation on memory is ordered with.
type Scope uint8

// Scopes.
const (
	DeviceScope Scope = iota
	BlockScope
	SystemScope
)

func (s Scope) String() string { return [...]string{"device", "block", "system"}[s] }

func (s *Memory) print(p *printer) {
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
	if s.Op == AsyncWait || s.Op == GroupWait {
		p.line("%s %d", text, s.Count)
		return
	}
	if s.Dst != nil {
		text = p.local(s.Dst) + " = " + text
	}
	p.line("%s", text)
}

func (s *Memory) verify(v *verifier) {
	if s.Op >= numMemoryOps {
		v.fail("unknown operation %d on memory", s.Op)
	}
	if row := memoryRows[s.Op]; len(s.Places) != row.places || len(s.Args) != row.args {
		v.fail("%s with %d places and %d operands, want %d and %d", s.Op, len(s.Places), len(s.Args), row.places, row.args)
	}
	var result *Type
	switch {
	case s.Op.IsLoad():
		result = s.Places[0].Type()
	case s.Op.IsClock():
		result = TInt64
	case s.Op.IsStore():
		v.typed(s.Args[0], s.Places[0].Type(), "operand of "+s.Op.String())
	case s.Op == AsyncCopy && !s.Places[0].Type().Equal(s.Places[1].Type()):
		v.fail("%s from %s to %s", s.Op, s.Places[1].Type(), s.Places[0].Type())
	case s.Op == MapTiles && s.Args[0].Type().Kind != Slice, s.Op == BulkCopyTile && (s.Args[0].Type().Kind != Slice || s.Args[1].Type().Kind != Slice):
		v.fail("%s of %s", s.Op, s.Args[0].Type())
	case s.Op == BulkCopy, s.Op == SliceCopy:
		for _, e := range s.Args[:2] {
			if t := e.Type(); t.Kind != Slice || !t.Equal(s.Args[0].Type()) {
				v.fail("%s of %s", s.Op, t)
			}
		}
	}
	if s.Op == SliceCopy {
		v.typed(s.Args[2], TInt, "operand of "+s.Op.String())
	}
	v.destination(s.Dst, result, s.Op.String())
}
