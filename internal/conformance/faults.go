package conformance

import "quern.dev/kernel"

// Kernels that fail, each in one way, in a thread that the input selects.

//quern:kernel
func indexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	i := t.Global()
	if i < len(out) {
		out[i] = 1
	}
	if i == at {
		out[i] = in[i+len(in)]
	}
}

//quern:kernel
func negativeIndex(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		out[i] = in[i-at-3]
	}
}

//quern:kernel
func arrayIndexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	var v [8]int32
	for k := range v {
		v[k] = in[k]
	}
	if i := t.Global(); i == at {
		out[i] = v[in[i]]
	}
}

//quern:kernel
func sharedIndexOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	s := kernel.Shared[[16]int32](t)
	if t.ThreadIdx.X < 16 {
		s[t.ThreadIdx.X] = 1
	}
	t.Sync()
	if i := t.Global(); i == at {
		out[i] = s[in[i]]
	}
}

//quern:kernel
func divisionByZero(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i < len(in) {
		d := int32(1)
		if i == at {
			d = in[i] - 1000
		}
		out[i] = in[i] / d
	}
}

//quern:kernel
func negativeShift(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		out[i] = 1 << (int32(i) - int32(at) - 1)
	}
}

//quern:kernel
func sliceOutOfRange(t kernel.Thread, at int, in []int32, out []int32) {
	if i := t.Global(); i == at {
		part := in[2 : len(in)+1]
		out[i] = part[0]
	}
}

//quern:kernel
func panics(t kernel.Thread, at int, in []int32, out []int32) {
	if t.Global() == at {
		panic("negative weight")
	}
}
