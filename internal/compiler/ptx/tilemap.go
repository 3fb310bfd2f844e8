package ptx

import (
	"math/bits"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// Copies of tiles by the copy engine. Its description of a matrix, a tensor map of 1024
// opaque bits, is in global memory. The first thread of the block writes it field by field
// (PTX ISA, tensormap.replace), which starts from zero, and makes it visible to the engine.
// The instructions exist on devices with instructions for groups.
const versionTileMap = 83

// tileMapSize is the size of a tensor map in bytes.
const tileMapSize = 128

// mapTiles describes a matrix of two dimensions, the first of which are the columns.
func (g *generator) mapTiles(s *ir.Memory) {
	if !g.hasOnly(smGroup) {
		return
	}
	g.needVersion(versionTileMap)
	elem := s.Args[0].Type().Elem
	m := g.address(s.Places[0])
	src := g.slice(s.Args[0])
	if m.space != globalSpace || src.space != globalSpace {
		g.fail(s.Pos, "the map and the matrix of kernel.MapTiles are not known to be in global memory; use an element of a slice parameter, and a part of one, directly")
		return
	}
	m = address{space: globalSpace, base: g.materialise(m)}
	from := g.inRegister(g.slicePointer(src))
	var number [4]operand // rows, columns, stride, rows of a tile
	for i := range number {
		number[i] = g.inRegister(g.low(g.value(s.Args[i+1])))
	}
	stride := g.register(b64Class)
	g.emit("mul.wide.u32", stride, number[2], intOperand(b32Class, uint64(elem.Size())))
	skip := g.newLabel()
	g.jumpIf(g.isFirst().not(), skip)
	for at := int64(0); at < tileMapSize; at += 8 {
		g.store("st.global.u64", m.plus(at), zeroOperand(b64Class))
	}
	set := func(field, size string, ordinal int, v operand) {
		args := []operand{v}
		if ordinal >= 0 {
			args = []operand{intOperand(b32Class, uint64(ordinal)), v}
		}
		g.atomic("tensormap.replace.tile."+field+".global.b1024."+size, operand{}, m, args...)
	}
	constant := func(n int64) operand { return intOperand(b32Class, uint64(n)) }
	const (
		swizzle128 = 3
		dimensions = 2
	)
	set("global_address", "b64", -1, from)
	set("rank", "b32", -1, constant(dimensions-1))
	set("box_dim", "b32", 0, constant(tileRow/elem.Size()))
	set("box_dim", "b32", 1, number[3])
	set("global_dim", "b32", 0, number[1])
	set("global_dim", "b32", 1, number[0])
	set("global_stride", "b64", 0, stride)
	set("element_stride", "b32", 0, constant(1))
	set("element_stride", "b32", 1, constant(1))
	set("elemtype", "b32", -1, constant(int64(bits.TrailingZeros64(uint64(elem.Size()))))) // unsigned integers
	set("interleave_layout", "b32", -1, constant(0))
	set("swizzle_mode", "b32", -1, constant(swizzle128))
	set("fill_mode", "b32", -1, constant(0))
	g.emit("fence.proxy.tensormap::generic.release.gpu")
	g.text = append(m.append(append(g.text, "\tfence.proxy.tensormap::generic.acquire.gpu "...)), ", "+strconv.Itoa(tileMapSize)+";\n"...)
	g.place(skip)
}

// bulkCopyTile starts a copy by the engine, if there is one and what it reads of each row
// begins at a multiple of 16 bytes. Otherwise the threads copy.
func (g *generator) bulkCopyTile(s *ir.Memory) {
	bar, ok := g.barrierAddress(s)
	if !ok {
		return
	}
	dst, src := g.slice(s.Args[0]), g.slice(s.Args[1])
	elem := s.Args[1].Type().Elem
	m := g.address(s.Places[1])
	switch {
	case dst.space != sharedSpace:
		g.fail(s.Pos, "the destination of kernel.BulkCopyTile is not known to be in shared memory; use a part of a kernel.Shared variable directly")
		return
	case src.space != globalSpace || m.space != globalSpace:
		g.fail(s.Pos, "the map and the matrix of kernel.BulkCopyTile are not known to be in global memory; use an element of a slice parameter, and a part of one, directly")
		return
	}
	m = address{space: globalSpace, base: g.materialise(m)}
	to, from := g.inRegister(g.slicePointer(dst)), g.inRegister(g.slicePointer(src))
	lines := g.inRegister(g.low(g.sliceLength(dst)))
	var number [5]operand // rows, columns, stride, row, column
	for i := range number {
		number[i] = g.inRegister(g.value64(s.Args[i+2]))
	}
	end := g.newLabel()
	if g.hasOnly(smGroup) {
		g.needVersion(versionTileMap)
		sum, stray, share := g.register(b32Class), g.register(b32Class), g.register(predClass)
		g.emit("or.b32", sum, g.low(number[2]), g.low(number[4]))
		g.emit("shl.b32", sum, sum, intOperand(b32Class, uint64(bits.TrailingZeros64(uint64(elem.Size())))))
		g.emit("or.b32", stray, sum, g.low(from))
		g.emit("and.b32", stray, stray, intOperand(b32Class, bulkUnit-1))
		g.emit("setp.ne.u32", share, stray, zeroOperand(b32Class))
		slow := g.newLabel()
		g.jumpIf(condition{pred: share}, slow)
		g.jumpIf(g.isFirst().not(), end)
		bytes := g.register(b32Class)
		g.emit("shl.b32", bytes, lines, intOperand(b32Class, 4))
		if !g.usesTiles { // otherwise a fence is at the barrier
			g.emit("fence.proxy.async.shared::cta")
		}
		g.store("mbarrier.expect_tx.relaxed.cta.shared::cta.b64", bar, bytes)
		row, column := g.low(number[3]), g.low(number[4])
		b := append(g.text, "\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ["...)
		b = append(to.append(b), "], ["...)
		b = append(m.base.append(b), ", {"...)
		b = append(column.append(b), ", "...)
		b = append(row.append(b), "}], "...)
		g.text = append(bar.append(b), ";\n"...)
		g.jump(end)
		g.place(slow)
	}
	g.shareTile(to, from, lines, number, elem.Size(), end)
}

// shareTile copies a tile, one element per thread at a time.
func (g *generator) shareTile(to, from, lines operand, number [5]operand, size int64, end label) {
	rows, columns, stride, row, column := number[0], number[1], number[2], number[3], number[4]
	shift := func(n int64) operand { return intOperand(b32Class, uint64(bits.TrailingZeros64(uint64(n)))) }
	op := func(opcode string, c class, args ...operand) operand {
		r := g.register(c)
		g.emit(opcode, append([]operand{r}, args...)...)
		return r
	}
	at, count, step := g.register(b32Class), g.register(b32Class), g.inRegister(g.threads())
	g.emit("mov.b32", at, g.linearIndex())
	g.emit("shl.b32", count, lines, shift(16/size))
	head, over := g.newLabel(), g.register(predClass)
	g.emit("setp.ge.u32", over, at, count)
	g.jumpIf(condition{pred: over}, end)
	g.placeHead(head)
	r := op("shr.u32", b32Class, at, shift(tileRow/size))
	e := op("and.b32", b32Class, at, intOperand(b32Class, uint64(tileRow/size-1)))
	y := op("add.s64", b64Class, row, g.widen(r, false))
	x := op("add.s64", b64Class, column, g.widen(e, false))
	inside := op("setp.lt.u64", predClass, y, rows)
	within := op("setp.lt.u64", predClass, x, columns)
	g.emit("and.pred", inside, inside, within)
	index := op("mad.lo.s64", b64Class, y, stride, x)
	source := op("mad.lo.s64", b64Class, index, intOperand(b64Class, uint64(size)), from)
	line := op("shl.b32", b32Class, op("and.b32", b32Class, r, intOperand(b32Class, 7)), intOperand(b32Class, 4))
	place := op("xor.b32", b32Class, op("shl.b32", b32Class, e, shift(size)), line)
	target := op("add.u32", b32Class, op("add.u32", b32Class, op("shl.b32", b32Class, r, shift(tileRow)), place), to)
	typ := "u" + strconv.FormatInt(8*size, 10)
	v, skip := g.register(b32Class), g.newLabel()
	g.move(v, zeroOperand(b32Class))
	g.jumpIf(condition{pred: inside, negated: true}, skip)
	g.load("ld.global."+typ, v, address{space: globalSpace, base: source})
	g.place(skip)
	g.store("st.shared."+typ, address{space: sharedSpace, base: target}, v)
	g.emit("add.u32", at, at, step)
	g.emit("setp.lt.u32", over, at, count)
	g.jumpIf(condition{pred: over}, head)
	if g.usesTiles && g.hasOnly(smGroup) {
		g.emit("fence.proxy.async.shared::cta")
	}
	g.place(end)
}
