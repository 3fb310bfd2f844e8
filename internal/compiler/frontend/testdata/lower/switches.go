package p

import "quern.dev/kernel"

// A switch evaluates its tag once and tries the cases in order, default last.
//
//quern:kernel
func tag(t kernel.Thread, out []int32) {
	switch out[0] {
	default:
		out[1] = 1
	case 1, 2:
		out[1] = 2
	case 3:
	}
}

// Fallthrough runs the next body whatever its case says.
//
//quern:kernel
func through(t kernel.Thread, out []int32) {
	switch x := out[0] & 3; x {
	case 0:
		out[1] = 1
		fallthrough
	case 1:
		out[2] = 1
	default:
		out[3] = 1
	}
}

// A switch without a tag takes the first case that is true.
//
//quern:kernel
func tagless(t kernel.Thread, x int32, out []int32) {
	switch {
	case x < 0:
		out[0] = -1
	case x > 0:
		out[0] = 1
	}
}

// Break leaves the switch; continue continues the enclosing loop.
//
//quern:kernel
func leaving(t kernel.Thread, out []int32) {
	for i := range 4 {
		switch out[i] {
		case 0:
			if i > 2 {
				break
			}
			out[i] = 1
		case 1:
			continue
		}
		out[i]++
	}
}

// A case value that is a call is not evaluated if an earlier case matches.
//
//quern:kernel
func lazyCases(t kernel.Thread, x int32, out []int32) {
	switch x {
	case 1, bump(out, 0), bump(out, 1):
		out[2] = 1
	case bump(out, 3):
		out[2] = 2
	}
}

func bump(x []int32, i int) int32 {
	x[i]++
	return x[i]
}

// A switch on a bool with an else-less if inside.
//
//quern:kernel
func boolean(t kernel.Thread, b bool, out []int32) {
	switch b {
	case true:
		out[0] = 1
	case false:
		out[0] = 2
	}
}
