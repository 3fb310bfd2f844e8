package ptxvm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// own puts the address of the thread's word of out into %rd3, and that of its word of tile
// into %r3.
const own = `
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
shl.b32 %r3, %r1, 2;
mov.u32 %r4, tile;
add.s32 %r3, %r3, %r4;
`

func TestMemoryFaultsNameTheLine(t *testing.T) {
	for _, c := range []struct {
		name, body, at string
		kind           Kind
		detail         string
	}{
		{"global load past the end", "ld.global.u32 %r5, [%rd2+4096];", "ld.global", OutOfBounds, `0 bytes after the end of "in" (4096 bytes)`},
		{"global store before the start", "st.global.u32 [%rd1+-4], 7;", "st.global", OutOfBounds, `4 bytes before "out"`},
		{"global vector load across the end", "ld.global.v4.u32 {%r5,%r6,%r7,%r8}, [%rd2+4096];", "ld.global.v4", OutOfBounds, "16 bytes"},
		{"atomic on the null pointer", "mov.u64 %rd3, 0;\natom.global.add.u32 %r5, [%rd3], 1;", "atom", OutOfBounds, "no allocation there"},
		{"wild pointer", "mov.u64 %rd3, 0x7000000000000000;\nld.global.u32 %r5, [%rd3];", "ld.global", OutOfBounds, "no allocation there"},
		{"generic address above all windows", "mov.u64 %rd3, 0xff00000000000000;\nld.u32 %r5, [%rd3];", "ld.u32", OutOfBounds, "no memory there"},
		{"shared load past the end", "ld.shared.u32 %r5, [tile+4096];", "ld.shared", OutOfBounds, "byte 4096 of 4096"},
		{"shared store through a generic address", "mov.u64 %rd3, tile;\ncvta.shared.u64 %rd3, %rd3;\nst.u32 [%rd3+8192], 1;", "st.u32", OutOfBounds, "byte 8192 of 4096"},
		{"local store past the end", "st.local.u64 [depot+64], %rd1;", "st.local", OutOfBounds, "byte 64 of 64"},
		{"parameter load past the end", "ld.param.u64 %rd3, [in+8];", "ld.param.u64 %rd3", OutOfBounds, "byte 16 of 16"},
		{"misaligned global load", "ld.global.u32 %r5, [%rd2+2];", "ld.global", Misaligned, "load of 4 bytes"},
		{"misaligned vector store", "st.global.v2.u32 [%rd1+4], {%r1,%r2};", "st.global", Misaligned, "store of 8 bytes"},
		{"misaligned shared atomic", "atom.shared.add.u32 %r5, [tile+1], 1;", "atom", Misaligned, "atomic access of 4 bytes"},
		{"shared load of bytes never written", "ld.shared.u32 %r5, [tile+8];", "ld.shared", Uninitialised, "byte 8 of 4096"},
		{"shared load of partly written bytes", "st.shared.u16 [tile+8], %h1;\nld.shared.u32 %r5, [tile+8];", "ld.shared", Uninitialised, ""},
		{"local load of bytes never written", "ld.local.u32 %r5, [depot];", "ld.local", Uninitialised, ""},
		{"trap", "trap;", "trap", Trap, ""},
		{"barrier that does not exist", "mov.u32 %r5, 16;\nbar.sync %r5;", "bar.sync", IllegalOperand, "barrier 16"},
		{"barrier for half a warp", "mov.u32 %r5, 16;\nbar.sync 1, %r5;", "bar.sync", IllegalOperand, "16 threads"},
		{"shuffle outside of its own mask", "shfl.sync.idx.b32 %r5, %r1, 0, 31, 2;", "shfl", IllegalOperand, "own mask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runKernel(t, c.body, 1, Config{})
			f := wantFault(t, err, c.kind, bodyLine(t, c.body, c.at))
			if !strings.Contains(f.Detail, c.detail) {
				t.Errorf("detail %q does not contain %q", f.Detail, c.detail)
			}
			if f.Kernel != "k" {
				t.Errorf("kernel %q", f.Kernel)
			}
		})
	}
}

func TestFaultNamesTheGoLineOfTheNearestLoc(t *testing.T) {
	src := header + `.file 1 "saxpy.go"
.file 2 "gr\u00f6\u00dfe.go", 123, 456
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<4>;
.reg .b32 %r<4>;
.reg .pred %p<2>;
.loc 1 16 5
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
mov.u32 %r3, %ctaid.y;
add.s32 %r1, %r1, %r3;
.loc 2 40 7, function_name $L__info, inlined_at 1 18 3
setp.ne.s32 %p1, %r1, 7;
@%p1 bra done;
.loc 1 18 3
st.global.u32 [%rd1+4], %r1;
done: ret;
}
`
	m := mustParse(t, src)
	memory := NewMemory()
	out := newBuffer(t, memory, 4, "y")
	err := m.Launch(context.Background(), "k", Config{
		Grid: [3]int{1, 3, 1}, Block: [3]int{3, 2, 1}, Params: [][]byte{out.param()}, Memory: memory,
	})
	if err != nil {
		t.Fatalf("no thread stores, but: %v", err)
	}
	err = m.Launch(context.Background(), "k", Config{
		Grid: [3]int{1, 3, 1}, Block: [3]int{6, 2, 1}, Params: [][]byte{out.param()}, Memory: memory, Checks: true,
	})
	f := wantFault(t, err, OutOfBounds, 20)
	want := Site{File: "saxpy.go", Line: 18, Col: 3, PTXLine: 20, Block: [3]int{0, 2, 0}, Thread: [3]int{5, 0, 0}}
	if f.Site != want {
		t.Errorf("site %+v, want %+v", f.Site, want)
	}
	const text = `kernel k: out-of-bounds access: global store of 4 bytes: 0 bytes after the end of "y" (4 bytes) at saxpy.go:18:3 block (0,2,0) thread (5,0,0)`
	if f.Error() != text {
		t.Errorf("error\n%s\nwant\n%s", f.Error(), text)
	}
}

func TestReadOfUnwrittenGlobalMemoryFaults(t *testing.T) {
	const load = "ld.global.u32 %r5, [%rd2+8];"
	memory := NewMemory()
	out := newBuffer(t, memory, 64, "out")
	in := newBuffer(t, memory, 64, "in")
	config := Config{Memory: memory, Params: [][]byte{out.param(), in.param()}}
	_, err := runKernel(t, load, 1, config)
	wantFault(t, err, Uninitialised, bodyLine(t, load, "ld.global.u32"))
	if err := memory.Write(in.address+8, le32(5)[:3]); err != nil {
		t.Fatal(err)
	}
	_, err = runKernel(t, load, 1, config)
	wantFault(t, err, Uninitialised, bodyLine(t, load, "ld.global.u32"))
	// Bytes that a kernel writes become initialized.
	if _, err := runKernel(t, "st.global.u8 [%rd2+11], 1;\n"+load, 1, config); err != nil {
		t.Error(err)
	}
	// Copying uninitialized bytes makes the destination uninitialized.
	if err := memory.Copy(in.address+16, in.address+4, 8); err != nil {
		t.Fatal(err)
	}
	if _, err := runKernel(t, "ld.global.u32 %r5, [%rd2+20];", 1, config); err != nil {
		t.Error(err)
	}
	_, err = runKernel(t, "ld.global.u32 %r5, [%rd2+16];", 1, config)
	wantFault(t, err, Uninitialised, bodyLine(t, load, "ld.global.u32"))
}

func TestWritesOfAnUncheckedLaunchInitializeMemory(t *testing.T) {
	m := mustParse(t, kernel("st.global.u32 [%rd1], 5;"))
	memory := NewMemory()
	out := newBuffer(t, memory, 64, "out")
	config := Config{Memory: memory, Params: [][]byte{out.param(), out.param()}, Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}}
	if err := m.Launch(context.Background(), "k", config); err != nil {
		t.Fatal(err)
	}
	if _, err := runKernel(t, "ld.global.u32 %r5, [%rd1];", 1, config); err != nil {
		t.Error(err)
	}
}

func TestUseAfterFree(t *testing.T) {
	memory := NewMemory()
	out := newBuffer(t, memory, 64, "out")
	old := newBuffer(t, memory, 64, "old").zero()
	if err := memory.Free(old.address); err != nil {
		t.Fatal(err)
	}
	const load = "ld.global.u32 %r5, [%rd2];"
	_, err := runKernel(t, load, 1, Config{Memory: memory, Params: [][]byte{out.param(), old.param()}})
	f := wantFault(t, err, UseAfterFree, bodyLine(t, load, "ld.global.u32"))
	if f.Address != old.address || !strings.Contains(f.Detail, `"old"`) {
		t.Errorf("fault %v at %#x, want %#x", f, f.Address, old.address)
	}
}

func TestConstantMemoryIsReadOnly(t *testing.T) {
	src := header + `.const .align 4 .b32 table[2] = {11, 22};
.visible .entry k(.param .u64 out)
{
.reg .b64 %rd<4>;
.reg .b32 %r<4>;
ld.param.u64 %rd1, [out];
ld.const.u32 %r1, [table+4];
st.global.u32 [%rd1], %r1;
mov.u64 %rd2, table;
cvta.const.u64 %rd2, %rd2;
st.u32 [%rd2], %r1;
ret;
}
`
	assembles(t, src)
	memory := NewMemory()
	out := newBuffer(t, memory, 4, "out")
	err := mustParse(t, src).Launch(context.Background(), "k", Config{
		Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: [][]byte{out.param()}, Memory: memory,
	})
	wantFault(t, err, ReadOnly, 14)
	if got := out.words()[0]; got != 22 {
		t.Errorf("table[1] = %d, want 22", got)
	}
}

func TestStepBudgetIsExact(t *testing.T) {
	const loop = "loop: bra loop;"
	_, err := runKernel(t, loop, 1, Config{MaxSteps: 10000})
	wantFault(t, err, StepBudget, bodyLine(t, loop, "loop:"))
	// kernel() adds four instructions to the body and a ret.
	const body = "add.s32 %r3, %r1, %r2;"
	if _, err := runKernel(t, body, 8, Config{MaxSteps: 6 * 8}); err != nil {
		t.Errorf("48 instructions are enough for 8 threads: %v", err)
	}
	_, err = runKernel(t, body, 8, Config{MaxSteps: 6*8 - 1})
	wantFault(t, err, StepBudget, bodyLine(t, body, "ret;"))
}

func TestCanceledContextEndsLaunch(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	memory := NewMemory()
	out := newBuffer(t, memory, 64, "out")
	for _, workers := range []int{1, 4} {
		err := mustParse(t, kernel("loop: bra loop;")).Launch(ctx, "k", Config{
			Grid: [3]int{8, 1, 1}, Block: [3]int{1, 1, 1}, Params: [][]byte{out.param(), out.param()}, Memory: memory, Workers: workers,
		})
		if !errors.Is(err, cause) {
			t.Errorf("%d workers: error %v, want %v", workers, err, cause)
		}
	}
}

func TestFaultsAreDeterministic(t *testing.T) {
	const body = own + "st.shared.u32 [tile], %r1;\nbar.sync 0;\nst.global.u32 [%rd1+64], %r1;"
	var first string
	for range 5 {
		_, err := runKernel(t, body, 64, Config{Grid: [3]int{4, 1, 1}})
		if err == nil {
			t.Fatal("no fault")
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Fatalf("%v, then %v", first, err)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for k := OutOfBounds; k <= IllegalOperand; k++ {
		name := k.String()
		if strings.HasPrefix(name, "Kind(") || seen[name] {
			t.Errorf("kind %d is called %q", uint8(k), name)
		}
		seen[name] = true
	}
	if got := Kind(200).String(); got != "Kind(200)" {
		t.Errorf("unknown kind is called %q", got)
	}
}

func TestPositionsAreLinesOfGoIfTheyAreKnown(t *testing.T) {
	for want, s := range map[string]Site{
		"saxpy.go:18:3": {File: "saxpy.go", Line: 18, Col: 3, PTXLine: 20},
		"PTX line 20":   {PTXLine: 20},
		"":              {},
	} {
		if got := s.position(); got != want {
			t.Errorf("%+v is at %q, want %q", s, got, want)
		}
	}
}
