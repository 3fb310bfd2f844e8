package ptxvm

import (
	"math"

	"quern.dev/internal/mma"
)

// joinWhole makes a thread wait for all lanes of its warp. PTX leaves the result undefined
// if some are missing; here their elements are zero.
func joinWhole(t *thread, _ *instr) {
	t.mask = ^uint32(0)
	t.state = gathered
	t.warp.waiting |= 1 << (t.index % warpSize)
}

// decodeLoadMatrix decodes ldmatrix of 8x8 matrices of 16-bit elements.
func decodeLoadMatrix(d *decoder) {
	d.requireSync()
	if d.mod("aligned") == "" || d.mod("m8n8") == "" {
		d.emit(nil)
	}
	n := map[string]int{"x1": 1, "x2": 2, "x4": 4}[d.mod("x1", "x2", "x4")]
	transposed := d.mod("trans") != ""
	sp, _ := d.space()
	if n == 0 || sp != sharedSpace || d.typ() != b16 {
		d.emit(nil)
	}
	d.want(2, 2)
	d.in.slots = d.elements(d.args[0], n, func(o operand) int32 { return d.target(o, b32, false) })
	d.in.access = access{size: 16, read: true}
	d.address(d.args[1], sp)
	d.in.collective = func(w *warp, in *instr, members uint32) {
		var lines mma.Lines
		w.each(members, func(t *thread, lane int) {
			if lane >= 8*n { // these lanes provide no addresses
				return
			}
			if p := t.pointer(in); p != nil {
				lines[lane] = *(*[4]uint32)(p)
			}
		})
		w.each(members, func(t *thread, lane int) {
			words := lines.Load(lane, transposed)
			for i, slot := range in.slots {
				t.regs[slot] = uint64(words[i])
			}
		})
	}
	d.emit(joinWhole)
}

// mmaFormats maps the element types of A and B to their formats and shapes.
var mmaFormats = map[string]struct {
	format mma.Format
	shape  string
}{
	"f16":  {mma.Float16, "m16n8k16"},
	"bf16": {mma.BFloat16, "m16n8k16"},
	"tf32": {mma.TF32, "m16n8k8"},
	"e4m3": {mma.E4M3, "m16n8k32"},
	"e5m2": {mma.E5M2, "m16n8k32"},
	"s8":   {mma.Int8, "m16n8k32"},
	"u8":   {mma.Uint8, "m16n8k32"},
}

// decodeMMA decodes mma.sync for matrices with 32 bytes per row and four accumulators per
// thread, and for half of such matrices of float64.
func decodeMMA(d *decoder) {
	d.requireSync()
	if len(d.mods) != 8 || d.mod("aligned") == "" || d.mod("row") == "" || d.mod("col") == "" {
		d.emit(nil)
	}
	shape, sum := d.mods[0], d.mods[1]
	if sum == "f64" {
		decodeDoubleMMA(d)
		return
	}
	a, knownA := mmaFormats[d.mods[2]]
	b, knownB := mmaFormats[d.mods[3]]
	integer := a.format >= mma.Int8
	want := "f32"
	if integer {
		want = "s32"
	}
	if !knownA || !knownB || a.shape != shape || b.shape != shape || sum != want || d.mods[4] != want || !mma.Match(a.format, b.format) {
		d.emit(nil)
	}
	d.mods = nil
	d.want(4, 4)
	t := dataTypeByName[sum]
	slots := d.elements(d.args[0], 4, func(o operand) int32 { return d.target(o, t, false) })
	for i, n := range []int{4, 2, 4} {
		u := b32
		if i == 2 {
			u = t
		}
		slots = append(slots, d.elements(d.args[i+1], n, func(o operand) int32 { return d.value(o, u, false) })...)
	}
	d.in.slots = slots
	if integer {
		d.in.collective = multiply(a.format, b.format, func(v uint64) int32 { return int32(v) }, func(v int32) uint64 { return uint64(uint32(v)) })
	} else {
		d.in.collective = multiply(a.format, b.format,
			func(v uint64) float32 { return math.Float32frombits(uint32(v)) },
			func(v float32) uint64 { return uint64(math.Float32bits(v)) })
	}
	d.emit(joinWhole)
}

// decodeDoubleMMA decodes the multiplication of matrices of float64, with 8 or 16 rows.
func decodeDoubleMMA(d *decoder) {
	n := map[string]int{"m8n8k4": 1, "m16n8k4": 2}[d.mods[0]] // sets of 8 rows
	if n == 0 || d.mods[2] != "f64" || d.mods[3] != "f64" || d.mods[4] != "f64" {
		d.emit(nil)
	}
	d.mods = nil
	d.want(4, 4)
	slots := d.elements(d.args[0], 2*n, func(o operand) int32 { return d.target(o, f64, false) })
	for i, n := range []int{n, 1, 2 * n} {
		slots = append(slots, d.elements(d.args[i+1], n, func(o operand) int32 { return d.value(o, f64, false) })...)
	}
	d.in.slots = slots
	d.in.collective = func(w *warp, in *instr, members uint32) {
		var a mma.A
		var b mma.B
		var c mma.C[float64]
		dst, as, bs, cs := in.slots[:2*n], in.slots[2*n:3*n], in.slots[3*n], in.slots[3*n+1:]
		w.each(members, func(t *thread, lane int) {
			for i, slot := range as {
				a[lane][i], a[lane][i+2] = uint32(t.regs[slot]), uint32(t.regs[slot]>>32)
			}
			b[lane] = [2]uint32{uint32(t.regs[bs]), uint32(t.regs[bs] >> 32)}
			for i, slot := range cs {
				c[lane][i] = math.Float64frombits(t.regs[slot])
			}
		})
		mma.Multiply(mma.Float64, mma.Float64, &a, &b, &c)
		w.each(members, func(t *thread, lane int) {
			for i, slot := range dst {
				t.regs[slot] = math.Float64bits(c[lane][i])
			}
		})
	}
	d.emit(joinWhole)
}

// multiply returns the collective that multiplies. The slots are those of d, a, b and c.
func multiply[T mma.Value](fa, fb mma.Format, value func(uint64) T, bits func(T) uint64) collective {
	return func(w *warp, in *instr, members uint32) {
		var a mma.A
		var b mma.B
		var c mma.C[T]
		w.each(members, func(t *thread, lane int) {
			for i := range a[lane] {
				a[lane][i] = uint32(t.regs[in.slots[4+i]])
			}
			for i := range b[lane] {
				b[lane][i] = uint32(t.regs[in.slots[8+i]])
			}
			for i := range c[lane] {
				c[lane][i] = value(t.regs[in.slots[10+i]])
			}
		})
		mma.Multiply(fa, fb, &a, &b, &c)
		w.each(members, func(t *thread, lane int) {
			for i, v := range c[lane] {
				t.regs[in.slots[i]] = bits(v)
			}
		})
	}
}

// decodeTF32 decodes cvt.rna.tf32.f32, whose result is in an untyped register.
func decodeTF32(d *decoder) {
	d.want(2, 2)
	if len(d.mods) != 3 || d.mods[0] != "rna" || d.mods[2] != "f32" {
		d.emit(nil)
	}
	d.mods = nil
	d.in.d = d.destination(0, b32)
	d.in.a = d.source(1, f32)
	d.emit(func(t *thread, in *instr) { t.regs[in.d] = uint64(mma.RoundTF32(uint32(t.regs[in.a]))) })
}
