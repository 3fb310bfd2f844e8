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

type shape struct {
	Corners [4]struct{ Tags map[string]int }
	Area    float64
}

//quern:kernel
func mapInStruct(t kernel.Thread, in []shape, out []float64) {
	out[0] = in[0].Area
}

type mesh struct {
	Size    int32
	Indices []int32
}

//quern:kernel
func sliceInStruct(t kernel.Thread, m mesh, list []struct{ Inner [2]mesh }) {}

type tree struct {
	Value float32
	Links [2]*float32
}

//quern:kernel
func pointerInStruct(t kernel.Thread, forest []tree) {}

//quern:kernel
func localWithString(t kernel.Thread, out []float32) {
	var a [3]labelled
	b := labelled{v: 2}
	out[0] = a[1].v + b.v
}

//quern:kernel
func chanOfComplex(t kernel.Thread, c chan complex128, f func(), u uintptr) {}
