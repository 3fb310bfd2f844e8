package lint

import (
	"cmp"
	"fmt"
	"slices"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
	"quern.dev/internal/ptxas"
)

// Architecture is the architecture for which ptxas counts registers and memory.
const Architecture = "sm_90"

// counted and estimated name the source of the numbers in a finding.
const (
	counted   = " (counted by ptxas for " + Architecture + ")"
	estimated = " (estimated, because ptxas was not found)"
)

// Registers per thread and per multiprocessor (CUDA C Programming Guide, compute
// capabilities).
const (
	maxRegisters = 255
	registerFile = 65536
)

// registers reports arrays in memory, and values that do not fit the registers, as
// found by ptxas if it is installed and estimated otherwise. ptxas unexpectedly keeps
// many arrays in registers.
func (c *checker) registers(variants []compiler.Variant, final, wide *ir.Kernel) {
	if _, err := ptxas.Find(); err != nil {
		c.guess(final)
		return
	}
	info, ok := assemble(variants[0])
	for _, v := range variants {
		if v.Threads == 1 { // not the coarse form, which runs several threads
			info, ok = assemble(v)
			if ok && v.LocalBytes > 0 && info.Stack > 0 {
				c.inMemory(final, info.Stack, counted)
			}
			break
		}
	}
	if !ok {
		return // the assembler may not know the target
	}
	if info.SpillLoads+info.SpillStores > 0 {
		c.spills(final, "", info)
		return
	}
	last := variants[len(variants)-1]
	if len(variants) == 1 || len(last.Limits) > 0 {
		return
	}
	if info, ok := assemble(last); ok && info.SpillLoads+info.SpillStores > 0 {
		c.spills(wide, "in launches whose indices do not fit 32 bits, ", info)
	}
}

func assemble(v compiler.Variant) (ptxas.Info, bool) {
	info, err := ptxas.Assemble(v.Text, Architecture)
	return info, err == nil
}

const fewerValues = "let a thread hold fewer values at once"

func (c *checker) spills(k *ir.Kernel, where string, info ptxas.Info) {
	advice := fewerValues
	switch o := k.Options; {
	case where != "":
		advice = "cover the data in several launches, or compute indices in int32"
	case o.MaxRegs > 0:
		advice = "declare more maxregs=, or " + advice
	case c.mostRegisters() < maxRegisters:
		advice = "declare a smaller block= or fewer minblocks=, or " + advice
	}
	c.report(c.source.Declared(k), "spills", advice, "%s%d registers are not enough: each thread writes %d bytes to memory and reads %d again%s", where, info.Registers, info.SpillStores, info.SpillLoads, counted)
}

// mostRegisters returns the maximum number of registers per thread.
func (c *checker) mostRegisters() int {
	o := c.kernel.Options
	if o.MaxRegs > 0 {
		return o.MaxRegs
	}
	if threads := o.Block[0] * max(o.Block[1], 1) * max(o.Block[2], 1) * max(o.MinBlocks, 1); threads > 0 {
		return min(maxRegisters, registerFile/threads&^7)
	}
	return maxRegisters
}

// guess reports what is certain without ptxas: many more live values than registers,
// and arrays too large for selection by comparisons. ptxas recomputes cheap values: it
// needs no memory for actors with 1.3 times as many live words as registers.
func (c *checker) guess(final *ir.Kernel) {
	most := c.mostRegisters()
	if n := opt.LiveWords(final); 2*n > 3*most {
		c.report(c.source.Declared(final), "spills", fewerValues, "%d words are live at once, and a thread has %d registers: the others are written to memory and read again%s", n, most, estimated)
	}
	const large = 64 // bytes
	c.inMemory(final, large, estimated)
}

// inMemory reports the arrays of a kernel that are indexed by variables, largest first,
// until they add up to the given number of bytes.
func (c *checker) inMemory(k *ir.Kernel, bytes int, source string) {
	type array struct {
		v       *ir.Local
		indexed bool
	}
	var list []*array
	for _, v := range k.Func.Locals {
		if v.Type.IsAggregate() && (source == counted || v.Type.Size() >= int64(bytes)) {
			list = append(list, &array{v: v})
		}
	}
	visitor := ir.Visitor{Place: func(p ir.Place) bool {
		i, ok := p.(*ir.IndexPlace)
		if !ok || isConst(i.Index) {
			return true
		}
		if root, ok := ir.Root(i).(*ir.VarPlace); ok {
			for _, a := range list {
				a.indexed = a.indexed || a.v == root.Var
			}
		}
		return true
	}}
	visitor.Body(k.Func.Body)
	slices.SortStableFunc(list, func(a, b *array) int { return cmp.Compare(b.v.Type.Size(), a.v.Type.Size()) })
	for _, a := range list {
		if bytes <= 0 && source == counted {
			return
		}
		if !a.indexed && source == estimated {
			continue
		}
		bytes -= int(a.v.Type.Size())
		c.variable(k, a.v, a.indexed, source)
	}
}

// variable reports a variable in memory.
func (c *checker) variable(k *ir.Kernel, v *ir.Local, indexed bool, source string) {
	pos, name := v.Pos, v.Shown()
	advice := "index it by constants (loops with constant bounds are unrolled), or keep it in shared memory"
	if pos.Line == 0 {
		pos = c.source.Declared(k)
	}
	if v.Hidden {
		name = "a value"
		if array := c.array(v.Pos); array != "" && v.Type.Kind == ir.Array {
			name, advice = "a copy of "+array, fmt.Sprintf("use a slice of it, %s[:], which is no copy", array)
		}
	}
	why := "is indexed by variables"
	if !indexed {
		why = "has its address taken"
		advice = "pass it by value, or let the pointer point to one variable only"
	}
	c.report(pos, "local memory", advice, "%s %s: its %d bytes per thread are in memory%s", name, why, v.Type.Size(), source)
}
