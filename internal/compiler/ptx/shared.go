package ptx

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// sharedMemory is the shared memory of a block. Its variables are static variables of
// the entry if a kernel may declare their total size. Otherwise they are at the start
// of dynamic shared memory, before the part that the launch requests.
type sharedMemory struct {
	variables map[*ir.SharedVar]*memory
	dynamic   *memory // the dynamic memory, nil if unused
	placed    int64   // bytes at its start used by variables, a multiple of dynamicAlign
	length    map[*ir.SharedVar]operand
}

// dynamicAlign is the alignment of dynamic shared memory, as required by the widest
// accesses and copies.
const dynamicAlign = 16

func (g *generator) declareShared() {
	s := &g.shared
	s.variables, s.length = map[*ir.SharedVar]*memory{}, map[*ir.SharedVar]operand{}
	tiles := g.tileVariables()
	end := int64(0)
	for _, v := range g.kernel.Shared {
		if v.IsDynamic() {
			g.dynamicMemory()
			continue
		}
		m := &memory{name: g.unique(v.Name), typ: v.Type, space: sharedSpace}
		if tiles[v] {
			m.aligned = tileAlign
		}
		a := max(m.align(), 1)
		m.offset = (end + a - 1) / a * a
		end = m.offset + m.size()
		s.variables[v] = m
	}
	for _, v := range g.kernel.Shared {
		switch m := s.variables[v]; {
		case m == nil:
		case end > ir.MaxStaticShared:
			m.block = g.dynamicMemory()
			m.block.aligned = max(m.block.aligned, m.aligned)
			s.placed = (end + dynamicAlign - 1) / dynamicAlign * dynamicAlign
		default:
			m.offset = 0
			g.memories = append(g.memories, m)
		}
	}
}

// dynamicMemory returns the dynamic shared memory.
func (g *generator) dynamicMemory() *memory {
	if g.shared.dynamic == nil {
		g.shared.dynamic = &memory{name: g.unique("dynamic_shared"), space: sharedSpace, aligned: dynamicAlign}
	}
	return g.shared.dynamic
}

// sharedBytes returns the size of all variables in shared memory.
func (g *generator) sharedBytes() int {
	if g.shared.placed > 0 {
		return int(g.shared.placed)
	}
	return g.bytes(sharedSpace)
}

// appendDynamic adds the declaration of the dynamic memory.
func (s *sharedMemory) appendDynamic(b []byte) []byte {
	if s.dynamic == nil {
		return b
	}
	return fmt.Appendf(b, ".extern .shared .align %d .b8 %s[];\n", s.dynamic.align(), s.dynamic.name)
}

// sharedAddress returns the address of a shared variable.
func (g *generator) sharedAddress(v *ir.SharedVar) address {
	m := g.shared.variables[v]
	if m == nil {
		g.fail(v.Pos, "shared variable %s is not the kernel's, or has no place in memory", v.Name)
		return address{}
	}
	if m.block != nil {
		return address{space: sharedSpace, symbol: m.block.name, memory: m.block, offset: m.offset}
	}
	return address{space: sharedSpace, symbol: m.name, memory: m}
}

// dynamicSlice returns the dynamic shared memory requested by the launch as a slice.
func (g *generator) dynamicSlice(v *ir.SharedVar) slice {
	most := ir.MaxDynamic(v.Type.Elem)
	start := address{space: sharedSpace, symbol: g.dynamicMemory().name, memory: g.dynamicMemory()}
	s := slice{space: sharedSpace, maxLength: most, pointer: g.base(start)}
	if g.shared.placed > 0 {
		s.pointer = g.materialise(start.plus(g.shared.placed))
	}
	n, ok := g.shared.length[v]
	if !ok {
		n = g.register(b64Class)
		g.atEntry(func() { g.dynamicLength(n, v.Type.Elem.Size()) })
		g.shared.length[v] = n
	}
	s.length, s.capacity = n, n
	return s
}

// dynamicLength computes the number of elements that fit in the dynamic shared memory
// of the launch.
func (g *generator) dynamicLength(dst operand, size int64) {
	bytes, n := g.register(b32Class), g.register(b32Class)
	g.emitSymbol("mov.u32", bytes, "%dynamic_smem_size")
	if g.shared.placed > 0 {
		rest := g.register(b32Class)
		g.emit("sub.u32", rest, bytes, intOperand(b32Class, uint64(g.shared.placed)))
		bytes = rest
	}
	g.emit("div.u32", n, bytes, intOperand(b32Class, uint64(size)))
	g.emit("cvt.u64.u32", dst, n)
}
