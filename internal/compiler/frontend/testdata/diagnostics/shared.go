package p

import "quern.dev/kernel"

func buffer(t kernel.Thread) *[32]int32 { return kernel.Shared[[32]int32](t) }

func first(t kernel.Thread) int32 { return buffer(t)[0] }

type tile struct{ width int }

func (w tile) buffer(t kernel.Thread) *[32]int32 { return kernel.Shared[[32]int32](t) }

func apply(t kernel.Thread, f func(t kernel.Thread) *[32]int32) int32 { return f(t)[0] }

//quern:kernel block=32
func calledInLoop(t kernel.Thread, x []int32) {
	for k := range 3 {
		p := buffer(t)
		p[t.Lane()] = int32(k)
		x[t.Lane()] = p[t.Lane()] + first(t) + tile{4}.buffer(t)[0]
	}
}

//quern:kernel block=32
func closureInLoop(t kernel.Thread, x []int32) {
	own := func() *[32]int32 { return kernel.Shared[[32]int32](t) }
	named := buffer
	for range x {
		x[0] = own()[0] + named(t)[0]
		x[1] = apply(t, buffer)
	}
	x[2] = own()[0] + apply(t, buffer)
}

//quern:kernel block=32
func inCondition(t kernel.Thread, x []int32) {
	for i := 0; buffer(t)[0] > int32(i); i += int(kernel.Shared[[1]int32](t)[0]) {
		x[0]++
	}
}

// The call that stands in the loop is in a function.
func sum(t kernel.Thread, n int) (s int32) {
	for range n {
		s += first(t)
	}
	return s
}

//quern:kernel block=32
func loopInFunction(t kernel.Thread, x []int32) {
	x[0] = sum(t, len(x))
}

// Dynamic shared memory is the same in every call.
func dynamic(t kernel.Thread) []int32 { return kernel.Dynamic[int32](t) }

//quern:kernel block=32
func dynamicInLoop(t kernel.Thread, x []int32) {
	own := func() []int32 { return kernel.Dynamic[int32](t) }
	for i := range x {
		x[i] = dynamic(t)[i] + own()[i]
	}
}

//quern:kernel block=32
func inBranch(t kernel.Thread, x []int32) {
	if len(x) > 5 {
		kernel.Shared[[32]int32](t)[t.Lane()] = 1
	} else {
		x[0] = first(t)
	}
	switch x[1] {
	case 1:
		x[1] = buffer(t)[0]
	default:
		x[1] = kernel.Shared[[4]int32](t)[0]
	}
	if x[2] > 0 && first(t) > 0 {
		x[2] = 1
	}
	own := func() *[32]int32 { return kernel.Shared[[32]int32](t) }
	switch {
	case x[3] > 0:
		fallthrough
	case own()[0] > 0:
		x[3] = own()[0]
	}
}

// wide is a constant, which selects code.
const wide = true

//quern:kernel block=32
func selected(t kernel.Thread, x []int32) {
	if wide {
		x[0] = kernel.Shared[[32]int32](t)[0]
	}
	{
		x[1] = first(t)
	}
	if x[0] > 0 {
		return
	}
	x[2] = first(t)
}
