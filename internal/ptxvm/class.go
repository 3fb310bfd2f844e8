package ptxvm

import "strings"

// Class is a kind of instruction, by the part of a multiprocessor that executes it.
type Class uint8

// Classes of instructions.
const (
	Moves       Class = iota // moves, parameters, addresses: mostly free
	Integers                 // integer arithmetic, logic, comparisons
	Floats                   // float32, and half precision
	Doubles                  // float64
	Roots                    // divisions and roots of floats
	Functions                // exponentials, logarithms and other functions of floats
	Conversions              // between types
	Branches
	Globals  // loads and stores of global memory
	Shareds  // of shared memory
	Locals   // of local memory: spills and indexed arrays
	Atomics  // of any memory
	Barriers // of blocks
	Warps    // shuffles, votes
	Matrices // products of matrices
	Classes  // number of classes
)

// Totals is what launches have done, by class of instruction. If blocks were sampled, the numbers
// are estimates for all of them.
type Totals struct {
	Launches, Blocks, Threads, Warps float64

	Instructions [Classes]float64 // by threads
	Issued       [Classes]float64 // by warps

	Flops32, Flops64 float64 // see Count.Operations; without products of matrices

	// Bytes are those of global memory that threads ask for, and Sectors the 32-byte sectors that
	// their warps access.
	Bytes, Sectors float64
	// ReadBytes and WrittenBytes are the sizes of the parts of global memory that are read and
	// written in a launch, each byte once; 0 unless Counter.Touched is set.
	ReadBytes, WrittenBytes float64
	// Scattered is the number of accesses to global memory that are near neither what the lane before
	// accesses nor what the thread last accessed at that instruction. ScatteredBytes is the sum of
	// the sizes of what the launch accesses of their arrays, once for each of these accesses. 0 unless
	// Counter.Touched is set.
	Scattered, ScatteredBytes float64
}

// Totals returns the sum over the launches so far.
func (c *Counter) Totals() Totals {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Totals{ReadBytes: c.read, WrittenBytes: c.written, Scattered: c.scattered, ScatteredBytes: c.scatteredBytes}
	for e, sum := range c.entries {
		t.Launches += float64(sum.launches)
		t.Blocks += float64(sum.blocks)
		t.Threads += float64(sum.threads)
		t.Warps += float64(sum.warps)
		for i := range sum.code {
			n, class := &sum.code[i], e.code[i].class
			t.Instructions[class] += float64(n.Lanes)
			t.Issued[class] += float64(n.Instructions)
			t.Bytes += float64(n.Bytes)
			t.Sectors += float64(n.Sectors)
			switch class {
			case Floats, Roots, Functions:
				t.Flops32 += float64(n.Operations)
			case Doubles:
				t.Flops64 += float64(n.Operations)
			}
		}
	}
	return t
}

// specialOpcodes are the classes of opcodes that a unit of its own executes if their type is a
// float.
var specialOpcodes = map[string]Class{
	"div": Roots, "sqrt": Roots, "rsqrt": Roots, "rcp": Roots,
	"sin": Functions, "cos": Functions, "lg2": Functions, "ex2": Functions, "tanh": Functions,
}

// classes are the classes of opcodes whose type does not matter.
var classes = map[string]Class{
	"mov": Moves, "cvta": Moves, "isspacep": Moves, "cvt": Conversions, "mapa": Moves,
	"bra": Branches, "brx": Branches, "ret": Branches, "exit": Branches, "trap": Branches,
	"atom": Atomics, "red": Atomics,
	"bar": Barriers, "barrier": Barriers, "mbarrier": Barriers, "membar": Barriers, "fence": Barriers,
	"vote": Warps, "shfl": Warps, "match": Warps, "redux": Warps, "activemask": Warps,
	"ldmatrix": Matrices, "mma": Matrices, "wgmma": Matrices, "tex": Globals,
	"selp": Integers, "setp": Integers,
}

// classify returns the class of an instruction.
func classify(opcode, text string, in *instr) Class {
	if c, ok := classes[opcode]; ok {
		if c == Atomics && in.access.space == sharedSpace {
			return Shareds // of the threads of a block, which run on one multiprocessor or core
		}
		return c
	}
	switch opcode {
	case "ld", "ldu", "st", "cp":
		switch in.access.space {
		case sharedSpace:
			return Shareds
		case localSpace:
			return Locals
		case constSpace, paramSpace:
			return Moves
		}
		return Globals
	}
	double := strings.Contains(text, ".f64")
	if !double && !strings.Contains(text, ".f32") && !strings.Contains(text, "f16") {
		return Integers
	}
	special, isSpecial := specialOpcodes[opcode]
	switch {
	case isSpecial:
		return special
	case double:
		return Doubles
	}
	return Floats
}
