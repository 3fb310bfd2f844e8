package archive

import "encoding/binary"

// DEFLATE finds repetitions within 32 KiB, which is less than most modules. Modules of a
// section are therefore first divided into literal bytes and copies of earlier text at any
// distance:
//
//	length of the text, length of the steps, steps, literal bytes
//
// A step has three numbers: how many literal bytes follow, how many bytes are copied after
// them, and how much farther back than in the last step the copy starts. All numbers have a
// variable length. After a difference, such as the number of a register, the next copy
// usually starts at the same distance.

const (
	shortest = 24      // copy at another distance than the last one
	again    = 8       // copy at the same distance
	seed     = 8       // bytes whose hash finds earlier text
	tries    = 64      // places that are compared
	hashBits = 16      // of the table of earlier text
	farthest = 1 << 28 // length of a text
)

// withoutRepeats returns the encoded form of a text.
func withoutRepeats(text string) []byte {
	var (
		steps, literals []byte
		newest          = make([]int32, 1<<hashBits) // place + 1, by hash
		older           = make([]int32, len(text))   // place + 1 of earlier text with the same hash
		known           = 0                          // text before this place has been entered
		start           = 0                          // of the literal bytes of the next step
		last            = 0                          // distance
	)
	enter := func(end int) {
		for ; known < end && known+seed <= len(text); known++ {
			h := hash(text[known:])
			older[known], newest[h] = newest[h], int32(known)+1
		}
	}
	longest := func(at int) (length, distance int) {
		if last > 0 && at >= last {
			if n := common(text, at-last, at); n >= again {
				length, distance = n, last
			}
		}
		if at+seed > len(text) {
			return length, distance
		}
		enter(at)
		place := newest[hash(text[at:])]
		for n := 0; place > 0 && n < tries; n++ {
			from := int(place) - 1
			if m := common(text, from, at); m >= shortest && m > length+4 {
				length, distance = m, at-from
			}
			place = older[from]
		}
		return length, distance
	}
	for at := 0; at < len(text); {
		length, distance := longest(at)
		if length == 0 {
			at++
			continue
		}
		if next, d := longest(at + 1); next > length+1 {
			at, length, distance = at+1, next, d
		}
		literals = append(literals, text[start:at]...)
		steps = binary.AppendUvarint(steps, uint64(at-start))
		steps = binary.AppendUvarint(steps, uint64(length))
		steps = binary.AppendVarint(steps, int64(distance-last))
		at, last = at+length, distance
		start = at
	}
	literals = append(literals, text[start:]...)
	out := binary.AppendUvarint(nil, uint64(len(text)))
	out = binary.AppendUvarint(out, uint64(len(steps)))
	return append(append(out, steps...), literals...)
}

func hash(s string) uint32 {
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return uint32(v * 0x9e3779b97f4a7c15 >> (64 - hashBits))
}

// common returns how many bytes at two places of a text are equal.
func common(text string, a, b int) int {
	n := 0
	for b+n < len(text) && text[a+n] == text[b+n] {
		n++
	}
	return n
}

// withRepeats returns the first bytes, as many as wanted, of the text that withoutRepeats was
// called with.
func withRepeats(data string, wanted int) (string, error) {
	head := reader{data}
	length, size := head.number(), head.number()
	if head.failed() || length > farthest || wanted > length || size > len(head.rest) {
		return "", errDamaged
	}
	steps, literals := reader{head.rest[:size]}, head.rest[size:]
	text := make([]byte, 0, wanted)
	distance := 0
	for steps.rest != "" && len(text) < wanted {
		literal, n, farther := steps.number(), steps.number(), steps.number()
		if steps.failed() || literal > len(literals) {
			return "", errDamaged
		}
		text = append(text, literals[:literal]...)
		literals = literals[literal:]
		distance += farther>>1 ^ -(farther & 1)
		if distance <= 0 || distance > len(text) || n > length-len(text) {
			return "", errDamaged
		}
		from := len(text) - distance
		for n = min(n, max(0, wanted-len(text))); n > 0; {
			part := min(n, len(text)-from)
			text = append(text, text[from:from+part]...)
			from, n = from+part, n-part
		}
	}
	if len(text) < wanted {
		if wanted-len(text) > len(literals) {
			return "", errDamaged
		}
		text = append(text, literals[:wanted-len(text)]...)
	}
	return string(text[:wanted]), nil
}
