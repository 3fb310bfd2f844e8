package p

import "quern.dev/kernel"

//quern:kernel
func usesGoroutine(t kernel.Thread, out []int32) {
	go func() { out[0] = 1 }()
}

//quern:kernel
func usesDefer(t kernel.Thread, out []int32) {
	defer t.Sync()
}

//quern:kernel
func usesChannel(t kernel.Thread, out []int32) {
	c := make(chan int32, 1)
	c <- 1
	out[0] = <-c
	select {
	case v := <-c:
		out[1] = v
	}
	close(c)
}

//quern:kernel
func usesGoto(t kernel.Thread, out []int32) {
again:
	if out[0] > 0 {
		goto again
	}
}

//quern:kernel
func rangesOverFunction(t kernel.Thread, out []int32) {
	for i := range func(yield func(int) bool) { yield(1) } {
		out[i] = 1
	}
}

//quern:kernel
func allocates(t kernel.Thread, out []int32) {
	tmp := make([]int32, 8)
	tmp = append(tmp, 1)
	p := new(int32)
	lit := []int32{1, 2}
	copy(out, tmp)
	out[0] = *p + lit[0]
}

//quern:kernel
func severalAtOnce(t kernel.Thread, out []int32) {
	m := map[int]int{}
	println(m)
	s := "x" + "y"
	_ = s
	go usesGoto(t, out)
}

//quern:kernel
func recovers(t kernel.Thread, out []int32) {
	recover()
}

const word = "abc"

//quern:kernel
func stringsThatAreNotTables(t kernel.Thread, out []uint8) {
	for _, r := range word {
		out[0] += uint8(r)
	}
	part := word[1:]
	out[1] = part[0]
	var variable = "def"
	out[2] = variable[0]
	copy(out, variable)
}
