package ptxvm

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"unsafe"
)

// runWords runs kernel(body) with checks and returns the first n words of out.
func runWords(t *testing.T, body string, threads, n int) []uint32 {
	t.Helper()
	out, err := runKernel(t, body, threads, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return out.words()[:n]
}

const storeOwn = "\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u32 [%rd3], %r5;"

// wantWords fails unless word i of got is want(i).
func wantWords(t *testing.T, got []uint32, want func(i int) uint32) {
	t.Helper()
	for i, v := range got {
		if v != want(i) {
			t.Fatalf("word %d is %#x, want %#x (all: %x)", i, v, want(i), got)
		}
	}
}

func TestSharedMemoryReductionWithBarriers(t *testing.T) {
	src := header + `
.extern .shared .align 16 .b8 partial[];
.visible .entry sum(.param .u64 out, .param .u64 in)
{
.reg .pred %p<4>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
.reg .f32 %f<4>;
.shared .align 4 .b8 spare[20];
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd3, %r4, 4;
add.s64 %rd3, %rd2, %rd3;
ld.global.f32 %f1, [%rd3];
shl.b32 %r5, %r1, 2;
mov.u32 %r6, partial;
add.s32 %r7, %r6, %r5;
st.shared.f32 [%r7], %f1;
loop:
bar.sync 0;
shr.u32 %r3, %r3, 1;
setp.eq.s32 %p1, %r3, 0;
@%p1 bra done;
setp.ge.u32 %p2, %r1, %r3;
@%p2 bra loop;
shl.b32 %r8, %r3, 2;
add.s32 %r9, %r7, %r8;
ld.shared.f32 %f1, [%r7];
ld.shared.f32 %f2, [%r9];
add.f32 %f1, %f1, %f2;
st.shared.f32 [%r7], %f1;
bra loop;
done:
setp.ne.s32 %p3, %r1, 0;
@%p3 ret;
ld.shared.f32 %f1, [partial];
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd4, %rd1, %rd4;
st.global.f32 [%rd4], %f1;
ret;
}
`
	assembles(t, src)
	m := mustParse(t, src)
	const blocks, threads = 5, 128
	for _, checks := range []bool{true, false} {
		memory := NewMemory()
		out := newBuffer(t, memory, 4*blocks, "out")
		in := newBuffer(t, memory, 4*blocks*threads, "in")
		var data []byte
		want := make([]float32, blocks)
		for i := range blocks * threads {
			data = append(data, le32(uint32(bits32(float32(i))))...)
			want[i/threads] += float32(i)
		}
		if err := memory.Write(in.address, data); err != nil {
			t.Fatal(err)
		}
		err := m.Launch(context.Background(), "sum", Config{
			Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, DynamicShared: 4 * threads,
			Params: [][]byte{out.param(), in.param()}, Memory: memory, Checks: checks, Workers: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		wantWords(t, out.words(), func(i int) uint32 { return uint32(bits32(want[i])) })
	}
}

func TestBarriers(t *testing.T) {
	t.Run("threads that exited are not waited for", func(t *testing.T) {
		got := runWords(t, "setp.ge.u32 %p1, %r1, 40;\n@%p1 exit;\nst.shared.u32 [tile], 3;\nbar.sync 0;\nmov.u32 %r5, 1;"+storeOwn, 1, 1)
		wantWords(t, got, func(int) uint32 { return 1 })
		got = runWords(t, "setp.ge.u32 %p1, %r1, 40;\n@%p1 exit;\nbar.sync 0;\nmov.u32 %r5, 1;"+storeOwn, 64, 64)
		wantWords(t, got, func(i int) uint32 {
			if i < 40 {
				return 1
			}
			return 0
		})
	})
	t.Run("an exit after the others wait releases them", func(t *testing.T) {
		runWords(t, "setp.ge.u32 %p1, %r1, 40;\n@!%p1 bar.sync 0;", 64, 64)
	})
	t.Run("bar.red counts and combines predicates", func(t *testing.T) {
		got := runWords(t, `setp.lt.u32 %p1, %r1, 10;
bar.red.popc.u32 %r5, 0, %p1;
bar.red.or.pred %p2, 0, %p1;
@%p2 add.s32 %r5, %r5, 100;
bar.red.and.pred %p3, 0, !%p1;
@%p3 add.s32 %r5, %r5, 1000;`+storeOwn, 64, 64)
		wantWords(t, got, func(int) uint32 { return 110 })
	})
	t.Run("a producer arrives and a consumer waits", func(t *testing.T) {
		got := runWords(t, `setp.lt.u32 %p1, %r1, 32;
@%p1 bra consumer;
mov.u32 %r3, tile;
mad.lo.u32 %r3, %r1, 4, %r3;
st.shared.u32 [%r3+-128], %r1;
bar.arrive 1, 64;
bra done;
consumer:
bar.sync 1, 64;
mov.u32 %r3, tile;
mad.lo.u32 %r3, %r1, 4, %r3;
ld.shared.u32 %r5, [%r3];`+storeOwn+"\ndone:", 64, 32)
		wantWords(t, got, func(i int) uint32 { return uint32(i) + 32 })
	})
	for _, c := range []struct{ name, body, at string }{
		{"threads wait at different instructions", "setp.lt.u32 %p1, %r1, 5;\n@%p1 bar.sync 0;\n@!%p1 bar.sync 0;", "@!%p1"},
		{"threads wait at different barriers", "setp.lt.u32 %p1, %r1, 5;\n@%p1 bar.sync 0;\n@!%p1 bar.sync 1;", "@!%p1"},
		{"a barrier waits for threads that never come", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\n@!%p1 bar.sync 2, 64;", "@!%p1"},
		{"a barrier waits for more threads than are left", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra done;\nbar.sync 1, 64;\ndone:", "bar.sync 1"},
		{"thread counts differ", "setp.lt.u32 %p1, %r1, 5;\nselp.b32 %r3, 32, 64, %p1;\nbar.sync 1, %r3;", "bar.sync 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runKernel(t, c.body, 64, Config{})
			wantFault(t, err, DivergentBarrier, bodyLine(t, c.body, c.at))
		})
	}
	t.Run("two threads that spin see each other's stores", func(t *testing.T) {
		runWords(t, `setp.eq.s32 %p1, %r1, 0;
@%p1 bra wait;
st.volatile.global.u32 [%rd1], 1;
bra done;
wait:
ld.volatile.global.u32 %r5, [%rd1];
setp.eq.s32 %p2, %r5, 0;
@%p2 bra wait;
done:`, 2, 1)
	})
}

func TestWarpOperations(t *testing.T) {
	lane := func(i int) int { return i % 32 }
	for _, c := range []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"shuffle from a lane", "shfl.sync.idx.b32 %r5, %r1, 3, 31, 0xffffffff;",
			func(i int) uint32 { return uint32(i&^31 + 3) }},
		{"shuffle up keeps the lowest lanes", "shfl.sync.up.b32 %r5, %r1, 2, 0, 0xffffffff;", func(i int) uint32 {
			if lane(i) < 2 {
				return uint32(i)
			}
			return uint32(i - 2)
		}},
		{"shuffle down says which lanes are in range", "shfl.sync.down.b32 %r5|%p1, %r1, 30, 31, 0xffffffff;\n@!%p1 mov.u32 %r5, 99;", func(i int) uint32 {
			if lane(i) < 2 {
				return uint32(i + 30)
			}
			return 99
		}},
		{"butterfly", "shfl.sync.bfly.b32 %r5, %r1, 5, 31, 0xffffffff;", func(i int) uint32 { return uint32(i ^ 5) }},
		{"shuffle in segments of 8", "shfl.sync.idx.b32 %r5, %r1, 1, 0x181f, 0xffffffff;", func(i int) uint32 { return uint32(i&^7 + 1) }},
		{"ballot", "and.b32 %r3, %r1, 1;\nsetp.eq.s32 %p1, %r3, 0;\nvote.sync.ballot.b32 %r5, %p1, 0xffffffff;", func(int) uint32 { return 0x55555555 }},
		{"any, all and uni", `setp.eq.s32 %p1, %r1, 7;
vote.sync.any.pred %p2, %p1, 0xffffffff;
vote.sync.all.pred %p3, %p1, 0xffffffff;
vote.sync.uni.pred %p4, %p1, 0xffffffff;
vote.sync.all.pred %p5, !%p1, 0xffffffff;
selp.b32 %r5, 1, 0, %p2;
@%p3 add.s32 %r5, %r5, 2;
@%p4 add.s32 %r5, %r5, 4;
@%p5 add.s32 %r5, %r5, 8;`, func(i int) uint32 {
			if i < 32 {
				return 1
			}
			return 4 + 8
		}},
		{"match any", "and.b32 %r3, %r1, 3;\nmatch.any.sync.b32 %r5, %r3, 0xffffffff;", func(i int) uint32 { return 0x11111111 << (i & 3) }},
		{"match all", "mov.u64 %rd4, 5;\nmatch.all.sync.b64 %r5|%p1, %rd4, 0xffffffff;\n@!%p1 mov.u32 %r5, 9;", func(int) uint32 { return all32 }},
		{"match all fails", "match.all.sync.b32 %r5|%p1, %r1, 0xffffffff;\n@!%p1 add.s32 %r5, %r5, 9;", func(int) uint32 { return 9 }},
		{"reduction", "redux.sync.add.u32 %r5, %r1, 0xffffffff;", func(i int) uint32 { return uint32(i/32*32*32 + 496) }},
		{"signed minimum", "sub.s32 %r3, 5, %r1;\nredux.sync.min.s32 %r5, %r3, 0xffffffff;", func(i int) uint32 { return uint32(5 - (i | 31)) }},
		{"activemask of a branch", `and.b32 %r3, %r1, 1;
setp.eq.s32 %p1, %r3, 0;
mov.u32 %r5, 0;
@!%p1 bra done;
activemask.b32 %r5;
popc.b32 %r4, %r5;
redux.sync.add.u32 %r5, %r4, %r5;
done:`, func(i int) uint32 { return uint32(1-i&1) * 256 }},
		{"two halves of a warp shuffle apart", `setp.lt.u32 %p1, %r1, 16;
and.b32 %r3, %r1, 16;
setp.eq.s32 %p1, %r3, 0;
@%p1 bra low;
shfl.sync.idx.b32 %r5, %r1, 20, 31, 0xffff0000;
bra done;
low:
shfl.sync.idx.b32 %r5, %r1, 4, 31, 0x0000ffff;
done:`, func(i int) uint32 { return uint32(i&^15 + 4) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantWords(t, runWords(t, c.body+storeOwn, 64, 64), c.want)
		})
	}
	t.Run("lanes beyond the block are not waited for", func(t *testing.T) {
		got := runWords(t, "setp.ge.s32 %p1, %r1, 0;\nvote.sync.ballot.b32 %r5, %p1, 0xffffffff;"+storeOwn, 40, 40)
		wantWords(t, got, func(i int) uint32 {
			if i < 32 {
				return all32
			}
			return 0xff
		})
	})
	t.Run("lanes that exit later are not waited for", func(t *testing.T) {
		got := runWords(t, `setp.lt.u32 %p1, %r1, 20;
@!%p1 bra leave;
vote.sync.ballot.b32 %r5, %p1, 0xffffffff;`+storeOwn+"\nleave:", 32, 20)
		wantWords(t, got, func(int) uint32 { return 1<<20 - 1 })
	})
	t.Run("a lane that waits elsewhere is a fault", func(t *testing.T) {
		const body = "setp.eq.s32 %p1, %r1, 5;\n@%p1 bar.sync 0;\n@!%p1 bar.warp.sync 0xffffffff;"
		_, err := runKernel(t, body, 32, Config{})
		wantFault(t, err, DivergentWarp, bodyLine(t, body, "@!%p1"))
	})
	t.Run("different shuffles of one mask do not meet", func(t *testing.T) {
		const body = "setp.eq.s32 %p1, %r1, 5;\n@%p1 shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;\n@!%p1 shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;"
		_, err := runKernel(t, body, 32, Config{})
		wantFault(t, err, DivergentWarp, bodyLine(t, body, "@!%p1"))
	})
}

func TestAtomics(t *testing.T) {
	const initial, operand = 0xfffffff0, 0x35
	for _, c := range []struct {
		op    string
		width int
		want  uint64
	}{
		{"add.u32", 4, initial + operand - 1<<32}, {"add.s32", 4, initial + operand - 1<<32},
		{"min.u32", 4, operand}, {"min.s32", 4, initial}, {"max.u32", 4, initial}, {"max.s32", 4, operand},
		{"and.b32", 4, initial & operand}, {"or.b32", 4, initial | operand}, {"xor.b32", 4, initial ^ operand},
		{"exch.b32", 4, operand}, {"inc.u32", 4, 0}, {"dec.u32", 4, operand},
		{"add.u64", 8, initial + operand}, {"min.u64", 8, operand}, {"max.s64", 8, initial}, {"xor.b64", 8, initial ^ operand},
		{"exch.b64", 8, operand},
	} {
		for _, space := range []string{"global", "shared"} {
			t.Run(c.op+" in "+space+" memory", func(t *testing.T) {
				bits, r := "u32", "%r"
				if c.width == 8 {
					bits, r = "u64", "%rd"
				}
				address := "%rd1"
				if space == "shared" {
					address = "tile"
				}
				body := fmt.Sprintf("mov.%[1]s %[2]s5, %#[5]x;\nmov.%[1]s %[2]s6, %#[6]x;\nst.%[3]s.%[1]s [%[4]s], %[2]s5;\n"+
					"atom.%[3]s.%[7]s %[2]s7, [%[4]s], %[2]s6;\nld.%[3]s.%[1]s %[2]s4, [%[4]s];\n"+
					"st.global.%[1]s [%%rd1], %[2]s4;\nst.global.%[1]s [%%rd1+8], %[2]s7;",
					bits, r, space, address, uint64(initial), uint64(operand), c.op)
				got := runWords(t, body, 1, 4)
				if v := uint64(got[0]) | uint64(got[1])<<32; v != c.want {
					t.Errorf("memory holds %#x, want %#x", v, c.want)
				}
				if got[2] != initial {
					t.Errorf("old value is %#x, want %#x", got[2], uint32(initial))
				}
			})
		}
	}
	t.Run("float addition", func(t *testing.T) {
		got := runWords(t, "mov.f32 %f1, 0f3F000000;\nred.global.add.f32 [%rd1], %f1;", 64, 1)
		wantWords(t, got, func(int) uint32 { return uint32(bits32(32)) })
	})
	t.Run("compare and swap", func(t *testing.T) {
		got := runWords(t, "add.s32 %r3, %r1, 1;\natom.relaxed.gpu.global.cas.b32 %r5, [%rd1], %r1, %r3;", 64, 1)
		wantWords(t, got, func(int) uint32 { return 64 })
	})
	t.Run("a lock built on compare and swap protects plain accesses", func(t *testing.T) {
		got := runWords(t, `again:
atom.global.cas.b32 %r5, [%rd1+64], 0, 1;
setp.ne.s32 %p1, %r5, 0;
@%p1 bra again;
membar.gl;
ld.global.u32 %r6, [%rd1];
add.s32 %r6, %r6, 1;
st.global.u32 [%rd1], %r6;
membar.gl;
atom.global.exch.b32 %r5, [%rd1+64], 0;`, 64, 1)
		wantWords(t, got, func(int) uint32 { return 64 })
	})
}

func TestGenericAddresses(t *testing.T) {
	got := runWords(t, `mov.u64 %rd3, tile;
cvta.shared.u64 %rd3, %rd3;
st.u32 [%rd3+4], 11;
ld.shared.u32 %r5, [tile+4];
st.global.u32 [%rd1], %r5;
mov.u64 %rd4, depot;
cvta.local.u64 %rd4, %rd4;
st.u32 [%rd4+8], 22;
cvta.to.local.u64 %rd5, %rd4;
ld.local.u32 %r5, [%rd5+8];
st.u32 [%rd1+4], %r5;
isspacep.shared %p1, %rd3;
isspacep.local %p2, %rd3;
isspacep.global %p3, %rd1;
selp.b32 %r5, 1, 0, %p1;
@%p2 add.s32 %r5, %r5, 2;
@%p3 add.s32 %r5, %r5, 4;
st.global.u32 [%rd1+8], %r5;`, 1, 3)
	wantWords(t, got, func(i int) uint32 { return []uint32{11, 22, 5}[i] })
}

func TestLoadsExtendToRegisterWidth(t *testing.T) {
	got := runWords(t, `st.global.u32 [%rd1], 0x8081;
ld.global.s8 %r5, [%rd1];
ld.global.u8 %r6, [%rd1];
ld.global.s16 %r7, [%rd1];
ld.global.s8 %rd4, [%rd1+1];
st.global.v4.u32 [%rd1+16], {%r5, %r6, %r7, 5};
st.global.u64 [%rd1+32], %rd4;`, 1, 10)
	want := []uint32{0x8081, 0, 0, 0, 0xffffff81, 0x81, 0xffff8081, 5, 0xffffff80, 0xffffffff}
	wantWords(t, got, func(i int) uint32 { return want[i] })
}

func TestSpecialRegisters(t *testing.T) {
	src := header + `.visible .entry k(.param .u64 out)
{
.reg .b32 %r<20>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %tid.y;
mov.u32 %r3, %tid.z;
mad.lo.u32 %r4, %r1, 10, %r2;
mad.lo.u32 %r4, %r4, 10, %r3;
mov.u32 %r5, %ctaid.x;
mad.lo.u32 %r4, %r4, 10, %r5;
mov.u32 %r5, %ctaid.y;
mad.lo.u32 %r4, %r4, 10, %r5;
mov.u32 %r6, %ntid.x;
mov.u32 %r7, %ntid.y;
mov.u32 %r8, %ntid.z;
mul.lo.u32 %r9, %r6, %r7;
mad.lo.u32 %r10, %r3, %r7, %r2;
mad.lo.u32 %r10, %r10, %r6, %r1;
mul.lo.u32 %r9, %r9, %r8;
mov.u32 %r11, %nctaid.x;
mov.u32 %r12, %ctaid.x;
mov.u32 %r13, %ctaid.y;
mad.lo.u32 %r12, %r13, %r11, %r12;
mad.lo.u32 %r10, %r12, %r9, %r10;
mul.wide.u32 %rd2, %r10, 4;
add.s64 %rd2, %rd1, %rd2;
st.global.u32 [%rd2], %r4;
ret;
}
`
	assembles(t, src)
	memory := NewMemory()
	const bx, by, bz, gx, gy = 3, 2, 2, 2, 3
	out := newBuffer(t, memory, 4*bx*by*bz*gx*gy, "out")
	err := mustParse(t, src).Launch(context.Background(), "k", Config{
		Grid: [3]int{gx, gy, 1}, Block: [3]int{bx, by, bz}, Params: [][]byte{out.param()}, Memory: memory, Checks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, out.words(), func(i int) uint32 {
		thread, block := i%(bx*by*bz), i/(bx*by*bz)
		x, y, z := thread%bx, thread/bx%by, thread/(bx*by)
		return uint32((((x*10+y)*10+z)*10+block%gx)*10 + block/gx)
	})
}

func TestBranchTable(t *testing.T) {
	const body = `and.b32 %r3, %r1, 3;
table: .branchtargets zero, one, two;
brx.idx %r3, table;
zero: mov.u32 %r5, 10; bra done;
one: mov.u32 %r5, 11; bra done;
two: mov.u32 %r5, 12;
done:` + storeOwn
	wantWords(t, runWords(t, body, 3, 3), func(i int) uint32 { return uint32(10 + i) })
	_, err := runKernel(t, body, 4, Config{})
	wantFault(t, err, IllegalOperand, bodyLine(t, body, "brx.idx"))
}

func TestScopesShadowNames(t *testing.T) {
	got := runWords(t, `mov.u32 %r5, 1;
{
.reg .b32 %r5;
mov.u32 %r5, 2;
bra inner;
inner: st.global.u32 [%rd1], %r5;
}
{
bra inner;
inner: st.global.u32 [%rd1+4], %r5;
}`, 1, 2)
	wantWords(t, got, func(i int) uint32 { return []uint32{2, 1}[i] })
}

func TestModuleVariables(t *testing.T) {
	src := header + `.const .align 8 .f64 half[2] = {0d3FE0000000000000, 1.5};
.const .align 4 .b32 matrix[2][3] = {{1, 2, 3}, {4, -5, 0x6}};
.global .align 4 .u32 counter = 40;
.global .align 8 .u64 where[2] = {generic(counter), matrix};
.global .align 1 .b8 bytes[4] = {1, 2, 3};
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<8>;
.reg .b32 %r<8>;
ld.param.u64 %rd1, [out];
ld.global.u64 %rd2, [where];
atom.global.add.u32 %r1, [%rd2], 2;
st.global.u32 [%rd1], %r1;
ld.const.b64 %rd3, [half+8];
st.global.u64 [%rd1+8], %rd3;
ld.const.u32 %r2, [matrix+16];
st.global.u32 [%rd1+4], %r2;
ld.global.u32 %r3, [bytes];
st.global.u32 [%rd1+16], %r3;
ret;
}
`
	m := mustParse(t, src)
	memory := NewMemory()
	out := newBuffer(t, memory, 20, "out")
	launch := func() []uint32 {
		t.Helper()
		err := m.Launch(context.Background(), "k", Config{
			Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: [][]byte{out.param()}, Memory: memory, Checks: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		return out.words()
	}
	minusFive := int32(-5)
	want := []uint32{40, uint32(minusFive), 0, 0x3ff80000, 0x00030201}
	wantWords(t, launch(), func(i int) uint32 { return want[i] })
	want[0] = 42
	wantWords(t, launch(), func(i int) uint32 { return want[i] })
	used := memory.Used()
	memory.Unload(m)
	if freed := used - memory.Used(); freed != 16+24+4+16+4 {
		t.Errorf("Unload freed %d bytes", freed)
	}
	want[0] = 40
	wantWords(t, launch(), func(i int) uint32 { return want[i] })
}

func TestDirectMemoryIsProcessMemory(t *testing.T) {
	src := header + `.global .align 4 .u32 factor = 3;
.visible .entry k(.param .u64 out, .param .u64 total)
{
.reg .b64 %rd<8>;
.reg .b32 %r<8>;
.shared .align 4 .b32 tile[64];
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [total];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 64, %r1;
ld.global.u32 %r4, [factor];
mul.lo.u32 %r4, %r3, %r4;
mul.wide.u32 %rd3, %r1, 4;
mov.u64 %rd4, tile;
add.s64 %rd4, %rd4, %rd3;
st.shared.u32 [%rd4], %r4;
bar.sync 0;
ld.shared.u32 %r4, [%rd4];
mul.wide.u32 %rd3, %r3, 4;
add.s64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3], %r4;
red.global.add.u64 [%rd2], 1;
ret;
}
`
	assembles(t, src)
	m := mustParse(t, src)
	const blocks, threads = 50, 64
	out := make([]uint32, blocks*threads)
	total := make([]uint64, 1)
	memory := NewDirectMemory()
	err := m.Launch(context.Background(), "k", Config{
		Grid: [3]int{blocks, 1, 1}, Block: [3]int{threads, 1, 1}, Memory: memory, Workers: 4,
		Params: [][]byte{
			le64(uint64(uintptr(unsafe.Pointer(&out[0])))),
			le64(uint64(uintptr(unsafe.Pointer(&total[0])))),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, out, func(i int) uint32 { return uint32(3 * i) })
	if total[0] != blocks*threads {
		t.Errorf("total %d, want %d", total[0], blocks*threads)
	}
	raw := make([]byte, 8)
	if err := memory.Read(uint64(uintptr(unsafe.Pointer(&total[0]))), raw); err != nil || binary.LittleEndian.Uint64(raw) != total[0] {
		t.Errorf("Read: %x, %v", raw, err)
	}
	err = m.Launch(context.Background(), "k", Config{
		Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Memory: memory, Params: [][]byte{le64(0), le64(0)},
	})
	wantFault(t, err, OutOfBounds, 25)
}

func TestParallelBlocksUpdateAtomically(t *testing.T) {
	m := mustParse(t, kernel("and.b32 %r5, %r1, 7;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd1, %rd3;\nred.global.add.u32 [%rd3], 1;"))
	memory := NewMemory()
	out := newBuffer(t, memory, 32, "out").zero()
	err := m.Launch(context.Background(), "k", Config{
		Grid: [3]int{40, 5, 5}, Block: [3]int{64, 1, 1}, Params: [][]byte{out.param(), out.param()}, Memory: memory, Workers: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, out.words(), func(int) uint32 { return 8000 })
}

func TestFaultStopsAllWorkers(t *testing.T) {
	const body = "setp.eq.s32 %p1, %r2, 3;\nloop:\n@!%p1 bra loop;\ntrap;"
	m := mustParse(t, kernel(body))
	memory := NewMemory()
	out := newBuffer(t, memory, 32, "out")
	err := m.Launch(context.Background(), "k", Config{
		Grid: [3]int{8, 1, 1}, Block: [3]int{1, 1, 1}, Params: [][]byte{out.param(), out.param()}, Memory: memory, Workers: 8,
	})
	f := wantFault(t, err, Trap, bodyLine(t, body, "trap"))
	if f.Block != [3]int{3, 0, 0} {
		t.Errorf("block %v", f.Block)
	}
}

// TestStraightLineCodeIsNotInterrupted checks that everything a thread writes without a
// loop, such as the record of a failed check, is complete when another thread stops the
// launch.
func TestStraightLineCodeIsNotInterrupted(t *testing.T) {
	const body = `
setp.ne.u32 %p1, %r1, 0;
@%p1 bra others;
mov.u32 %r3, 0;
ld.global.u32 %r4, [%rd2];
loop:
add.u32 %r3, %r3, 1;
setp.lt.u32 %p2, %r3, %r4;
@%p2 bra loop;
st.volatile.global.u32 [%rd1], 1;
st.volatile.global.u32 [%rd1+4], 1;
st.volatile.global.u32 [%rd1+8], 1;
st.volatile.global.u32 [%rd1+12], 1;
ret;
others:
ld.volatile.global.u32 %r5, [%rd1];
setp.eq.u32 %p3, %r5, 0;
@%p3 bra others;
trap;
`
	m := mustParse(t, kernel(body))
	for n := quantum/3 - 10; n < quantum/3+4; n++ {
		memory := NewMemory()
		out, in := newBuffer(t, memory, 16, "out").zero(), newBuffer(t, memory, 4, "in")
		if err := memory.Write(in.address, le32(uint32(n))); err != nil {
			t.Fatal(err)
		}
		err := m.Launch(context.Background(), "k", Config{
			Grid: [3]int{1, 1, 1}, Block: [3]int{2, 1, 1}, Params: [][]byte{out.param(), in.param()}, Memory: memory, Checks: true,
		})
		wantFault(t, err, Trap, bodyLine(t, body, "trap;"))
		if got := out.words(); got[3] != 1 {
			t.Errorf("%d iterations before it: the words are %v", n, got)
		}
	}
}
