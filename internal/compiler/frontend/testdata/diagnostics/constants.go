package p

import (
	"math"

	"quern.dev/kernel"
)

const (
	blockSize        = 256
	large      int32 = 2048
	none             = 0
	negative         = -4
	half             = 0.5
	name             = "a"
	cols, rows       = 64, 32
	huge             = 1 << 70
	registers        = 16
)

var variable = 256

//quern:kernel block=blokSize
func misspelt(t kernel.Thread, x []int32) {}

//quern:kernel block=BlockSiz minblocks=2
func otherwise(t kernel.Thread, x []int32) {}

//quern:kernel block=somethingElse
func unknown(t kernel.Thread, x []int32) {}

//quern:kernel block=variable
func notConstant(t kernel.Thread, x []int32) {}

//quern:kernel block=int32
func aType(t kernel.Thread, x []int32) {}

//quern:kernel block=large
func tooLarge(t kernel.Thread, x []int32) {}

//quern:kernel block=cols,rows
func tooMany(t kernel.Thread, x []int32) {}

//quern:kernel block=colsxrows
func joined(t kernel.Thread, x []int32) {}

//quern:kernel block=1,1,rows*4
func tooDeep(t kernel.Thread, x []int32) {}

//quern:kernel block=none
func zero(t kernel.Thread, x []int32) {}

//quern:kernel block=8,negative
func below(t kernel.Thread, x []int32) {}

//quern:kernel block=half
func fraction(t kernel.Thread, x []int32) {}

//quern:kernel block=name
func text(t kernel.Thread, x []int32) {}

//quern:kernel block=huge
func beyond(t kernel.Thread, x []int32) {}

//quern:kernel block=math.MaxInt1
func imported(t kernel.Thread, x []int32) {}

//quern:kernel block=blockSize+
func unfinished(t kernel.Thread, x []int32) {}

//quern:kernel block=blockSize minblocks=rows+1
func tooManyBlocks(t kernel.Thread, x []int32) {}

//quern:kernel maxregs=registers
func tooFewRegisters(t kernel.Thread, x []int32) {}

//quern:kernel block=large/4 minblocks=blockSize/32
func tooManyThreads(t kernel.Thread, x []int32) {}

//quern:kernel cluster=rows/2
func tooLargeCluster(t kernel.Thread, x []int32) {}

//quern:kernel specialise=n:blockSise
func special(t kernel.Thread, n int, x []int32) {}

//quern:kernel block=math.Pi*2
func irrational(t kernel.Thread, x []int32) {}

var _ = math.Pi
