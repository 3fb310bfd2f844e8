package p

import "quern.dev/kernel"

//quern:kernel specialise=radius
func withoutValues(t kernel.Thread, radius int, x []int32) {}

//quern:kernel specialise=:1,2 specialise=radius:
func empty(t kernel.Thread, radius int, x []int32) {}

//quern:kernel specialise=radus:1
func misspelt(t kernel.Thread, radius int, x []int32) {}

//quern:kernel specialise=radius:1 specialise=radius:2
func twice(t kernel.Thread, radius int, x []int32) {}

//quern:kernel specialise=x:1 specialise=a:0.5
func notIntegers(t kernel.Thread, a float32, x []int32) {}

//quern:kernel specialise=n:1,2,1 specialise=flag:1,false
func values(t kernel.Thread, n int, flag bool, x []int32) {}

var four = 4

//quern:kernel specialise=n:300,-1,four,missing,1.5,"a"
func unfit(t kernel.Thread, n uint8, x []int32) {}

//quern:kernel specialise=a:1,2,3 specialise=b:1,2,3 specialise=c:1,2
func tooMany(t kernel.Thread, a, b, c int, x []int32) {}

//quern:kernel instantiate=int32,float32 specialise=a:1
func instances[T kernel.Number](t kernel.Thread, a T, x []T) {}
