package types

import (
	"math"

	"quern.dev/kernel"
)

const (
	digits          = "0123456789abcdef"
	bases           = "AC" + "GT"
	mixed           = "é\x00\xff\"\\`\n日"
	nothing         = ""
	alphabet string = digits + bases
)

// hexadecimal writes numbers as text of eight bytes each.
//
//quern:kernel
func hexadecimal(t kernel.Thread, x []uint32, out []uint8) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	for k := range 8 {
		out[8*i+k] = digits[x[i]>>(28-4*k)&15]
	}
}

// complement uses the index of a byte in a string as the index into a table.
//
//quern:kernel
func complement(t kernel.Thread, in, out []uint8) {
	i := t.Global()
	if i >= len(in) || i >= len(out) {
		return
	}
	out[i] = '?'
	for k := 0; k < len(bases); k++ {
		if in[i] == bases[k] {
			out[i] = bases[len(bases)-1-k]
		}
	}
}

// letters has strings of all kinds: not valid UTF-8, concatenated, equal, in an
// expression, and empty.
//
//quern:kernel
func letters(t kernel.Thread, index []int64, out [][6]uint8) {
	i := t.Global()
	if i >= len(index) || i >= len(out) {
		return
	}
	k := index[i]
	row := &out[i]
	row[0] = mixed[k%int64(len(mixed))]
	row[1] = alphabet[uint8(k)%20]
	row[2] = ("ab" + "cd")[k&3] + "abcd"[k&3]
	row[3] = "xyz"[1]
	row[4] = uint8(len(nothing) + len(alphabet) + len("日"))
	var joined [8]uint8
	n := copy(joined[2:], mixed) + copy(joined[:], "x") + copy(joined[1:], nothing)
	row[4] += joined[k&7] + uint8(n)
	if k < -math.MaxInt32 {
		row[5] = nothing[k]
	}
}

// letterAt faults if the index is out of range.
//
//quern:kernel
func letterAt(t kernel.Thread, index []int32, out []uint8) {
	i := t.Global()
	out[i] = bases[index[i]]
}

// letterOfNothing always faults.
//
//quern:kernel
func letterOfNothing(t kernel.Thread, index []int32, out []uint8) {
	i := t.Global()
	out[i] = nothing[index[i]]
}
