package ptxvm

import (
	"math"
	"testing"
)

// rowsOfThreads stores the number of each thread four times, as a row of 16 bytes, and
// leaves its address in %r3.
const rowsOfThreads = `mov.u32 %r4, tile;
mad.lo.u32 %r3, %r1, 16, %r4;
st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};
bar.sync 0;
`

func TestMatrixOperations(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"a matrix is 8 rows of 8 elements", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3];",
			func(i int) uint32 { return uint32(i&^31 + i%32/4) }},
		{"the last lanes address the fourth matrix", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r5}, [%r3];",
			func(i int) uint32 { return uint32(i&^31 + 24 + i%32/4) }},
		{"one matrix", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r3];",
			func(i int) uint32 { return uint32(i&^31 + i%32/4) }},
		{"transposed, a thread gets two lines", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r6, %r5}, [%r3];", func(i int) uint32 {
			if i%32/4%2 == 1 { // the upper halves of the numbers
				return 0
			}
			line := uint32(i&^31 + 8 + i%4*2)
			return line | (line+1)<<16
		}},
		{"int8", `mov.u32 %r9, 0x01010101;
mov.u32 %r10, 0xfefefefe;
mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r5, %r6, %r7, %r8}, {%r9, %r9, %r9, %r9}, {%r10, %r10}, {%r1, %r1, %r1, %r1};`,
			func(i int) uint32 { return uint32(i - 64) }},
		{"int8 by uint8", `mov.u32 %r9, 0x01010101;
mov.u32 %r10, 0xfefefefe;
mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r5, %r6, %r7, %r8}, {%r9, %r9, %r9, %r9}, {%r10, %r10}, {%r1, %r1, %r1, %r1};`,
			func(i int) uint32 { return uint32(i + 32*254) }},
		{"float16", `mov.u32 %r9, 0x3c003c00;
cvt.rn.f32.u32 %f1, %r1;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f1, %f1, %f1, %f1};
mov.b32 %r5, %f2;`, func(i int) uint32 { return math.Float32bits(float32(i + 16)) }},
		{"float64", `cvt.rn.f64.u32 %fd1, %r1;
mov.f64 %fd2, 0d3FF0000000000000;
mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%fd3, %fd4, %fd5, %fd6}, {%fd2, %fd1}, {%fd2}, {%fd1, %fd1, %fd1, %fd1};
cvt.rzi.u32.f64 %r5, %fd5;`, func(i int) uint32 { return uint32(i + i&^3*4 + 6) }},
		{"8 rows of float64", `cvt.rn.f64.u32 %fd1, %r1;
mov.f64 %fd2, 0d3FF0000000000000;
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd3, %fd4}, {%fd1}, {%fd2}, {%fd1, %fd1};
cvt.rzi.u32.f64 %r5, %fd4;`, func(i int) uint32 { return uint32(i + i&^3*4 + 6) }},
		{"tf32", `mov.f32 %f1, 0f3F801000;
cvt.rna.tf32.f32 %r9, %f1;
mov.f32 %f1, 0f00000000;
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f2, %f3, %f4, %f5}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f1, %f1, %f1, %f1};
mov.b32 %r5, %f2;`, func(int) uint32 {
			x := float64(math.Float32frombits(0x3f802000))
			return math.Float32bits(float32(8 * x * x))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantWords(t, runWords(t, c.body+storeOwn, 64, 64), c.want)
		})
	}
}

func TestMatrixRowsAreChecked(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       Kind
	}{
		{"a row that does not begin at a multiple of 16 bytes", rowsOfThreads + "add.u32 %r3, %r3, 8;\nldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3];", Misaligned},
		{"a row past the end", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3+4096];", OutOfBounds},
		{"a row that was never written", rowsOfThreads + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3+2048];", Uninitialised},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runKernel(t, c.body, 32, Config{})
			wantFault(t, err, c.kind, bodyLine(t, c.body, "ldmatrix"))
		})
	}
}

func TestUnsupportedMatrixInstructions(t *testing.T) {
	for _, body := range []string{
		"ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r5, %r6, %r7}, [%r3];",
		"ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r5}, [%r3];",
		"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f1, %f1, %f1, %f1};",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%f2, %f3, %f4, %f5}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, {%f1, %f1, %f1, %f1};",
		"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%r5, %r6, %r7, %r8}, {%r9, %r9, %r9, %r9}, {%r9, %r9}, {%r1, %r1, %r1, %r1};",
		"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%fd2, %fd3, %fd4, %fd5}, {%fd6, %fd7, %fd6, %fd7}, {%fd8, %fd8}, {%fd2, %fd3, %fd4, %fd5};",
		"cvt.rn.tf32.f32 %r9, %f1;",
	} {
		if _, err := Parse(kernel(body)); err == nil {
			t.Errorf("%s is accepted", body)
		}
	}
}
