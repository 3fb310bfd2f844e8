package ptxvm

import (
	"math"
	"strconv"
	"strings"

	"quern.dev/internal/mma"
)

// Products by groups of four warps (wgmma). Each warp computes its rows when it waits for
// the groupProduct: a product that is not waited for has read nothing and changed no register.

// groupProduct is one wgmma.mma_async of a warp that has not been waited for.
type groupProduct struct {
	in    *instr
	a, b  uint64 // descriptors
	add   bool
	group int
}

// decodeGroup decodes wgmma.
func decodeGroup(d *decoder) {
	switch d.mod("fence", "commit_group", "wait_group", "mma_async") {
	case "fence":
		d.groupControl(0)
		d.in.collective = func(*warp, *instr, uint32) {}
	case "commit_group":
		d.groupControl(0)
		d.in.collective = func(w *warp, _ *instr, _ uint32) { w.groups++ }
	case "wait_group":
		d.groupControl(1)
		d.in.e = int32(min(d.immediate(0), 1<<20))
		d.in.collective = func(w *warp, in *instr, members uint32) { w.finish(members, w.groups-int(in.e)) }
	case "mma_async":
		d.decodeProduct()
	default:
		d.emit(nil)
	}
	d.emit(joinWhole)
}

func (d *decoder) groupControl(operands int) {
	d.requireSync()
	if d.mod("aligned") == "" {
		d.p.fail("%s: want the form with .aligned", d.text)
	}
	d.want(operands, operands)
}

// decodeProduct decodes wgmma.mma_async with both factors in shared memory.
func (d *decoder) decodeProduct() {
	d.requireSync()
	if len(d.mods) != 5 || d.mod("aligned") == "" {
		d.emit(nil)
	}
	shape, sum := d.mods[0], d.mods[1]
	a, knownA := mmaFormats[d.mods[2]]
	b, knownB := mmaFormats[d.mods[3]]
	integer := a.format >= mma.Int8
	want := "f32"
	if integer {
		want = "s32"
	}
	columns, isShape := strings.CutPrefix(shape, "m64n")
	columns, isShape2 := strings.CutSuffix(columns, "k"+strconv.Itoa(a.format.K()))
	n, err := strconv.Atoi(columns)
	if !knownA || !knownB || !isShape || !isShape2 || err != nil || n%8 != 0 || n < 8 || n > 256 || sum != want || !mma.Match(a.format, b.format) {
		d.emit(nil)
	}
	d.mods = nil
	ones, zeros := 2, 0 // immediates: scales that must be one, transpositions that must be zero
	switch {
	case integer:
		ones = 0
	case a.format.Size() == 2:
		zeros = 2
	}
	d.want(4+ones+zeros, 4+ones+zeros)
	for i := range ones + zeros {
		want := uint64(1)
		if i >= ones {
			want = 0
		}
		if uint64(d.immediate(4+i)) != want {
			d.p.unsupported("%s with a scale of -1 or a transposition is not supported", d.text)
		}
	}
	t := dataTypeByName[sum]
	d.in.slots = d.elements(d.args[0], n/2, func(o operand) int32 { return d.target(o, t, false) })
	d.in.a, d.in.b, d.in.c = d.source(1, b64), d.source(2, b64), d.source(3, pred)
	d.in.access = access{space: sharedSpace, size: 16, read: true}
	d.in.e = int32(a.format)<<8 | int32(b.format)
	d.in.collective = func(w *warp, in *instr, members uint32) {
		t := &w.threads[0]
		p := groupProduct{in, t.regs[in.a], t.regs[in.b], t.regs[in.c]&1 != 0, w.groups}
		w.each(members, func(t *thread, _ int) {
			if t.regs[in.a] != p.a || t.regs[in.b] != p.b {
				t.fault(IllegalOperand, in, t.regs[in.a], "the descriptors differ between the threads of the warp")
			}
		})
		w.products = append(w.products, p)
	}
}

// finish computes the products whose group is less than below.
func (w *warp) finish(members uint32, below int) {
	done := 0
	for i := range w.products {
		p := &w.products[i]
		if p.group >= below {
			break
		}
		done++
		switch {
		case mma.Format(p.in.e>>8) >= mma.Int8:
			multiplyGroup(w, p, members, func(v uint64) int32 { return int32(v) }, func(v int32) uint64 { return uint64(uint32(v)) })
		default:
			multiplyGroup(w, p, members,
				func(v uint64) float32 { return math.Float32frombits(uint32(v)) },
				func(v float32) uint64 { return uint64(math.Float32bits(v)) })
		}
	}
	w.products = w.products[:copy(w.products, w.products[done:])]
}

// multiplyGroup computes the warp's 16 rows of a product.
func multiplyGroup[T mma.Value](w *warp, p *groupProduct, members uint32, value func(uint64) T, bits func(T) uint64) {
	fa, fb := mma.Format(p.in.e>>8), mma.Format(p.in.e&0xff)
	k := fa.K()
	t := &w.threads[0]
	var rows [16][32]float64
	for i := range rows {
		if !t.tileRow(p, p.a, fa, int(t.index)/warpSize%4*16+i, &rows[i]) {
			return
		}
	}
	columns := make([][32]float64, len(p.in.slots)*2)
	for i := range columns {
		if !t.tileRow(p, p.b, fb, i, &columns[i]) {
			return
		}
	}
	w.each(members, func(t *thread, lane int) {
		for e, slot := range p.in.slots {
			var c T
			if p.add {
				c = value(t.regs[slot])
			}
			row, column := lane/4+e/2%2*8, e/4*8+lane%4*2+e%2
			t.regs[slot] = bits(mma.Dot(c, rows[row][:k], columns[column][:k]))
		}
	})
}

// tileRow decodes 32 bytes of a row of a matrix in shared memory (PTX ISA, matrix
// descriptor format). It returns false if a fault has stopped the thread.
func (t *thread) tileRow(p *groupProduct, descriptor uint64, f mma.Format, row int, out *[32]float64) bool {
	const swizzle128 = 1
	if mode, base := descriptor>>62, descriptor>>49&7; mode != swizzle128 || base != 0 {
		t.fault(IllegalOperand, p.in, descriptor, "matrix descriptor %#x; only the swizzle of 128 bytes, with base offset 0, is supported", descriptor)
		return false
	}
	start, stride := descriptor&0x3fff<<4, descriptor>>32&0x3fff<<4
	for half := range uint64(2) {
		at := start + uint64(row/8)*stride + uint64(row%8)*128 + half*16
		at ^= at >> 7 & 7 << 4
		words := (*[4]uint32)(t.blockPointer(p.in, sharedSpace, at))
		if words == nil {
			return false
		}
		f.Decode(words[:], out[int(half)*16/f.Size():])
	}
	return true
}
