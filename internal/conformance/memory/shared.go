package memory

import "quern.dev/kernel"

// reverse reverses the elements of each block in dynamic shared memory.
//
//quern:kernel
func reverse(t kernel.Thread, x []int32) {
	s := kernel.Dynamic[int32](t)
	n := t.BlockDim.X
	i := t.Global()
	s[t.ThreadIdx.X] = x[i]
	t.Sync()
	x[i] = s[n-1-t.ThreadIdx.X]
}

// views reads the bytes of words through a second view of the same memory, and the lengths
// of views.
//
//quern:kernel
func views(t kernel.Thread, words []uint32, bytes []uint8, lengths []int) {
	w := kernel.Dynamic[uint32](t)
	if t.ThreadIdx.X < len(w) {
		w[t.ThreadIdx.X] = words[t.ThreadIdx.X]
	}
	t.Sync()
	b := kernel.Dynamic[uint8](t)
	for i := t.ThreadIdx.X; i < len(bytes); i += t.BlockDim.X {
		bytes[i] = b[i]
	}
	if t.ThreadIdx.X == 0 {
		lengths[0], lengths[1] = len(w), len(b)
		lengths[2] = len(kernel.Dynamic[[3]float64](t))
		lengths[3] = cap(kernel.Dynamic[int16](t)[1:3])
	}
}

// beside uses both static and dynamic shared memory.
//
//quern:kernel
func beside(t kernel.Thread, x []float32) {
	total := kernel.Shared[float32](t)
	s := kernel.Dynamic[float32](t)
	i := t.ThreadIdx.X
	s[i] = x[t.Global()]
	t.Sync()
	if i == 0 {
		sum := float32(0)
		for _, v := range s[:t.BlockDim.X] {
			sum += v
		}
		*total = sum
	}
	t.Sync()
	x[t.Global()] = *total - s[i]
}

// half returns the second half of the dynamic shared memory.
func half(t kernel.Thread) []int32 {
	s := kernel.Dynamic[int32](t)
	return s[len(s)/2:]
}

// throughFunction accesses the memory through a function.
//
//quern:kernel
func throughFunction(t kernel.Thread, out []int32) {
	if i := t.ThreadIdx.X; i < len(half(t)) {
		half(t)[i] = int32(i * i)
	}
	t.Sync()
	s := kernel.Dynamic[int32](t)
	h := len(s) / 2
	for i := t.ThreadIdx.X; i < len(s)-h; i += t.BlockDim.X {
		out[i] = s[h+i]
	}
}

// outside indexes past the end of the dynamic shared memory of the launch.
//
//quern:kernel
func outside(t kernel.Thread, out []int32) {
	s := kernel.Dynamic[int32](t)
	s[t.ThreadIdx.X] = 1
	out[t.ThreadIdx.X] = s[t.ThreadIdx.X]
}

// large has 64 KiB of static shared memory, more than the 48 KiB that need no opt-in. Each
// thread touches both ends.
//
//quern:kernel
func large(t kernel.Thread, x []float32) {
	flag := kernel.Shared[[3]uint8](t)
	a := kernel.Shared[[2][8192]float32](t)
	d := kernel.Dynamic[float32](t)
	i := t.ThreadIdx.X
	a[0][i] = x[t.Global()]
	a[1][8191-i] = x[t.Global()] * 2
	if i < len(d) {
		d[i] = 100
	}
	if i == 0 {
		flag[2] = 7
	}
	t.Sync()
	n := t.BlockDim.X
	x[t.Global()] = a[0][n-1-i] + a[1][8191-(n-1-i)] + d[i%len(d)] + float32(flag[2])
}
