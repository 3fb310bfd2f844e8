package inflate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"sync"
)

// ErrChecksum is the error of data that was changed after it was compressed.
var ErrChecksum = errors.New("the checksum of the data differs")

// decoder has the tables of the current block.
type decoder struct {
	lit     [litSize]entry
	dist    [distSize]entry
	lengths [320]uint8
	codes   [1 << 7]entry // of the lengths

	src, dst []byte
	pos      int // next byte of src
	n        int // bytes of dst
	window   uint64
	have     uint // bits in window
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// Zlib decompresses src to dst, and returns the number of bytes. It stops at the end of the stream, whose
// checksum it verifies, or where the stream has more data than dst has room for. A stream that is damaged or
// truncated is an error.
func Zlib(dst, src []byte) (int, error) {
	if len(src) < 2 || src[0]&15 != 8 || src[0]>>4 > 7 || (int(src[0])<<8|int(src[1]))%31 != 0 || src[1]&32 != 0 {
		return 0, errors.New("the data does not begin with a zlib header")
	}
	d := decoders.Get().(*decoder)
	defer func() {
		d.src, d.dst = nil, nil
		decoders.Put(d)
	}()
	d.src, d.dst, d.pos, d.n, d.window, d.have = src, dst, 2, 0, 0, 0
	last := false
	for !last {
		var err error
		last, err = d.block()
		if errors.Is(err, errFull) {
			return d.n, nil
		}
		if err != nil {
			return d.n, fmt.Errorf("at byte %d of %d: %w", d.pos, len(src), err)
		}
	}
	return d.n, d.checksum()
}

// checksum compares the checksum that follows the last block.
func (d *decoder) checksum() error {
	at := d.pos - int(d.have/8) // whole bytes that were not used
	if at+4 > len(d.src) {
		return errTruncated
	}
	if binary.BigEndian.Uint32(d.src[at:]) != adler32.Checksum(d.dst[:d.n]) {
		return ErrChecksum
	}
	return nil
}

var (
	errTruncated = errors.New("the data is truncated")
	errCode      = errors.New("a code that is not defined")
	errFull      = errors.New("the stream has more data")
)

// refill adds bytes to the window until it has more than 56 bits, or there are none.
func (d *decoder) refill() {
	for d.have <= 56 && d.pos < len(d.src) {
		d.window |= uint64(d.src[d.pos]) << d.have
		d.pos++
		d.have += 8
	}
}

// take returns the next n bits, at most 16.
func (d *decoder) take(n uint) (int, error) {
	if d.have < n {
		if d.refill(); d.have < n {
			return 0, errTruncated
		}
	}
	v := d.window & (1<<n - 1)
	d.window >>= n
	d.have -= n
	return int(v), nil
}

// block decodes one block, and reports whether it is the last one.
func (d *decoder) block() (last bool, err error) {
	head, err := d.take(3)
	if err != nil {
		return false, err
	}
	switch head >> 1 {
	case 0:
		err = d.storedBlock()
	case 1:
		d.fixedCodes()
		err = d.symbols()
	case 2:
		if err = d.dynamicCodes(); err == nil {
			err = d.symbols()
		}
	default:
		err = errors.New("a block of type 3")
	}
	return head&1 == 1, err
}

func (d *decoder) storedBlock() error {
	d.pos -= int(d.have / 8)
	d.window, d.have = 0, 0
	if len(d.src)-d.pos < 4 {
		return errTruncated
	}
	size := int(binary.LittleEndian.Uint16(d.src[d.pos:]))
	if size != int(^binary.LittleEndian.Uint16(d.src[d.pos+2:])) {
		return errors.New("a stored block whose sizes differ")
	}
	d.pos += 4
	n := copy(d.dst[d.n:], d.src[d.pos:min(d.pos+size, len(d.src))])
	d.n += n
	d.pos += n
	switch {
	case n == size:
		return nil
	case d.n == len(d.dst):
		return errFull
	}
	return errTruncated
}

func (d *decoder) fixedCodes() {
	l := d.lengths[:288]
	for i := range l {
		switch {
		case i < 144:
			l[i] = 8
		case i < 256:
			l[i] = 9
		case i < 280:
			l[i] = 7
		default:
			l[i] = 8
		}
	}
	build(d.lit[:], litBits, litSymbols[:], l)
	pair(d.lit[:])
	dist := d.lengths[288:]
	for i := range dist {
		dist[i] = 5
	}
	build(d.dist[:], distBits, distSymbols[:], dist)
}

// lengthOrder is the order in which the lengths of the codes of lengths are stored.
var lengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthSymbols are the symbols of the codes of lengths.
var lengthSymbols = func() (s [19]entry) {
	for i := range s {
		s[i] = makeEntry(literal1, 0, i)
	}
	return s
}()

func (d *decoder) dynamicCodes() error {
	counts, err := d.take(14)
	if err != nil {
		return err
	}
	lits, dists, codes := counts&31+257, counts>>5&31+1, counts>>10+4
	if lits > 286 || dists > 30 {
		return fmt.Errorf("%d codes of literals and %d of distances", lits, dists)
	}
	var small [19]uint8
	for _, s := range lengthOrder[:codes] {
		v, err := d.take(3)
		if err != nil {
			return err
		}
		small[s] = uint8(v)
	}
	if !build(d.codes[:], 7, lengthSymbols[:], small[:]) {
		return errors.New("codes of lengths that are not a complete code")
	}
	all := d.lengths[:lits+dists]
	if err := d.readLengths(all); err != nil {
		return err
	}
	if all[256] == 0 {
		return errors.New("no code for the end of the block")
	}
	if !build(d.lit[:], litBits, litSymbols[:], all[:lits]) || !build(d.dist[:], distBits, distSymbols[:], all[lits:]) {
		return errors.New("codes that are not complete")
	}
	pair(d.lit[:])
	return nil
}

// readLengths decodes the lengths of the codes of literals and distances.
func (d *decoder) readLengths(all []uint8) error {
	for i := 0; i < len(all); {
		d.refill()
		e := d.codes[d.window&(1<<7-1)]
		if e == 0 {
			return errCode
		}
		if e.width() > d.have {
			return errTruncated
		}
		d.window >>= e.width()
		d.have -= e.width()
		symbol := e.value()
		if symbol < 16 {
			all[i] = uint8(symbol)
			i++
			continue
		}
		value, base, extra := uint8(0), 3, uint(3)
		switch symbol {
		case 16:
			if i == 0 {
				return errors.New("a repeated length without one before it")
			}
			value, extra = all[i-1], 2
		case 18:
			base, extra = 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		n := base + more
		if n > len(all)-i {
			return errors.New("more lengths than codes")
		}
		for range n {
			all[i] = value
			i++
		}
	}
	return nil
}

// symbols decodes literals and matches up to the end of the block. It returns errFull when dst is full.
func (d *decoder) symbols() error {
	done, err := d.fast()
	for !done && err == nil {
		done, err = d.slow()
	}
	return err
}

// margin is how much of dst the fast loop may write beyond what it decodes: 5 pairs of literals, or
// the longest match rounded up.
const margin = 258 + 16

// fast decodes while input and output are far from their ends. It reports whether the block has ended.
func (d *decoder) fast() (bool, error) {
	src, dst, pos, n, window, have := d.src, d.dst, d.pos, d.n, d.window, d.have
	lit, dist := &d.lit, &d.dist
	done := false
	var err error
loop:
	for pos+8 <= len(src) && n+margin <= len(dst) {
		window |= binary.LittleEndian.Uint64(src[pos:]) << (have & 63)
		pos += int(63-have) >> 3
		have |= 56
		e := lit[window&(1<<litBits-1)]
		if e.isShort() { // up to four entries of at most 11 bits
			out := dst[n : n+8 : n+8]
			binary.LittleEndian.PutUint16(out, uint16(e>>16))
			at := int(e>>8) & 3
			window >>= e & 63
			have -= uint(e & 63)
			if e = lit[window&(1<<litBits-1)]; e.isShort() {
				binary.LittleEndian.PutUint16(out[at:], uint16(e>>16))
				at += int(e>>8) & 3
				window >>= e & 63
				have -= uint(e & 63)
				if e = lit[window&(1<<litBits-1)]; e.isShort() {
					binary.LittleEndian.PutUint16(out[at:], uint16(e>>16))
					at += int(e>>8) & 3
					window >>= e & 63
					have -= uint(e & 63)
					if e = lit[window&(1<<litBits-1)]; e.isShort() {
						binary.LittleEndian.PutUint16(out[at:], uint16(e>>16))
						at += int(e>>8) & 3
						window >>= e & 63
						have -= uint(e & 63)
						n += at
						continue
					}
				}
			}
			n += at
			if pos+8 > len(src) {
				break
			}
			window |= binary.LittleEndian.Uint64(src[pos:]) << (have & 63)
			pos += int(63-have) >> 3
			have |= 56
		}
		if e.kind() == link {
			window >>= e.width()
			have -= e.width()
			e = lit[(e.value()+int(window&(1<<e.extra()-1)))%litSize]
		}
		window >>= e.width()
		have -= e.width()
		switch e.kind() {
		case literal1:
			dst[n] = byte(e.value())
			n++
			continue
		case literal2: // only in the first table
			dst[n], dst[n+1] = byte(e.value()), byte(e.value()>>8)
			n += 2
			continue
		case end:
			done = true
			break loop
		case invalid:
			err = errCode
			break loop
		}
		length := e.value() + int(window&(1<<e.extra()-1))
		window >>= e.extra()
		have -= e.extra()
		e = dist[window&(1<<distBits-1)]
		if e.kind() == link {
			window >>= distBits
			have -= distBits
			e = dist[(e.value()+int(window&(1<<e.extra()-1)))%distSize]
		}
		window >>= e.width()
		have -= e.width()
		distance := e.value() + int(window&(1<<e.extra()-1))
		window >>= e.extra()
		have -= e.extra()
		if e.kind() != match || distance > n {
			err = errDistance
			break
		}
		if distance >= 8 { // the first 8 bytes are often all
			binary.LittleEndian.PutUint64(dst[n:], binary.LittleEndian.Uint64(dst[n-distance:]))
		}
		if distance < 8 || length > 8 {
			copyMatch(dst, n, distance, length)
		}
		n += length
	}
	d.pos, d.n, d.window, d.have = pos, n, window&(1<<have-1), have
	return done, err
}

var errDistance = errors.New("a match that begins before the data")

// copyMatch repeats bytes. It may write up to 15 bytes beyond the match.
func copyMatch(dst []byte, n, distance, length int) {
	from := n - distance
	switch {
	case distance >= 8:
		for i := 0; i < length; i += 8 {
			binary.LittleEndian.PutUint64(dst[n+i:], binary.LittleEndian.Uint64(dst[from+i:]))
		}
	case distance == 1:
		v := uint64(dst[from]) * 0x0101010101010101
		for i := 0; i < length; i += 8 {
			binary.LittleEndian.PutUint64(dst[n+i:], v)
		}
	default:
		for i := range length {
			dst[n+i] = dst[from+i]
		}
	}
}

// slow decodes one symbol near the end of input or output.
func (d *decoder) slow() (bool, error) {
	d.refill()
	e, err := d.lookup(d.lit[:], litBits)
	if err != nil {
		return false, err
	}
	switch e.kind() {
	case literal1, literal2:
		for v, count := e.value(), e.kind(); count > 0; count-- {
			if d.n == len(d.dst) {
				return true, errFull
			}
			d.dst[d.n] = byte(v)
			v >>= 8
			d.n++
		}
		return false, nil
	case end:
		return true, nil
	}
	more, err := d.take(e.extra())
	if err != nil {
		return false, err
	}
	length := e.value() + more
	d.refill()
	e, err = d.lookup(d.dist[:], distBits)
	if err != nil {
		return false, err
	}
	more, err = d.take(e.extra())
	if err != nil {
		return false, err
	}
	distance := e.value() + more
	if distance > d.n {
		return false, errDistance
	}
	for range length {
		if d.n == len(d.dst) {
			return true, errFull
		}
		d.dst[d.n] = d.dst[d.n-distance]
		d.n++
	}
	return false, nil
}

// lookup takes the next code. A stream ends with a checksum, so a pair of literals never
// begins in its last bits.
func (d *decoder) lookup(table []entry, index uint) (entry, error) {
	e := table[d.window&(1<<index-1)]
	if e.kind() == link {
		if d.have < index {
			return 0, errTruncated
		}
		d.window >>= index
		d.have -= index
		e = table[e.value()+int(d.window&(1<<e.extra()-1))]
	}
	if e.kind() == invalid {
		return 0, errCode
	}
	if e.width() > d.have {
		return 0, errTruncated
	}
	d.window >>= e.width()
	d.have -= e.width()
	return e, nil
}
