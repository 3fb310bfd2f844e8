package p

import "quern.dev/kernel"

type node struct {
	next *node
	v    int
}

type labelled struct {
	name string
	v    float32
}

//quern:kernel
func usesMap(t kernel.Thread, out []int32) {
	counts := map[int32]int32{}
	counts[out[0]]++
	if n, ok := counts[3]; ok {
		out[1] = n
	}
	delete(counts, 3)
}

//quern:kernel
func usesString(t kernel.Thread, out []int32) {
	s := "abc"
	for range s {
		out[0]++
	}
	out[1] = int32(s[0])
}

//quern:kernel
func stringParameter(t kernel.Thread, name string, out []int32) {}

//quern:kernel
func structWithString(t kernel.Thread, in []labelled) {}

//quern:kernel
func pointerParameter(t kernel.Thread, out *float32) {}

//quern:kernel
func sliceOfSlices(t kernel.Thread, rows [][]float32) {}

//quern:kernel
func sliceOfPointers(t kernel.Thread, rows []*float32) {}

//quern:kernel
func recursiveType(t kernel.Thread, list []node) {}

//quern:kernel
func usesInterface(t kernel.Thread, out []int32) {
	var v any = out[0]
	switch v := v.(type) {
	case int32:
		out[1] = v
	}
	out[2] = v.(int32)
}

//quern:kernel
func usesNil(t kernel.Thread, out []int32) {
	if out == nil {
		return
	}
}
