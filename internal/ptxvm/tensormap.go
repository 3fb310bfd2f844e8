package ptxvm

import "unsafe"

// Copies of parts of matrices by descriptions in global memory, tensor maps. The simulator
// keeps a field where tensorMapFields says.

// tensorMapSize is the size of a tensor map in bytes.
const tensorMapSize = 128

// tensorMapFields maps the fields to their offsets and sizes. Some have an element for each
// dimension.
var tensorMapFields = map[string]struct{ offset, size uint64 }{
	"global_address":    {0, 8},
	"global_stride":     {8, 8},
	"global_dim":        {16, 4},
	"box_dim":           {24, 4},
	"element_stride":    {32, 4},
	"rank":              {40, 4},
	"elemtype":          {44, 4},
	"interleave_layout": {48, 4},
	"swizzle_mode":      {52, 4},
	"fill_mode":         {56, 4},
}

// tensorElements lists the sizes of the supported types of elements.
var tensorElements = []uint64{1, 2, 4}

// decodeTensorMap decodes tensormap.replace in global memory.
func decodeTensorMap(d *decoder) {
	if d.mod("replace") == "" || d.mod("tile") == "" || d.mod("global") == "" || d.mod("b1024") == "" {
		d.emit(nil)
	}
	name := ""
	for f := range tensorMapFields {
		if d.mod(f) != "" {
			name = f
		}
	}
	field, t := tensorMapFields[name], d.typ()
	if name == "" || uint64(t.size()) != field.size {
		d.emit(nil)
	}
	last := 1
	if name == "global_stride" || name == "global_dim" || name == "box_dim" || name == "element_stride" {
		last = 2
		if i := d.immediate(1); i > 1 || i > 0 && name == "global_stride" {
			d.p.unsupported("%s: only matrices are supported", d.text)
		} else {
			field.offset += i * field.size
		}
	}
	d.want(last+1, last+1)
	d.in.b = d.source(last, t)
	d.in.access = access{write: true, size: uint8(field.size)}
	d.address(d.args[0], globalSpace)
	d.emit(func(t *thread, in *instr) {
		if address := t.address(in); address%tensorMapSize != 0 {
			t.fault(IllegalOperand, in, address, "a tensor map that does not begin at a multiple of %d bytes", tensorMapSize)
			return
		}
		at := *in
		at.offset += field.offset
		switch p := t.pointer(&at); {
		case p == nil:
		case field.size == 8:
			*(*uint64)(p) = t.regs[in.b]
		default:
			*(*uint32)(p) = uint32(t.regs[in.b])
		}
	})
}

// decodeTileCopy decodes a copy of a part of a matrix from global to shared memory.
func decodeTileCopy(d *decoder) {
	if d.mod("2d") == "" || d.mod("shared::cluster", "shared::cta") == "" || d.mod("global") == "" || d.mod("mbarrier::complete_tx::bytes") == "" {
		d.p.fail("%s: want a copy of a matrix from global to shared memory with a barrier", d.text)
	}
	d.drop("tile")
	d.want(3, 3)
	from := d.args[1]
	if from.kind != addressOperand || len(from.list) != 2 {
		d.p.fail("%s: want a tensor map and coordinates in brackets", d.text)
	}
	xy := d.elements(from.list[1], 2, func(o operand) int32 { return d.value(o, b32, false) })
	d.in.access = access{space: globalSpace, read: true, size: 4}
	d.in.a = d.register(from.list[0], b64, false)
	m := d.in
	d.in.access = access{write: true, strong: true, size: mbarrierSize}
	d.address(d.args[2], sharedSpace)
	bar := d.in
	d.in.offset, d.in.access = 0, access{write: true, size: bulkUnit}
	d.address(d.args[0], sharedSpace)
	d.in.b, d.in.c = xy[0], xy[1]
	d.emit(func(t *thread, in *instr) { t.copyTile(in, &m, &bar) })
}

// copyTile starts the copy of a tile, whose rows have 128 bytes and permuted lines.
func (t *thread) copyTile(in, m, bar *instr) {
	field := func(name string, i uint64) (v uint64, ok bool) {
		f := tensorMapFields[name]
		at := *m
		at.offset += f.offset + i*f.size
		at.access.size = uint8(f.size)
		p := t.pointer(&at)
		if p == nil {
			return 0, false
		}
		if f.size == 8 {
			return *(*uint64)(p), true
		}
		return uint64(*(*uint32)(p)), true
	}
	var v [10]uint64
	for i, f := range [...]struct {
		name string
		i    uint64
	}{{"global_address", 0}, {"global_stride", 0}, {"global_dim", 0}, {"global_dim", 1}, {"box_dim", 0}, {"box_dim", 1}, {"rank", 0}, {"elemtype", 0}, {"swizzle_mode", 0}, {"element_stride", 0}} {
		var ok bool
		if v[i], ok = field(f.name, f.i); !ok {
			return
		}
	}
	start, stride, columns, rows, width, height, rank, elem, swizzle := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]
	const swizzle128, rowSize = 3, 128
	if rank != 1 || elem >= uint64(len(tensorElements)) || swizzle != swizzle128 || v[9] != 1 || start%bulkUnit != 0 || stride%bulkUnit != 0 || height-1 > 255 || rows == 0 || columns == 0 || width*tensorElements[elem] != rowSize {
		t.fault(IllegalOperand, in, t.address(m), "a tensor map that is not of a matrix whose rows begin at multiples of %d bytes, for tiles with 1 to 256 rows of %d bytes", bulkUnit, rowSize)
		return
	}
	size := tensorElements[elem]
	b, _ := t.mbarrier(bar)
	if b == nil {
		return
	}
	c := bulkCopy{t: t, in: in, off: t.address(in), data: make([]byte, height*rowSize)}
	if c.off%(8*rowSize) != 0 {
		t.fault(IllegalOperand, in, c.off, "a tile that does not begin at a multiple of %d bytes", 8*rowSize)
		return
	}
	x, y := int64(int32(t.regs[in.b])), int64(int32(t.regs[in.c]))
	if uint64(x)*size%bulkUnit != 0 {
		t.fault(IllegalOperand, in, c.off, "column %d of a matrix, which is not at a multiple of %d bytes", x, bulkUnit)
		return
	}
	src := *m
	src.a, src.access.size = int32(0), uint8(size)
	for r := range int64(height) {
		for e := range int64(width) {
			if y+r < 0 || y+r >= int64(rows) || x+e < 0 || x+e >= int64(columns) {
				continue
			}
			p := t.globalPointer(&src, start+uint64(y+r)*stride+uint64(x+e)*size)
			if p == nil {
				return
			}
			at := uint64(r)*rowSize + (uint64(e)*size ^ uint64(r)&7<<4)
			copy(c.data[at:at+size], unsafe.Slice((*byte)(p), size))
		}
	}
	if t.b.checks {
		dst := *in
		for i := uint64(0); i < uint64(len(c.data)); i += bulkUnit {
			if t.pointer(&dst) == nil {
				return
			}
			t.b.sharedInit.unset(c.off+i, bulkUnit)
			dst.offset += bulkUnit
		}
		b.copies = append(b.copies, c)
		return
	}
	if c.arrive() {
		b.bytes -= int64(len(c.data))
	}
}
