package p

import (
	"fmt"
	"math"
	"math/rand"
	"sync"
	"sync/atomic"

	"quern.dev/kernel"
)

func even(n int) bool {
	if n == 0 {
		return true
	}
	return odd(n - 1)
}

func odd(n int) bool {
	if n == 0 {
		return false
	}
	return even(n - 1)
}

//quern:kernel
func recursive(t kernel.Thread, out []int32) {
	if even(t.Global()) {
		out[0] = 1
	}
}

//quern:kernel
func prints(t kernel.Thread, out []int32) {
	fmt.Println(out[0])
}

//quern:kernel
func hostFunctions(t kernel.Thread, out []int32) {
	out[0] = rand.Int31()
	atomic.AddInt32(&out[0], 1)
}

func sum(values ...int32) (total int32) {
	for _, v := range values {
		total += v
	}
	return total
}

//quern:kernel
func variadicCall(t kernel.Thread, out []int32) {
	out[0] = sum(1, 2, 3)
}

type shape interface{ area() float32 }

func areaOf(s shape) float32 { return s.area() }

//quern:kernel
func interfaceCall(t kernel.Thread, out []float32) {
	var s shape
	out[0] = areaOf(s)
}

//quern:kernel
func inLibrary(t kernel.Thread, out []float64) {
	out[0] = math.Gamma(out[1])
}

var (
	mutex   sync.Mutex
	pending sync.WaitGroup
	total   atomic.Int64
)

//quern:kernel
func locks(t kernel.Thread, x []int32) {
	var local sync.Mutex
	local.Lock()
	mutex.Lock()
	x[0]++
	mutex.Unlock()
	pending.Wait()
	total.Add(1)
}
