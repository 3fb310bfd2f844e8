package p

import "quern.dev/kernel"

//quern:kernel blocks=2 unchecked=true block
func malformed(t kernel.Thread, x []int32) {}

//quern:kernel block=64 block=128
func repeated(t kernel.Thread, x []int32) {}

//quern:kernel minblocks=2
func withoutBlock(t kernel.Thread, x []int32) {}

//quern:kernel block=1024 minblocks=3
func tooManyThreads(t kernel.Thread, x []int32) {}

//quern:kernel block=32 minblocks=33
func tooManyBlocks(t kernel.Thread, x []int32) {}

//quern:kernel maxregs=16
func tooFewRegisters(t kernel.Thread, x []int32) {}

//quern:kernel maxregs=many
func notANumber(t kernel.Thread, x []int32) {}

//quern:kernel also=fastmath
func notAlso(t kernel.Thread, x []int32) {}

//quern:kernel unchecked also=unchecked
func twiceUnchecked(t kernel.Thread, x []int32) {}

//quern:kernel also=unchecked
func taken(t kernel.Thread, x []int32) {}

//quern:kernel
func takenUnchecked(t kernel.Thread, x []int32) {}

//quern:kernel also=unchecked
func faulty(t kernel.Thread, x []string) {}
