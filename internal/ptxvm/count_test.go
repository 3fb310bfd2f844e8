package ptxvm

import (
	"fmt"
	"testing"
)

// counted runs a body in one block and returns the sum of the counts of all instructions.
func counted(t *testing.T, body string, threads int) (sum Count, out []uint32) {
	t.Helper()
	c := new(Counter)
	b, err := runKernel(t, body, threads, Config{Counter: c})
	if err != nil {
		t.Fatal(err)
	}
	kernels := c.Kernels()
	if len(kernels) != 1 || kernels[0].Launches != 1 || kernels[0].Blocks != 1 || kernels[0].Threads != uint64(threads) {
		t.Fatalf("counted %+v, want one launch of one block of %d threads", kernels, threads)
	}
	for _, l := range kernels[0].Lines {
		sum.Add(&l.Count)
	}
	return sum, b.words()
}

func TestSectorsOfGlobalAccesses(t *testing.T) {
	for _, c := range []struct {
		name           string
		stride         int // bytes between threads
		sectors, least uint64
	}{
		{"adjacent words of a warp need 4 sectors", 4, 4, 4},
		{"every other word needs twice as many", 8, 8, 4},
		{"words 32 bytes apart need a sector each", 32, 32, 4},
		{"one word for all threads needs one sector", 0, 1, 1},
	} {
		body := fmt.Sprintf("mul.wide.u32 %%rd3, %%r1, %d;\nadd.s64 %%rd3, %%rd1, %%rd3;\nld.global.u32 %%r5, [%%rd3];\n", c.stride)
		got, _ := counted(t, body, 32)
		if got.Loads != 1 || got.Bytes != 128 || got.Sectors != c.sectors || got.Least != c.least {
			t.Errorf("%s: %d loads of %d bytes, %d sectors, at least %d", c.name, got.Loads, got.Bytes, got.Sectors, got.Least)
		}
	}
}

func TestPassesOfSharedAccesses(t *testing.T) {
	for _, c := range []struct {
		name           string
		stride, size   int
		passes, fewest uint64
	}{
		{"adjacent words need one pass", 4, 4, 1, 1},
		{"32 words of one bank need 32", 128, 4, 32, 1},
		{"words two apart need two", 8, 4, 2, 1},
		{"33 words apart have no conflicts", 132, 4, 1, 1},
		{"a word for all threads needs one", 0, 4, 1, 1},
		{"8 adjacent bytes need two, one per half warp", 8, 8, 2, 2},
	} {
		var addresses []uint64
		for i := range 32 {
			addresses = append(addresses, uint64(i*c.stride))
		}
		if passes, fewest := passesOf(addresses, c.size); passes != c.passes || fewest != c.fewest {
			t.Errorf("%s: %d passes, at least %d", c.name, passes, fewest)
		}
	}
}

// Lanes leave a loop after different numbers of iterations, and meet again behind it.
func TestLanesDivergeAndConverge(t *testing.T) {
	got, out := counted(t, `
mov.u32 %r5, 0;
loop:
add.u32 %r5, %r5, 1;
setp.le.u32 %p1, %r5, %r1;
@%p1 bra loop;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3], %r5;`, 32)
	wantWords(t, out[:32], func(i int) uint32 { return uint32(i) + 1 })
	if got.Branches != 32 || got.Diverged != 31 {
		t.Errorf("%d of %d branches diverged, want 31 of 32", got.Diverged, got.Branches)
	}
	if got.Loads != 1 || got.Sectors != 4 {
		t.Errorf("%d stores of %d sectors behind the loop, want 1 of 4: the lanes do not meet", got.Loads, got.Sectors)
	}
}

// Both sides of a branch run with half of the lanes.
func TestSidesOfABranchHaveTheirLanes(t *testing.T) {
	got, out := counted(t, `
and.b32 %r6, %r1, 1;
setp.eq.u32 %p1, %r6, 0;
@%p1 bra even;
mov.f32 %f1, 0f3f800000;
add.f32 %f1, %f1, %f1;
mov.u32 %r5, 7;
bra done;
even:
mov.f32 %f1, 0f3f800000;
fma.rn.f32 %f1, %f1, %f1, %f1;
mov.u32 %r5, 9;
done:
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3], %r5;`, 32)
	wantWords(t, out[:32], func(i int) uint32 { return 9 - 2*uint32(i%2) })
	if got.Operations != 16+2*16 {
		t.Errorf("%d floating-point operations, want 48", got.Operations)
	}
	if got.Loads != 1 || got.Sectors != 4 {
		t.Errorf("%d stores of %d sectors behind the branch, want 1 of 4", got.Loads, got.Sectors)
	}
}

// A lane that spins until another lane of its warp has written must not keep it from running.
func TestLanesThatWaitForLanesOfTheirWarp(t *testing.T) {
	_, out := counted(t, `
setp.eq.u32 %p1, %r1, 31;
@%p1 bra write;
spin:
ld.volatile.global.u32 %r5, [%rd1];
setp.eq.u32 %p1, %r5, 0;
@%p1 bra spin;
bra done;
write:
mov.u32 %r5, 1;
st.volatile.global.u32 [%rd1], %r5;
done:`, 32)
	if out[0] != 1 {
		t.Error("the last lane did not write")
	}
}

func TestFloatOperationsOfInstructions(t *testing.T) {
	for text, want := range map[string]uint16{
		"add.f32": 1, "fma.rn.f64": 2, "fma.rn.f16x2": 4, "add.s32": 0, "sqrt.rn.f32": 1, "mov.f32": 0,
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 128,
	} {
		opcode := text[:3]
		if text[0] == 's' {
			opcode = "sqrt"
		}
		if got := floatOperations(opcode, text); got != want {
			t.Errorf("%s: %d operations, want %d", text, got, want)
		}
	}
}
