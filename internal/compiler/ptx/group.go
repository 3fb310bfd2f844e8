package ptx

import (
	"strconv"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/mma"
)

// Products of tiles in shared memory by groups of 128 threads. Devices of compute
// capability 9.0 have instructions for them (PTX ISA, wgmma), which no later device has.
// Elsewhere each warp of the group multiplies its 16 rows by all columns.
const (
	smGroup           = 90
	versionGroup      = 80
	versionGroupMixed = 84 // of signed and unsigned integers
)

const (
	tileAlign = 1024 // the permutation of a tile's lines repeats after eight rows
	tileRow   = 128  // bytes
	tileSteps = 4    // of 32 bytes in a row
)

// tileDescriptor is the descriptor of a tile without its address: the distance of eight
// rows, in units of 16 bytes, and the permutation of lines in 128 bytes (PTX ISA, matrix
// descriptor format).
const tileDescriptor = 1<<62 | tileAlign>>4<<32 | 1<<16

// tileVariables returns the shared variables that contain tiles. If tiles are copied, all
// variables that could contain one do.
func (g *generator) tileVariables() map[*ir.SharedVar]bool {
	tiles := map[*ir.SharedVar]bool{}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if m, ok := s.(*ir.Memory); ok && m.Op == ir.BulkCopyTile {
			for _, v := range g.kernel.Shared {
				if !v.IsDynamic() && v.Type.Size()%tileRow == 0 {
					tiles[v] = true
				}
			}
		}
		w, ok := s.(*ir.Warp)
		if !ok || !w.Op.IsGroupMMA() {
			return true
		}
		g.usesTiles = true
		for _, e := range w.Args[:2] {
			if a, ok := e.(*ir.Addr); ok {
				if p, ok := ir.Root(a.Place).(*ir.SharedPlace); ok {
					tiles[p.Var] = true
				}
			}
		}
		return true
	}}
	v.Body(g.kernel.Func.Body)
	return tiles
}

// tileFence makes the thread's writes to tiles visible to the instructions that multiply
// them after the next barrier.
func (g *generator) tileFence() {
	if g.usesTiles && g.writesShared() && g.hasOnly(smGroup) {
		g.emit("fence.proxy.async.shared::cta")
	}
}

// writesShared reports whether the kernel writes to memory that may be shared, other than by
// copies of tiles.
func (g *generator) writesShared() bool {
	found := false
	write := func(p ir.Place) {
		if _, ok := ir.Root(p).(*ir.VarPlace); !ok && g.spaceOfPlace(p) != globalSpace {
			found = true
		}
	}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			write(s.Dst)
		case *ir.StoreVector:
			write(s.Place)
		case *ir.Atomic:
			write(s.Place)
		case *ir.Call, *ir.Effect:
			found = true
		case *ir.Memory:
			found = found || s.Op == ir.BulkCopy || s.Op == ir.SliceCopy
			for i, p := range s.Places {
				if s.Op.Writes(i) && !s.Op.IsBulk() {
					write(p)
				}
			}
		}
		return !found
	}}
	v.Body(g.kernel.Func.Body)
	return found
}

// groupMMA emits a product of tiles.
func (g *generator) groupMMA(s *ir.Warp) {
	var tiles [2]operand
	for i, e := range s.Args[:2] {
		addr, ok := e.(*ir.Addr)
		if !ok || g.spaceOf(e) != sharedSpace {
			g.fail(s.Pos, "kernel.GroupMMA reads shared memory; pass the address of an element of a shared variable directly")
			return
		}
		if g.alignment(addr.Place)%tileAlign != 0 {
			g.fail(s.Pos, "kernel.GroupMMA reads tiles that begin at multiples of 64 lines; this address is not known to be one")
			return
		}
		tiles[i] = g.materialise(g.address(addr.Place))
	}
	inPlace := true
	sum := make([]operand, len(s.Dst))
	for i, e := range s.Args[2:] {
		d := s.Dst[i]
		if v, ok := ir.Variable(e); ok && v == d && g.variable(v).home == inRegisters {
			sum[i] = g.scalar(g.variable(v))
			continue
		}
		inPlace = inPlace && d == nil
		x := g.value(e)
		sum[i] = g.register(x.class)
		g.move(sum[i], x)
	}
	if g.hasOnly(smGroup) {
		g.needVersion(versionGroup)
		if a, b := s.Op.MMAFormats(); a != b {
			g.needVersion(versionGroupMixed)
		}
		g.groupInstructions(s, tiles, sum)
		if !inPlace {
			g.emit("wgmma.wait_group.sync.aligned", intOperand(b32Class, 0))
		}
	} else {
		g.groupByWarps(s, tiles, sum)
	}
	for i, d := range s.Dst {
		switch {
		case d == nil:
		case g.variable(d).home != inRegisters:
			g.storePlace(&ir.VarPlace{Var: d}, sum[i])
		case g.scalar(g.variable(d)) != sum[i]:
			g.move(g.scalar(g.variable(d)), sum[i])
		}
	}
}

// groupInstructions starts the product with the group's instructions.
func (g *generator) groupInstructions(s *ir.Warp, tiles [2]operand, sum []operand) {
	a, b := s.Op.MMAFormats()
	var descriptors [2]operand
	for i, t := range tiles {
		line, wide := g.register(b32Class), g.register(b64Class)
		descriptors[i] = g.register(b64Class)
		g.emit("shr.u32", line, t, intOperand(b32Class, 4))
		g.emit("cvt.u64.u32", wide, line)
		g.emit("or.b64", descriptors[i], wide, intOperand(b64Class, tileDescriptor))
	}
	yes := g.register(predClass)
	g.emit("setp.eq.u32", yes, zeroOperand(b32Class), zeroOperand(b32Class))
	opcode := "wgmma.mma_async.sync.aligned.m64n" + strconv.Itoa(2*len(sum)) + "k" + strconv.Itoa(a.K()) + "." + sumTypes[a >= mma.Int8] + "." + mmaTypes[a] + "." + mmaTypes[b]
	scales := []byte(", 1, 1")
	switch {
	case a >= mma.Int8:
		scales = nil
	case a.Size() == 2:
		scales = []byte(", 1, 1, 0, 0")
	}
	g.emit("wgmma.fence.sync.aligned")
	for step := range tileSteps {
		at := descriptors
		if step > 0 {
			for i, d := range descriptors {
				at[i] = g.register(b64Class)
				g.emit("add.u64", at[i], d, intOperand(b64Class, uint64(step*tileRow/tileSteps>>4)))
			}
		}
		text := append(append(append(g.text, '\t'), opcode...), " {"...)
		for i, o := range sum {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = o.append(text)
		}
		text = append(text, '}')
		for _, o := range [...]operand{at[0], at[1], yes} {
			text = o.append(append(text, ", "...))
		}
		g.text = append(append(text, scales...), ";\n"...)
	}
	g.emit("wgmma.commit_group.sync.aligned")
}

var sumTypes = map[bool]string{false: "f32", true: "s32"}

// groupByWarps computes the product with the instructions of warps.
func (g *generator) groupByWarps(s *ir.Warp, tiles [2]operand, sum []operand) {
	g.need(tensorTarget)
	g.needVersion(tensorVersion)
	fa, fb := s.Op.MMAFormats()
	typ := sumTypes[fa >= mma.Int8]
	opcode := "mma.sync.aligned." + mmaShapes[fa] + ".row.col." + typ + "." + mmaTypes[fa] + "." + mmaTypes[fb] + "." + typ
	const load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
	op := func(opcode string, a, b operand) operand {
		r := g.register(b32Class)
		g.emit(opcode, r, a, b)
		return r
	}
	number := func(n uint64) operand { return intOperand(b32Class, n) }
	lane, warp := g.coordinate(ir.LaneID), g.coordinate(ir.WarpID)
	// Rows of A: lane%16 of the warp's; line lane/16 of each step.
	row := op("and.b32", lane, number(15))
	first := op("and.b32", warp, number(3))
	rowA := op("add.u32", op("shl.b32", first, number(4)), row)
	baseA := op("add.u32", tiles[0], op("shl.b32", rowA, number(7)))
	lineA := op("shr.u32", lane, number(4))
	// Rows of B: lane%8, and 8 more from lane 16 on; line lane/8%2.
	low := op("and.b32", lane, number(7))
	rowB := op("add.u32", low, op("shl.b32", lineA, number(3)))
	baseB := op("add.u32", tiles[1], op("shl.b32", rowB, number(7)))
	lineB := op("and.b32", op("shr.u32", lane, number(3)), number(1))
	words := func(at address) []operand {
		w := make([]operand, 4)
		for i := range w {
			w[i] = g.register(b32Class)
		}
		g.matrix(load, w, &at)
		if fa == mma.TF32 {
			for i := range w {
				w[i] = op("and.b32", w[i], number(^uint64(1<<13-1))) // cut off
			}
		}
		return w
	}
	at := func(base, line operand, step int) operand {
		place := op("xor.b32", op("add.u32", line, number(uint64(2*step))), low)
		return op("add.u32", base, op("shl.b32", place, number(4)))
	}
	for step := range tileSteps {
		a := words(address{space: sharedSpace, base: at(baseA, lineA, step)})
		lines := at(baseB, lineB, step)
		for j := 0; j < len(sum); j += 8 {
			b := words(address{space: sharedSpace, base: lines, offset: int64(j) / 8 * 16 * tileRow})
			for half := range 2 {
				c := sum[j+4*half:][:4]
				if fa.IsFloat8() {
					g.mmaFloat8(fa, fb, c, a, b[2*half:][:2], c)
					continue
				}
				g.matrix(opcode, c, nil, a, b[2*half:][:2], c)
			}
		}
	}
}

// groupWait waits for products of tiles.
func (g *generator) groupWait(s *ir.Memory) {
	if g.usesTiles && g.hasOnly(smGroup) {
		g.emit("wgmma.wait_group.sync.aligned", intOperand(b32Class, uint64(min(s.Count, 7))))
	}
}
