package png

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

const (
	endOfBlock = 256
	symbols    = 286
	mostBits   = 12 // of a code: four codes and the rest of a byte fit 64 bits
)

// matches are the lengths of runs of zeros that have a symbol, followed by bits of 0: RFC 1951, section 3.2.5.
var matches = [...]struct {
	length, symbol int
	bits           uint
}{{258, 285, 0}, {131, 281, 5}, {67, 277, 4}, {35, 273, 3}}

// shortest is the length of the shortest match.
const shortest = 35

// huffman is a code for the symbols of Deflate, RFC 1951.
type huffman struct {
	counts [symbols]uint32
	sizes  [symbols]uint8
	codes  [symbols]uint32 // bits in the low half, with the first one lowest, and their number in the high half
	order  []uint32
}

// deflate appends one final block to dst.
func (h *huffman) deflate(dst, src []byte) []byte {
	h.count(src)
	h.build()
	// No byte takes more than 12 bits; the header has some 1,300 bits.
	at := len(dst)
	dst = slices.Grow(dst, len(src)+len(src)/2+512)
	w := writer{dst: dst[:cap(dst)], at: at}
	h.header(&w)
	h.body(&w, src)
	return w.finish()
}

// count counts the symbols of a part of the rows, which is enough; every byte may occur.
func (h *huffman) count(src []byte) {
	clear(h.counts[:])
	var other [256]uint32
	const part = 1024
	zeros := 0
	for len(src) > 0 {
		n := min(len(src), part)
		p := src[:n]
		for len(p) >= 8 {
			v := binary.LittleEndian.Uint64(p)
			p = p[8:]
			if v == 0 {
				zeros += 8
				continue
			}
			h.counts[byte(v)]++
			other[byte(v>>8)]++
			h.counts[byte(v>>16)]++
			other[byte(v>>24)]++
			h.counts[byte(v>>32)]++
			other[byte(v>>40)]++
			h.counts[byte(v>>48)]++
			other[byte(v>>56)]++
		}
		src = src[n:]
		src = src[min(len(src), 2*part):]
	}
	for i, n := range other {
		h.counts[i] = 16*(h.counts[i]+n) + 1
	}
	h.counts[0] += uint32(zeros / 8)
	for i, m := range matches {
		h.counts[m.symbol] = uint32(zeros*16/m.length>>i + 1)
	}
	h.counts[endOfBlock] = 1
}

// build finds the sizes of an optimal code, by Moffat's and Katajainen's algorithm (1995), and limits them.
func (h *huffman) build() {
	h.order = h.order[:0]
	for s, n := range h.counts {
		if n > 0 {
			h.order = append(h.order, n<<9|uint32(s))
		}
	}
	slices.Sort(h.order)
	var a [symbols]int
	n := len(h.order)
	for i, v := range h.order {
		a[i] = int(v >> 9)
	}
	a[0] += a[1]
	root, leaf := 0, 2
	for next := 1; next < n-1; next++ {
		if leaf >= n || a[root] < a[leaf] {
			a[next] = a[root]
			a[root] = next
			root++
		} else {
			a[next] = a[leaf]
			leaf++
		}
		if leaf >= n || root < next && a[root] < a[leaf] {
			a[next] += a[root]
			a[root] = next
			root++
		} else {
			a[next] += a[leaf]
			leaf++
		}
	}
	a[n-2] = 0
	for next := n - 3; next >= 0; next-- {
		a[next] = a[a[next]] + 1
	}
	avail, used, depth := 1, 0, 0
	root = n - 2
	next := n - 1
	for avail > 0 {
		for root >= 0 && a[root] == depth {
			used++
			root--
		}
		for avail > used {
			a[next] = depth
			next--
			avail--
		}
		avail, used, depth = 2*used, 0, depth+1
	}
	h.limit(a[:n])
	h.assign(a[:n])
}

// limit shortens codes to mostBits. sizes falls, because the symbols are in the order of their counts.
func (h *huffman) limit(sizes []int) {
	// The sum of 2^-size, in units of 2^-mostBits, must not be more than 1.
	sum := 0
	for i := range sizes {
		sizes[i] = min(sizes[i], mostBits)
		sum += 1 << (mostBits - sizes[i])
	}
	for i := 0; sum > 1<<mostBits; i = (i + 1) % len(sizes) {
		if sizes[i] < mostBits {
			sizes[i]++
			sum -= 1 << (mostBits - sizes[i])
		}
	}
	for i := len(sizes) - 1; i >= 0; i-- {
		for sizes[i] > 1 && sum+1<<(mostBits-sizes[i]) <= 1<<mostBits {
			sum += 1 << (mostBits - sizes[i])
			sizes[i]--
		}
	}
}

// assign gives codes to symbols: RFC 1951, section 3.2.2.
func (h *huffman) assign(sizes []int) {
	clear(h.sizes[:])
	var number [mostBits + 2]int
	for i, v := range h.order {
		h.sizes[v&0x1ff] = uint8(sizes[i])
		number[sizes[i]]++
	}
	var next [mostBits + 2]uint32
	code := uint32(0)
	for size := 1; size <= mostBits; size++ {
		next[size] = code
		code = (code + uint32(number[size])) << 1
	}
	for s, size := range h.sizes {
		if size > 0 {
			h.codes[s] = bits.Reverse32(next[size])>>(32-size) | uint32(size)<<16
			next[size]++
		}
	}
}

// writer writes bits, the lowest ones first. dst has room for all.
type writer struct {
	dst []byte
	at  int
	acc uint64
	n   uint
}

func (w *writer) bits(v uint32, n uint) {
	w.acc |= uint64(v) << w.n
	w.n += n
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.acc)
	w.at += int(w.n >> 3)
	w.acc >>= w.n &^ 7
	w.n &= 7
}

func (w *writer) finish() []byte {
	binary.LittleEndian.PutUint64(w.dst[w.at:], w.acc)
	return w.dst[:w.at+int(w.n+7)>>3]
}

// order of the sizes of the code for sizes: RFC 1951, section 3.2.7.
var sizeOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// header writes the code: the size of each symbol in 4 bits. The gain of runs would be some ten bytes.
func (h *huffman) header(w *writer) {
	w.bits(1|2<<1, 3)
	w.bits(symbols-257, 5)
	w.bits(0, 5) // one distance
	w.bits(19-4, 4)
	for _, s := range sizeOrder {
		if s < 16 {
			w.bits(4, 3)
		} else {
			w.bits(0, 3)
		}
	}
	code := func(s uint8) uint32 { return uint32(bits.Reverse8(s) >> 4) }
	for _, s := range h.sizes {
		w.bits(code(s), 4)
	}
	w.bits(code(1), 4) // the distance
}

// body writes bytes, and long runs of zeros as matches of the byte before.
func (h *huffman) body(w *writer, src []byte) {
	codes := (*[256]uint32)(h.codes[:256])
	dst, at, acc, n := w.dst, w.at, w.acc, w.n
	i := 0
	for ; i+8 <= len(src); i += 8 {
		v := binary.LittleEndian.Uint64(src[i:])
		if v == 0 && i > 0 && src[i-1] == 0 {
			if run := zeros(src[i:]); run >= shortest {
				w.at, w.acc, w.n = at, acc, n
				i += h.run(w, run) - 8
				at, acc, n = w.at, w.acc, w.n
				continue
			}
		}
		a, b, c, d := codes[byte(v)], codes[byte(v>>8)], codes[byte(v>>16)], codes[byte(v>>24)]
		acc |= uint64(a&0xffff) << (n & 63)
		n += uint(a >> 16)
		acc |= uint64(b&0xffff) << (n & 63)
		n += uint(b >> 16)
		acc |= uint64(c&0xffff) << (n & 63)
		n += uint(c >> 16)
		acc |= uint64(d&0xffff) << (n & 63)
		n += uint(d >> 16)
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
		a, b, c, d = codes[byte(v>>32)], codes[byte(v>>40)], codes[byte(v>>48)], codes[byte(v>>56)]
		acc |= uint64(a&0xffff) << (n & 63)
		n += uint(a >> 16)
		acc |= uint64(b&0xffff) << (n & 63)
		n += uint(b >> 16)
		acc |= uint64(c&0xffff) << (n & 63)
		n += uint(c >> 16)
		acc |= uint64(d&0xffff) << (n & 63)
		n += uint(d >> 16)
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	w.at, w.acc, w.n = at, acc, n
	for _, b := range src[i:] {
		w.bits(codes[b]&0xffff, uint(codes[b]>>16))
	}
	c := h.codes[endOfBlock]
	w.bits(c&0xffff, uint(c>>16))
}

// run writes matches for most of a run of zeros after a zero, and returns for how many.
func (h *huffman) run(w *writer, run int) (done int) {
	for _, m := range matches {
		for ; run-done >= m.length; done += m.length {
			c := h.codes[m.symbol]
			w.bits(c&0xffff, uint(c>>16)+m.bits+1) // the distance 1 is a bit of 0
		}
	}
	return done
}

// zeros returns how many bytes are zero.
func zeros(p []byte) int {
	i := 0
	for ; i+8 <= len(p) && binary.LittleEndian.Uint64(p[i:]) == 0; i += 8 {
	}
	for ; i < len(p) && p[i] == 0; i++ {
	}
	return i
}
