package archive

import (
	"encoding/binary"
	"slices"
)

// DEFLATE finds repetitions within 32 KiB, which is less than most modules. The text of all
// modules is therefore first divided into literal bytes and copies of earlier text at any
// distance. It is stored in blocks:
//
//	length of the steps, steps, literal bytes
//
// A step has three numbers: how many literal bytes follow, how many bytes are copied after
// them, and how much farther back than in the last step the copy starts. All numbers have a
// variable length. After a difference, such as the number of a register, the next copy
// usually starts at the same distance. A copy does not overlap its origin, so any part of the
// text can be read without the text before it.

const (
	shortest = 32      // copy at another distance than the last one
	again    = 8       // copy at the same distance
	seed     = 16      // bytes whose hash finds earlier text
	tries    = 64      // places that are compared
	enough   = 1000    // length of a copy that ends the search
	hashBits = 18      // of the table of earlier text
	farthest = 1 << 28 // length of a text
)

// repeats divides a text into blocks.
type repeats struct {
	text   string
	newest []int32 // place + 1, by hash
	older  []int32 // place + 1 of earlier text with the same hash
	known  int     // text before this place has been entered
	done   int     // text before this place is in a block

	// The current block.
	steps, literals []byte
	distance        int // of the last step
}

func newRepeats(text string) *repeats {
	return &repeats{text: text, newest: make([]int32, 1<<hashBits), older: make([]int32, len(text))}
}

// size returns the size of the current block.
func (r *repeats) size() int { return len(r.steps) + len(r.literals) }

// extend adds the text before end to the current block.
func (r *repeats) extend(end int) {
	start := r.done // of the literal bytes of the next step
	for at := start; at < end; {
		length, distance := r.longest(at, end)
		if length == 0 {
			at++
			continue
		}
		if next, d := r.longest(at+1, end); next > length+1 {
			at, length, distance = at+1, next, d
		}
		r.step(r.text[start:at], length, distance)
		at += length
		start = at
	}
	if start < end {
		r.step(r.text[start:end], 0, r.distance)
	}
	r.done = end
}

func (r *repeats) step(literals string, length, distance int) {
	r.literals = append(r.literals, literals...)
	r.steps = binary.AppendUvarint(r.steps, uint64(len(literals)))
	r.steps = binary.AppendUvarint(r.steps, uint64(length))
	r.steps = binary.AppendVarint(r.steps, int64(distance-r.distance))
	r.distance = distance
}

// block returns the current block and begins the next one.
func (r *repeats) block() []byte {
	b := slices.Concat(binary.AppendUvarint(nil, uint64(len(r.steps))), r.steps, r.literals)
	r.steps, r.literals, r.distance = nil, nil, 0
	return b
}

// longest finds earlier text that equals the text at a place.
func (r *repeats) longest(at, end int) (length, distance int) {
	if r.distance > 0 && at >= r.distance {
		if n := r.common(at-r.distance, at, end); n >= again {
			length, distance = n, r.distance
		}
	}
	if at+seed > end {
		return length, distance
	}
	for ; r.known < at; r.known++ {
		h := hash(r.text[r.known:])
		r.older[r.known], r.newest[h] = r.newest[h], int32(r.known)+1
	}
	place := r.newest[hash(r.text[at:])]
	for n := 0; place > 0 && n < tries && length < enough; n++ {
		from := int(place) - 1
		if m := r.common(from, at, end); m >= shortest && m > length+4 {
			length, distance = m, at-from
		}
		place = r.older[from]
	}
	return length, distance
}

func hash(s string) uint32 {
	h := uint64(0)
	for i := 0; i < seed; i += 8 {
		v := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 | uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		h = (h ^ v) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return uint32(h) >> (32 - hashBits)
}

// common returns how many bytes at two places are equal, up to the second place and end.
func (r *repeats) common(from, at, end int) int {
	n := 0
	for most := min(at-from, end-at); n < most && r.text[from+n] == r.text[at+n]; {
		n++
	}
	return n
}

// block is a decoded block: the text between two offsets.
type block struct {
	pieces   []piece // the last one is where the block ends
	literals string
}

// piece is a part of the text, which ends where the next one begins.
type piece struct {
	at   int32 // offset in the text
	from int32 // of a copy: offset in the text; of literal bytes: minus their offset, less 1
}

// readBlock decodes the block with the text from begin to end.
func readBlock(data string, begin, end int) (*block, error) {
	head := reader{data}
	size := head.number()
	if head.failed() || size > len(head.rest) {
		return nil, errDamaged
	}
	steps, b := reader{head.rest[:size]}, &block{literals: head.rest[size:]}
	b.pieces = make([]piece, 0, size/2) // a step has three bytes or more, and at most two pieces
	at, used, distance := begin, 0, 0
	for steps.rest != "" {
		literal, n, farther := steps.number(), steps.number(), steps.number()
		distance += farther>>1 ^ -(farther & 1)
		copied := at + literal
		if steps.failed() || literal > len(b.literals)-used || copied+n > end || n > 0 && (distance < n || distance > copied) {
			return nil, errDamaged
		}
		if literal > 0 {
			b.pieces = append(b.pieces, piece{int32(at), int32(-used - 1)})
		}
		if n > 0 {
			b.pieces = append(b.pieces, piece{int32(copied), int32(copied - distance)})
		}
		at, used = copied+n, used+literal
	}
	if at != end {
		return nil, errDamaged
	}
	b.pieces = append(b.pieces, piece{at: int32(end)})
	return b, nil
}

// appendText appends n bytes of the text at an offset to out. blockAt returns the block of an offset.
func appendText(out []byte, at, n int, blockAt func(int) (*block, error)) ([]byte, error) {
	b, err := blockAt(at)
	if err != nil {
		return nil, err
	}
	i, found := slices.BinarySearchFunc(b.pieces, at, func(p piece, at int) int { return int(p.at) - at })
	if !found {
		i--
	}
	for ; n > 0 && i < len(b.pieces)-1; i++ {
		p, size := b.pieces[i], min(n, int(b.pieces[i+1].at)-at)
		from := int(p.from) + at - int(p.at)
		if p.from < 0 {
			from = -int(p.from) - 1 + at - int(p.at)
			out = append(out, b.literals[from:from+size]...)
		} else if out, err = appendText(out, from, size, blockAt); err != nil {
			return nil, err
		}
		at, n = at+size, n-size
	}
	if n > 0 {
		return appendText(out, at, n, blockAt)
	}
	return out, nil
}
