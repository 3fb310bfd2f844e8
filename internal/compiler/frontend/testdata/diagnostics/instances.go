package p

import "quern.dev/kernel"

//quern:kernel
func bare[T kernel.Number](t kernel.Thread, x []T) {}

//quern:kernel
func bareOfTwo[T, U any](t kernel.Thread, x []T, y []U) {}

//quern:kernel instantiate=float32
func notGeneric(t kernel.Thread, x []float32) {}

//quern:kernel instantiate=float32,Missing,notGeneric
func unknownTypes[T any](t kernel.Thread, x []T) {}

//quern:kernel instantiate=float32,bool
func unsatisfied[T kernel.Number](t kernel.Thread, x []T) {}

type summer interface{ Sum() int }

//quern:kernel instantiate=int32
func withoutMethod[T summer](t kernel.Thread, x []T, y []int) { y[0] = x[0].Sum() }

//quern:kernel instantiate=string,[]float32,*int32,summer,map[int]int
func notData[T any](t kernel.Thread, x []T) {}

//quern:kernel instantiate=float32,uint8,byte
func listedTwice[T any](t kernel.Thread, x []T) {}

//quern:kernel instantiate=float32,float32:int32:int8
func wrongCount[T, U any](t kernel.Thread, x []T, y []U) {}

//quern:kernel instantiate=
func nothing[T any](t kernel.Thread, x []T) {}

//quern:kernel instantiate=int32,uint64
func inTheBody[T kernel.Integer](t kernel.Thread, x []T) {
	m := map[T]T{}
	x[0] = m[0]
}

//quern:kernel instantiate=[2000]float64
func tooLarge[T any](t kernel.Thread, v T, x []T) {}
