package png

import (
	"cmp"
	"encoding/binary"
	"hash/adler32"
	"math"
	"slices"

	"github.com/klauspost/compress/zlib"
)

const indexed = 3 // color type of PNG, section 11.2.2

// mostColors is the size of the largest palette.
const mostColors = 256

// AppendIndexed appends an image of a palette of up to 256 colors to dst. Colors are exact if there are no more of them, those without
// alpha being one. Otherwise similar ones become their mean; those with the alpha 0 or 255 keep it. Equal images have equal bytes.
func (e *Encoder) AppendIndexed(dst []byte, pixels []uint32, width, height int) []byte {
	q := &e.quantizer
	if !q.collect(pixels) {
		q.quantize(pixels)
	}
	bits := e.filterIndices(q.indices, width, height)
	dst = append(dst, signature...)
	var header [13]byte
	binary.BigEndian.PutUint32(header[0:], uint32(width))
	binary.BigEndian.PutUint32(header[4:], uint32(height))
	header[8], header[9] = 8, indexed
	dst, at := begin(dst, "IHDR")
	dst = finish(append(dst, header[:]...), at)
	dst, at = begin(dst, "PLTE")
	translucent := 0
	for i, c := range q.palette {
		dst = append(dst, byte(c), byte(c>>8), byte(c>>16))
		if c>>24 < 255 {
			translucent = i + 1
		}
	}
	dst = finish(dst, at)
	if translucent > 0 {
		dst, at = begin(dst, "tRNS")
		for _, c := range q.palette[:translucent] {
			dst = append(dst, byte(c>>24))
		}
		dst = finish(dst, at)
	}
	dst, at = begin(dst, "IDAT")
	if bits < fewBits {
		dst = e.matches.compress(dst, e.filtered)
	} else {
		dst = append(dst, 0x78, 0x01)
		dst = e.code.deflate(dst, e.filtered)
		dst = binary.BigEndian.AppendUint32(dst, adler32.Checksum(e.filtered))
	}
	dst = finish(dst, at)
	dst, at = begin(dst, "IEND")
	return finish(dst, at)
}

// fewBits is the number of bits per pixel below which looking for matches is worth its time: areas of one color.
const fewBits = 2

// matcher compresses with matches.
type matcher struct {
	w   *zlib.Writer
	out []byte
}

// Write appends to the output.
func (m *matcher) Write(p []byte) (int, error) {
	m.out = append(m.out, p...)
	return len(p), nil
}

func (m *matcher) compress(dst, src []byte) []byte {
	if m.w == nil {
		m.w, _ = zlib.NewWriterLevel(m, 5) // fails only for other levels
	}
	m.out = dst
	m.w.Reset(m)
	_, _ = m.w.Write(src) // Write of m never fails
	_ = m.w.Close()
	return m.out
}

// quantizer finds palettes. It keeps memory between images.
type quantizer struct {
	palette []uint32 // clear and translucent ones first, then by brightness
	indices []uint8  // of the pixels
	zeros   []uint8  // the row above the first one

	colors [4 * mostColors]uint32 // a hash table of colors
	places [4 * mostColors]int16  // 1 + the index of the color, or 0

	numbers []uint32 // of each key: 1 + its cell, or 0; later the index of the cell's color
	cells   []cell
	boxes   []box
}

// slotOf returns the place of a color in the hash table.
func (q *quantizer) slotOf(c uint32) int {
	slot := int(c * 0x9e3779b1 >> 22)
	for q.places[slot] != 0 && q.colors[slot] != c {
		slot = (slot + 1) % len(q.colors)
	}
	return slot
}

// visible returns a color, which is 0 without alpha.
func visible(c uint32) uint32 {
	if c>>24 == 0 {
		return 0
	}
	return c
}

// kindOf tells apart clear, translucent and opaque colors.
func kindOf(c uint32) int {
	switch c >> 24 {
	case 0:
		return 0
	case 255:
		return 2
	}
	return 1
}

// luma is about 10 times the brightness. The square of a difference is at most lumaNorm times the square of the distance of colors.
func luma(c uint32) int { return int(3*(c&0xff) + 6*(c>>8&0xff) + c>>16&0xff) }

const lumaNorm = 3*3 + 6*6 + 1*1

// order compares colors of a palette.
func order(a, b uint32) int {
	return cmp.Or(cmp.Compare(kindOf(a), kindOf(b)), cmp.Compare(luma(a), luma(b)), cmp.Compare(a, b))
}

// collect makes a palette of all colors. It is false if there are too many.
func (q *quantizer) collect(pixels []uint32) bool {
	clear(q.places[:])
	q.palette = q.palette[:0]
	q.indices = slices.Grow(q.indices[:0], len(pixels))[:len(pixels)]
	last := ^pixels[0]
	for _, p := range pixels {
		if p == last {
			continue
		}
		last = p
		c := visible(p)
		if slot := q.slotOf(c); q.places[slot] == 0 {
			if len(q.palette) == mostColors {
				return false
			}
			q.palette = append(q.palette, c)
			q.colors[slot], q.places[slot] = c, 1
		}
	}
	slices.SortFunc(q.palette, order)
	for i, c := range q.palette {
		q.places[q.slotOf(c)] = int16(i + 1)
	}
	last = ^pixels[0]
	index := uint8(0)
	for i, p := range pixels {
		if p != last {
			last, index = p, uint8(q.places[q.slotOf(visible(p))]-1)
		}
		q.indices[i] = index
	}
	return true
}

// cell is a small part of the space of colors, and what the pixels in it have in common.
type cell struct {
	key   uint32
	count float64
	mean  [4]float64
}

// Keys are numbers of cells: those of opaque colors with 5 bits of red and of blue and 6 of green, the one without alpha, and 14 times
// those of translucent colors with 4 bits of each.
const (
	clearKey       = 1 << 16
	translucentKey = clearKey + 1
	keys           = translucentKey + 14<<12
)

func keyOf(c uint32) uint32 {
	switch a := c >> 24; a {
	case 255:
		return c>>3&0x1f | c>>10&0x3f<<5 | c>>19&0x1f<<11
	case 0:
		return clearKey
	default:
		return translucentKey + ((a-1)*14/254<<12 | c>>4&0xf | c>>12&0xf<<4 | c>>20&0xf<<8)
	}
}

// quantize makes a palette of similar colors, and the indices of pixels.
func (q *quantizer) quantize(pixels []uint32) {
	q.count(pixels)
	q.divide()
	q.palette = q.palette[:0]
	for _, b := range q.boxes {
		q.palette = append(q.palette, packed(&b.mean))
	}
	slices.SortFunc(q.palette, order)
	q.palette = slices.Compact(q.palette)
	for _, c := range q.cells {
		q.numbers[c.key] = uint32(q.nearest(&c))
	}
	last, index := pixels[0], uint8(q.numbers[keyOf(pixels[0])])
	for i, p := range pixels {
		if p != last {
			last, index = p, uint8(q.numbers[keyOf(p)])
		}
		q.indices[i] = index
	}
	for _, c := range q.cells {
		q.numbers[c.key] = 0
	}
}

// count fills the cells.
func (q *quantizer) count(pixels []uint32) {
	if q.numbers == nil {
		q.numbers = make([]uint32, keys)
	}
	q.cells = q.cells[:0]
	for i := 0; i < len(pixels); {
		p, n := visible(pixels[i]), 1
		for i+n < len(pixels) && visible(pixels[i+n]) == p {
			n++
		}
		i += n
		number := &q.numbers[keyOf(p)]
		if *number == 0 {
			q.cells = append(q.cells, cell{key: keyOf(p)})
			*number = uint32(len(q.cells))
		}
		c := &q.cells[*number-1]
		c.count += float64(n)
		for j := range 4 {
			c.mean[j] += float64(n * int(p>>(8*j)&0xff)) // a sum of whole numbers, for now
		}
	}
	for i := range q.cells {
		c := &q.cells[i]
		for j := range c.mean {
			c.mean[j] /= c.count
		}
	}
}

// box is a set of cells.
type box struct {
	cells []cell
	count float64
	mean  [4]float64
	axis  int     // the color or alpha that varies most
	err   float64 // the sum of the squared distances of the cells from the mean
}

func newBox(cells []cell) box {
	b := box{cells: cells}
	for i := range cells {
		c := &cells[i]
		b.count += c.count
		for j := range 4 {
			b.mean[j] += float64(c.count * c.mean[j])
		}
	}
	for j := range 4 {
		b.mean[j] /= b.count
	}
	var errs [4]float64
	for i := range cells {
		c := &cells[i]
		for j := range 4 {
			d := c.mean[j] - b.mean[j]
			errs[j] += float64(float64(d*d) * c.count)
		}
	}
	for j, e := range errs {
		b.err += e
		if e > errs[b.axis] {
			b.axis = j
		}
	}
	return b
}

// packed returns a color.
func packed(mean *[4]float64) uint32 {
	c := uint32(0)
	for j, v := range mean {
		c |= uint32(v+0.5) << (8 * j)
	}
	return c
}

// divide makes boxes. The one with the largest error is divided at its mean, until there are enough. Opaque, translucent and clear colors
// are never in the same one.
func (q *quantizer) divide() {
	q.boxes = q.boxes[:0]
	slices.SortFunc(q.cells, func(a, b cell) int { return cmp.Compare(a.key, b.key) })
	for first := 0; first < len(q.cells); {
		n := 1
		for first+n < len(q.cells) && kindOf(packed(&q.cells[first+n].mean)) == kindOf(packed(&q.cells[first].mean)) {
			n++
		}
		q.boxes = append(q.boxes, newBox(q.cells[first:first+n]))
		first += n
	}
	for len(q.boxes) < mostColors {
		largest := 0
		for i := range q.boxes {
			if q.boxes[i].err > q.boxes[largest].err {
				largest = i
			}
		}
		b := q.boxes[largest]
		if b.err == 0 {
			return
		}
		n := 0
		for i := range b.cells {
			if b.cells[i].mean[b.axis] < b.mean[b.axis] {
				b.cells[n], b.cells[i] = b.cells[i], b.cells[n]
				n++
			}
		}
		if n == 0 || n == len(b.cells) { // the cells differ by less than the mean is rounded
			q.boxes[largest].err = 0
			continue
		}
		q.boxes[largest] = newBox(b.cells[:n])
		q.boxes = append(q.boxes, newBox(b.cells[n:]))
	}
}

// nearest returns the index of the color that is nearest to a cell's mean, of the same kind.
func (q *quantizer) nearest(c *cell) int {
	mean := packed(&c.mean)
	first, _ := slices.BinarySearchFunc(q.palette, kindOf(mean), func(p uint32, k int) int { return cmp.Compare(kindOf(p), k) })
	last, _ := slices.BinarySearchFunc(q.palette, kindOf(mean)+1, func(p uint32, k int) int { return cmp.Compare(kindOf(p), k) })
	at, _ := slices.BinarySearchFunc(q.palette, mean, order)
	best, least := first, math.MaxInt
	// From the nearest brightness on, until the difference of brightness alone is greater.
	for _, step := range [2]int{1, -1} {
		for i := at + min(step, 0); i >= first && i < last; i += step {
			p := q.palette[i]
			if d := luma(p) - luma(mean); d*d/lumaNorm > least {
				break
			}
			d := 0
			for j := 0; j < 32; j += 8 {
				e := int(mean>>j&0xff) - int(p>>j&0xff)
				d += e * e
			}
			if d < least {
				best, least = i, d
			}
		}
	}
	return best
}

const (
	filterNone = 0
	filterSub  = 1
)

// filterIndices writes rows of the filter that leaves the fewest bits, and returns about how many remain per pixel.
func (e *Encoder) filterIndices(indices []uint8, width, height int) (bits float64) {
	filter := byte(filterNone)
	bits = math.Inf(1)
	for _, f := range []byte{filterNone, filterSub, filterUp, filterAverage} {
		// The entropy in a sample of the rows.
		var counts [256]int
		total, sum := 0.0, 0.0
		for y := 1; y < height; y += 8 {
			row, above := indices[y*width:][:width], indices[(y-1)*width:][:width]
			for x := 1; x < width; x++ {
				counts[row[x]-predict(f, row[x-1], above[x])]++
			}
		}
		for _, n := range counts {
			if n > 0 {
				total, sum = total+float64(n), sum+float64(float64(n)*math.Log2(float64(n)))
			}
		}
		if total > 0 && math.Log2(total)-sum/total < bits {
			filter, bits = f, math.Log2(total)-sum/total
		}
	}
	size := height * (1 + width)
	e.filtered = slices.Grow(e.filtered[:0], size)[:size]
	if len(e.quantizer.zeros) < width {
		e.quantizer.zeros = make([]uint8, width)
	}
	above := e.quantizer.zeros[:width]
	for y := range height {
		row, out := indices[y*width:][:width], e.filtered[y*(1+width):][:1+width]
		out[0] = filter
		left := uint8(0)
		for x, v := range row {
			out[1+x] = v - predict(filter, left, above[x])
			left = v
		}
		above = row
	}
	return bits
}

// predict returns what a filter subtracts.
func predict(filter, left, above uint8) uint8 {
	switch filter {
	case filterSub:
		return left
	case filterUp:
		return above
	case filterAverage:
		return uint8((uint(left) + uint(above)) / 2)
	}
	return 0
}
