package ptxvm

import (
	"context"
	"testing"
)

// registerLoop is register arithmetic with one branch per eight instructions.
const registerLoop = `
.version 6.0
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 out, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<10>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.u32 %r3, 1;
	mov.f32 %f1, 0f3F800000;
	mov.f32 %f2, 0f3F000000;
loop:
	add.s32 %r3, %r3, %r2;
	xor.b32 %r4, %r3, %r2;
	mad.lo.s32 %r3, %r4, 1664525, %r3;
	fma.rn.f32 %f1, %f1, %f2, %f2;
	shr.u32 %r5, %r3, 3;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra loop;
	mov.u32 %r6, %tid.x;
	mul.wide.u32 %rd2, %r6, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}`

const memoryLoop = `
.version 6.0
.target sm_50
.address_size 64
.visible .entry sum(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .b32 %r<10>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [in];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.u32 %r6, %tid.x;
	mul.wide.u32 %rd3, %r6, 4;
	add.s64 %rd4, %rd2, %rd3;
	add.s64 %rd5, %rd1, %rd3;
loop:
	ld.global.f32 %f1, [%rd4];
	add.rn.f32 %f2, %f2, %f1;
	st.global.f32 [%rd5], %f2;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra loop;
	ret;
}`

func BenchmarkInstructions(b *testing.B) {
	const threads, rounds = 64, 1000
	for _, bench := range []struct {
		name, src, kernel string
		perRound          int
		params            func(m *Memory) [][]byte
	}{
		{"registers", registerLoop, "spin", 8, func(m *Memory) [][]byte {
			out, _ := m.Alloc(4*threads, "out")
			return [][]byte{le64(out), le32(rounds)}
		}},
		{"global memory", memoryLoop, "sum", 6, func(m *Memory) [][]byte {
			out, _ := m.Alloc(4*threads, "out")
			in, _ := m.Alloc(4*threads, "in")
			_ = m.Fill(in, 4*threads, []byte{0})
			return [][]byte{le64(out), le64(in), le32(rounds)}
		}},
	} {
		for _, checks := range []bool{true, false} {
			name := bench.name + "/unchecked"
			if checks {
				name = bench.name + "/checked"
			}
			b.Run(name, func(b *testing.B) {
				module, err := Parse(bench.src)
				if err != nil {
					b.Fatal(err)
				}
				m := NewMemory()
				config := Config{
					Grid: [3]int{1, 1, 1}, Block: [3]int{threads, 1, 1},
					Memory: m, Params: bench.params(m), Checks: checks, Workers: 1,
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := module.Launch(context.Background(), bench.kernel, config); err != nil {
						b.Fatal(err)
					}
				}
				steps := float64(b.N) * threads * rounds * float64(bench.perRound)
				b.ReportMetric(steps/b.Elapsed().Seconds()/1e6, "Minstr/s")
			})
		}
	}
}
