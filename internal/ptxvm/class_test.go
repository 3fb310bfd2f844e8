package ptxvm

import (
	"encoding/binary"
	"testing"
)

const countedKernel = `.version 8.0
.target sm_90
.address_size 64
.visible .entry work(.param .u64 x, .param .u32 n)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %d<4>;
	.reg .f32 %f<3>;
	ld.param.u64 %d0, [x];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r1, %r2, %r3, %r1;
	mul.wide.s32 %d1, %r1, 4;
	add.s64 %d1, %d0, %d1;
	ld.global.f32 %f0, [%d1];
	and.b32 %r4, %r1, 1;
	mul.lo.s32 %r0, %r0, %r4;
loop:
	setp.eq.s32 %p, %r0, 0;
	@%p bra done;
	fma.rn.f32 %f0, %f0, %f0, %f0;
	sub.s32 %r0, %r0, 1;
	bra loop;
done:
	sqrt.approx.f32 %f1, %f0;
	st.global.f32 [%d1], %f1;
	ret;
}
`

// run counts a launch of the kernel in which every second thread makes 10 steps.
func countWork(t *testing.T, sample, blocks int) Totals {
	t.Helper()
	m, err := Parse(countedKernel)
	if err != nil {
		t.Fatal(err)
	}
	memory := NewMemory()
	x, err := memory.Alloc(4*64*blocks, "x")
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{Blocks: sample, Touched: true}
	err = m.Launch(t.Context(), "work", Config{
		Grid: [3]int{blocks, 1, 1}, Block: [3]int{64, 1, 1}, Memory: memory, Counter: c,
		Params: [][]byte{binary.LittleEndian.AppendUint64(nil, x), binary.LittleEndian.AppendUint32(nil, 10)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.Totals()
}

func TestLaunchesAreCounted(t *testing.T) {
	const blocks = 40
	for _, sample := range []int{0, 7, 40, 1000} {
		c := countWork(t, sample, blocks)
		threads := float64(64 * blocks)
		for _, x := range []struct {
			what      string
			got, want float64
		}{
			{"launches", c.Launches, 1}, {"blocks", c.Blocks, blocks}, {"threads", c.Threads, threads}, {"warps", c.Warps, 2 * blocks},
			{"fused operations", c.Instructions[Floats], 10 * threads / 2},
			{"those of warps", c.Issued[Floats], 10 * 2 * blocks}, // all lanes wait for the others
			{"roots", c.Instructions[Roots], threads},
			{"float32 operations", c.Flops32, 2*10*threads/2 + threads},
			{"accesses", c.Instructions[Globals], 2 * threads},
			{"bytes accessed", c.Bytes, 8 * threads},
			{"sectors", c.Sectors, 2 * threads * 4 / 32},
			{"bytes read", c.ReadBytes, 4 * threads}, {"bytes written", c.WrittenBytes, 4 * threads},
		} {
			if diff := x.got - x.want; diff > 1e-6*x.want || diff < -1e-6*x.want {
				t.Errorf("sample %d: %s: %v, want %v", sample, x.what, x.got, x.want)
			}
		}
	}
}

func TestScatteredAccessesAreCounted(t *testing.T) {
	// Each thread reads x[i*mul&mask] twice: the second time 4 bytes further.
	const text = `.version 7.8
.target sm_80
.address_size 64
.visible .entry work(.param .u64 x, .param .u32 mul, .param .u32 mask) {
	.reg .b32 %r<10>;
	.reg .b64 %rd<5>;
	.reg .pred %p;
	ld.param.u64 %rd0, [x];
	ld.param.u32 %r0, [mul];
	ld.param.u32 %r1, [mask];
	mov.u32 %r2, %tid.x;
	mul.lo.u32 %r2, %r2, %r0;
	and.b32 %r2, %r2, %r1;
	mul.wide.u32 %rd1, %r2, 4;
	add.u64 %rd0, %rd0, %rd1;
	mov.u32 %r3, 0;
again:
	ld.global.u32 %r4, [%rd0];
	add.u64 %rd0, %rd0, 4;
	add.u32 %r3, %r3, 1;
	setp.lt.u32 %p, %r3, 2;
	@%p bra again;
	ret;
}`
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	const size = 4*4096 + 64
	for _, c := range []struct {
		name string
		mul  uint32
		want float64
	}{
		{"the same element", 0, 0},
		{"adjacent elements", 1, 0},
		{"elements in the same lines", 16, 0},
		{"elements far from each other", 1031, 31}, // of the first lane, nothing is known
	} {
		memory := NewMemory()
		x, err := memory.Alloc(size, "x")
		if err != nil {
			t.Fatal(err)
		}
		counter := &Counter{Blocks: 2, Touched: true}
		err = m.Launch(t.Context(), "work", Config{
			Grid: [3]int{4, 1, 1}, Block: [3]int{32, 1, 1}, Memory: memory, Counter: counter,
			Params: [][]byte{binary.LittleEndian.AppendUint64(nil, x), binary.LittleEndian.AppendUint32(nil, c.mul), binary.LittleEndian.AppendUint32(nil, 4095)},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := counter.Totals()
		if got.Scattered != 4*c.want || got.ScatteredBytes > 4*c.want*size || (c.want > 0 && got.ScatteredBytes < 4*c.want*32) {
			t.Errorf("%s: %v scattered accesses to %v bytes, want %v", c.name, got.Scattered, got.ScatteredBytes, 4*c.want)
		}
	}
}

func TestAtomicsOfSharedMemoryAreAccessesToIt(t *testing.T) {
	const text = `.version 7.8
.target sm_80
.address_size 64
.visible .entry work(.param .u64 x) {
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b8 bins[128];
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, bins;
	atom.shared.add.u32 %r1, [%r0], 1;
	red.global.add.u32 [%rd0], 1;
	ret;
}`
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	memory := NewMemory()
	x, err := memory.Alloc(4, "x")
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{}
	if err := m.Launch(t.Context(), "work", Config{Grid: [3]int{2, 1, 1}, Block: [3]int{32, 1, 1}, Memory: memory, Counter: c, Params: [][]byte{binary.LittleEndian.AppendUint64(nil, x)}}); err != nil {
		t.Fatal(err)
	}
	if n := c.Totals().Instructions; n[Shareds] != 64 || n[Atomics] != 64 {
		t.Errorf("%v accesses to shared memory and %v atomics of global memory, want 64 and 64", n[Shareds], n[Atomics])
	}
}

// Blocks that wait for each other cannot be left out.
func TestBlocksThatWaitForEachOtherAreAllCounted(t *testing.T) {
	m, err := Parse(countedKernel)
	if err != nil {
		t.Fatal(err)
	}
	memory := NewMemory()
	x, err := memory.Alloc(4*32*8, "x")
	if err != nil {
		t.Fatal(err)
	}
	c := &Counter{Blocks: 2, Touched: true}
	err = m.Launch(t.Context(), "work", Config{
		Grid: [3]int{8, 1, 1}, Block: [3]int{32, 1, 1}, Memory: memory, Counter: c, Cooperative: true,
		Params: [][]byte{binary.LittleEndian.AppendUint64(nil, x), binary.LittleEndian.AppendUint32(nil, 10)},
	})
	if got := c.Totals(); err != nil || got.Blocks != 8 || got.ReadBytes != 4*32*8 || got.Instructions[Roots] != 32*8 {
		t.Errorf("%+v, %v", got, err)
	}
}
