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

// Instructions are parsed.
//
//quern:ptx .target sm_61
//quern:ptx dpa4.u32.u32 $sum, $a, $b, $c;
func misspelt(a, b, c uint32) (sum uint32) { return a + b + c }

//quern:ptx .reg .b32 t;
//quern:ptx   add.u32 t, $a;
//quern:ptx mov.b32 $r, u;
func severalErrors(a uint32) (r uint32) { return a }

//quern:ptx add.u32 $r, $a, $x;
func wrongType(a uint32, x float64) (r uint32) { return a + uint32(x) }

//quern:ptx } mov.b32 $r, $a;
func brace(a uint32) (r uint32) { return a }

//quern:ptx { mov.b32 $r, $a;
func openBrace(a uint32) (r uint32) { return a }

//quern:ptx vadd4.u32.u32.u32 $r, $a, $b, 0;
func onlyOnGPUs(a, b uint32) (r uint32) { return a + b }

//quern:ptx .reg .pred positive;
//quern:ptx setp.gt.s64 positive, $a, 0;
//quern:ptx @positive bra done;
//quern:ptx neg.s64 $r, $a;
//quern:ptx done: cvt.u32.u8 $s, $b;
//quern:ptx cvt.rn.f32.u32 $f, $s;
func right(a int, b uint8) (r int, s uint8, f float32) { return a, b, float32(b) }

//quern:kernel
func parses(t kernel.Thread, x []uint32) {
	x[0] = misspelt(x[0], x[1], x[2]) + severalErrors(x[0]) + wrongType(x[0], 1) + brace(x[1]) + openBrace(x[1]) + onlyOnGPUs(x[0], x[1])
	r, s, f := right(int(x[0]), uint8(x[1]))
	x[1] = uint32(r) + uint32(s) + uint32(f)
}
