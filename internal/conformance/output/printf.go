package output

import "quern.dev/kernel"

type celsius float32

// report prints values of every type.
//
//quern:kernel
func report(t kernel.Thread, big int, flags []bool, x []float64) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	kernel.Printf("thread %d: %v\n", i, flags[i])
	line(int8(-i), uint16(i)+65535, x[i])
	for k := range 3 {
		kernel.Printf("%d.%d %5.2f|%s|%x %d%%\n", i, k, float32(k)/4, "constant %d", uint32(i)<<28, uint64(big))
	}
	kernel.Printf("%v %v %g\n", int64(big), celsius(36.5), 2.0)
	kernel.Printf("done\n")
}

func line(a int8, b uint16, x float64) { kernel.Printf("%d %d %v\n", a, b, x) }

// chatter prints more than fits the buffer.
//
//quern:kernel
func chatter(t kernel.Thread, n int) {
	for k := range n {
		kernel.Printf("%d %d\n", t.Global(), k)
	}
}
