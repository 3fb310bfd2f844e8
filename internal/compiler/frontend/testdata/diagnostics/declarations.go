package p

import "quern.dev/kernel"

//quern:kernel
func withResult(t kernel.Thread, out []int32) int32 { return 0 }

//quern:kernel
func withoutThread(out []int32) {}

//quern:kernel
func generic[T any](t kernel.Thread, out []T) {}

//quern:kernel
func variadic(t kernel.Thread, values ...int32) {}

type filter struct{}

//quern:kernel
func (f filter) method(t kernel.Thread, out []int32) {}

//quern:kernel bounds=off
func unknownOption(t kernel.Thread, out []int32) {}

//quern:kernel block=2048
func blockTooLarge(t kernel.Thread, out []int32) {}

//quern:kernel block=64x32
func blockOfTooManyThreads(t kernel.Thread, out []int32) {}

//quern:kernel block=16x
func blockMalformed(t kernel.Thread, out []int32) {}

//quern:kernal
func misspelt(t kernel.Thread, out []int32) {}

//quern:kernel
var notAFunction = 1

//quern:kernel
func collides(t kernel.Thread) {}

//quern:kernel
func Collides(t kernel.Thread) {}

//quern:kernel
func declared(t kernel.Thread) {}

// LaunchDeclared stands where the generator wants to write.
func LaunchDeclared() {}

//quern:kernel
func größe(t kernel.Thread) {}

//quern:kernel
func _(t kernel.Thread) {}

//quern:kernel
func PTX(t kernel.Thread) {}

//quern:kernel
func _gen_zip(t kernel.Thread) {}
