package ptxvm

import (
	"math"

	images "quern.dev/kernel"
)

// decodeTexture decodes tex for a two-dimensional texture object and floating-point
// coordinates. Texture objects are images registered with package kernel.
func decodeTexture(d *decoder) {
	if d.mod("2d") == "" || d.mod("v4") == "" {
		d.emit(nil)
	}
	if result, coordinates := d.typ(), d.typ(); result != f32 || coordinates != f32 {
		d.emit(nil)
	}
	d.want(2, 2)
	slots := d.elements(d.args[0], 4, func(o operand) int32 { return d.target(o, f32, true) })
	at := d.args[1]
	if at.kind != addressOperand || len(at.list) != 2 {
		d.p.fail("%s: want a texture and coordinates in brackets", d.text)
	}
	d.in.a = d.register(at.list[0], b64, false)
	xy := d.elements(at.list[1], 2, func(o operand) int32 { return d.value(o, f32, true) })
	d.in.b, d.in.c = xy[0], xy[1]
	d.in.slots = slots
	d.emit(sampleTexture)
}

func sampleTexture(t *thread, in *instr) {
	object := t.regs[in.a]
	x, y := math.Float32frombits(uint32(t.regs[in.b])), math.Float32frombits(uint32(t.regs[in.c]))
	texel, ok := images.SampleImage(object, x, y)
	if !ok {
		t.fault(IllegalOperand, in, 0, "%#x is not an open texture", object)
		return
	}
	for i, slot := range in.slots {
		t.regs[slot] = uint64(math.Float32bits(texel[i]))
	}
}
