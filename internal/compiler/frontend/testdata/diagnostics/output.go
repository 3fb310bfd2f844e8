package p

import "quern.dev/kernel"

var format = "%d\n"

type pair struct{ a, b int }

//quern:kernel
func prints(t kernel.Thread, x []float32, s string) {
	kernel.Printf(format, 1)
	kernel.Printf("%d\n", x[0])
	kernel.Printf("%d %d\n", 1)
	kernel.Printf("%d\n", 1, 2)
	kernel.Printf("%v\n", pair{1, 2})
	kernel.Printf("%v\n", x)
	kernel.Printf("%v\n", []any{1}...)
	kernel.Printf("%T\n", x[0])
	kernel.Printf("100%% %s %v %5.2f\n", "text", true, x[0])
}

//quern:kernel
func asserts(t kernel.Thread, x []float32) {
	kernel.Assert(x[0] > 0, "x is "+format)
	kernel.Assert(x[0] > 0, "x is positive")
}

//quern:ptx add.u32 $r, $a, $c;
func unknownName(a, b uint32) (r uint32) { return a + b }

//quern:ptx add.u32 $r, $a, $b
func noSemicolon(a, b uint32) (r uint32) { return a + b }

//quern:ptx add.u32 $a, $a, $b;
func noResult(a, b uint32) uint32 { return a + b }

//quern:ptx mov.b64 $r, $x;
func notANumber(x []uint32) (r uint64) { return uint64(len(x)) }

//quern:ptx .target 80
//quern:ptx mov.b32 $r, $x;
func badTarget(x uint32) (r uint32) { return x }

//quern:ptx .version 8
//quern:ptx mov.b32 $r, $x;
func badVersion(x uint32) (r uint32) { return x }

//quern:ptx .target sm_80
func nothing(x uint32) (r uint32) { return x }

//quern:ptx mov.b32 $r, $x;
func generic[T uint32 | int32](x T) (r T) { return x }

//quern:ptx mov.u32 $r, %tid.x;
func threaded(t kernel.Thread) (r uint32) { return uint32(t.ThreadIdx.X) }

//quern:kernel
func assembles(t kernel.Thread, x []uint32) {
	x[0] = unknownName(x[0], x[1]) + noSemicolon(x[0], x[1]) + noResult(x[0], x[1]) + uint32(notANumber(x))
	x[1] = badTarget(x[0]) + badVersion(x[0]) + nothing(x[0]) + generic(x[0]) + threaded(t)
}

//quern:kernel
func variableTexts(t kernel.Thread, x []float32) {
	line := "%d\n"
	var message = "x is positive"
	kernel.Printf(line, 1)
	kernel.Assert(x[0] > 0, message)
}
