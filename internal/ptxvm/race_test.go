package ptxvm

import (
	"testing"
)

// raceCase is a body that has a race of the given kind on the line of at, or
// none if kind is zero.
type raceCase struct {
	name    string
	body    string
	threads int
	blocks  int
	kind    Kind
	at      string
	other   string // the line of the other access; "" for the same line
}

func testRaces(t *testing.T, cases []raceCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := runKernel(t, c.body, c.threads, Config{Grid: [3]int{max(c.blocks, 1), 1, 1}, MaxSteps: 1 << 20})
			if c.kind == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			line := bodyLine(t, c.body, c.at)
			f := wantFault(t, err, c.kind, line)
			if f.Other == nil {
				t.Fatalf("%v does not say what it races with", f)
			}
			if c.other != "" {
				line = bodyLine(t, c.body, c.other)
			}
			if f.Other.PTXLine != line {
				t.Errorf("races with PTX line %d, want %d", f.Other.PTXLine, line)
			}
			if f.Other.Block == f.Block && f.Other.Thread == f.Thread {
				t.Errorf("%v races with itself", f.Site)
			}
		})
	}
}

func TestSharedMemoryRaces(t *testing.T) {
	// neighbour reads the word of the next thread.
	const write, neighbour = "st.shared.u32 [%r3], %r1;\n", "ld.shared.u32 %r5, [%r6];\n"
	const next = own + "add.s32 %r6, %r1, 1;\nand.b32 %r6, %r6, 63;\nshl.b32 %r6, %r6, 2;\nadd.s32 %r6, %r6, %r4;\n"
	testRaces(t, []raceCase{
		{name: "each thread has its own word", body: next + write + "ld.shared.u32 %r5, [%r3];", threads: 64},
		{name: "a barrier orders a write before the read of another thread", body: next + write + "bar.sync 0;\n" + neighbour, threads: 64},
		{name: "all threads write the same word", body: next + "st.shared.u32 [tile], %r1;", threads: 64,
			kind: SharedRace, at: "st.shared.u32 [tile]"},
		{name: "writing the same value does not excuse it", body: next + "st.shared.u32 [tile], 7;", threads: 64,
			kind: SharedRace, at: "st.shared.u32 [tile]"},
		{name: "a write of what another thread reads", body: next + write + "bar.sync 0;\n" + neighbour + "st.shared.u32 [%r3], 9;", threads: 64,
			kind: SharedRace, at: "st.shared.u32 [%r3], 9", other: "ld.shared.u32 %r5"},
		{name: "a write of what two other threads have read", threads: 64,
			body: next + write + "bar.sync 0;\nld.shared.u32 %r5, [tile+252];\nsetp.eq.s32 %p1, %r1, 63;\n@%p1 st.shared.u32 [%r3], 9;",
			kind: SharedRace, at: "@%p1 st.shared", other: "ld.shared.u32 %r5, [tile+252]"},
		{name: "bytes of one word are not shared", body: next + "cvt.u16.u32 %h1, %r1;\nmov.u32 %r7, tile;\nadd.s32 %r7, %r7, %r1;\nst.shared.u8 [%r7], %h1;", threads: 64},
		{name: "a byte of a word that another thread wrote", threads: 2,
			body: next + "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], %r1;\n@!%p1 st.shared.u8 [tile+3], %h1;",
			kind: SharedRace, at: "st.shared.u8", other: "st.shared.u32"},
		{name: "a word of which another thread wrote a byte", threads: 2,
			body: next + "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.shared.u8 [tile+3], %h1;\n@!%p1 st.shared.u32 [tile], %r1;",
			kind: SharedRace, at: "st.shared.u32", other: "st.shared.u8"},
		{name: "atomics do not race with each other", body: next + write + "bar.sync 0;\natom.shared.add.u32 %r5, [tile], 1;", threads: 64},
		{name: "an atomic races with a plain read", threads: 64,
			body: next + write + "bar.sync 0;\natom.shared.add.u32 %r5, [tile], 1;\nld.shared.u32 %r5, [tile];",
			kind: SharedRace, at: "atom.shared", other: "ld.shared.u32 %r5, [tile]"},
		{name: "an atomic races with a plain write", threads: 64,
			body: next + "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], %r1;\natom.shared.add.u32 %r5, [tile], 1;",
			kind: SharedRace, at: "atom.shared", other: "st.shared"},
		{name: "volatile accesses do not race", body: next + "st.volatile.shared.u32 [tile], %r1;\nld.volatile.shared.u32 %r5, [tile];", threads: 64},
		{name: "bar.warp.sync orders the threads of a warp", threads: 32,
			body: own + "xor.b32 %r6, %r3, 4;\n" + write + "bar.warp.sync 0xffffffff;\n" + neighbour},
		{name: "bar.warp.sync does not order two warps", threads: 64,
			body: own + "xor.b32 %r6, %r3, 128;\n" + write + "bar.warp.sync 0xffffffff;\nadd.s32 %r7, %r6, 0;\nst.shared.u32 [%r7], 1;",
			kind: SharedRace, at: "st.shared.u32 [%r7]", other: "st.shared.u32 [%r3]"},
		{name: "a shuffle does not order memory", threads: 32,
			body: own + "xor.b32 %r6, %r3, 4;\n" + write + "shfl.sync.idx.b32 %r7, %r1, 0, 31, 0xffffffff;\n" + neighbour,
			kind: SharedRace, at: "ld.shared.u32 %r5", other: "st.shared.u32"},
		{name: "shared memory of two blocks is not the same", body: own + "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], %r2;", threads: 64, blocks: 4},
	})
}

func TestGlobalMemoryRaces(t *testing.T) {
	// own of all threads of the grid, in blocks of 64.
	const global = "mad.lo.u32 %r3, %r2, 64, %r1;\nmul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
	const first = "setp.eq.s32 %p1, %r1, 0;\n"
	testRaces(t, []raceCase{
		{name: "each thread has its own word", body: global + "st.global.u32 [%rd3], %r1;", threads: 64, blocks: 4},
		{name: "all may read", body: "ld.global.u32 %r5, [%rd2];", threads: 64, blocks: 4},
		{name: "two threads of a block write a word", body: "st.global.u32 [%rd1], %r1;", threads: 64,
			kind: GlobalRace, at: "st.global"},
		{name: "two blocks write a word", body: first + "@%p1 st.global.u32 [%rd1], %r2;", threads: 64, blocks: 2,
			kind: GlobalRace, at: "@%p1 st.global"},
		{name: "a barrier does not order two blocks", threads: 64, blocks: 2,
			body: first + "@%p1 st.global.u32 [%rd1], %r2;\nbar.sync 0;\nld.global.u32 %r5, [%rd1];",
			kind: GlobalRace, at: "@%p1 st.global"},
		{name: "a barrier orders the threads of a block", threads: 64,
			body: first + "@%p1 st.global.u32 [%rd1], %r2;\nbar.sync 0;\nld.global.u32 %r5, [%rd1];"},
		{name: "histogram with atomics", body: "and.b32 %r5, %r1, 7;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd3, %rd1, %rd3;\nred.global.add.u32 [%rd3], 1;", threads: 64, blocks: 4},
		{name: "vector stores overlap in one word", threads: 2,
			body: "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.global.v4.u32 [%rd1], {%r1,%r1,%r1,%r1};\n@!%p1 st.global.u32 [%rd1+12], %r1;",
			kind: GlobalRace, at: "@!%p1 st.global", other: "st.global.v4"},
		{name: "pixels of one byte each", body: "cvt.u64.u32 %rd3, %r1;\nadd.s64 %rd3, %rd1, %rd3;\nst.global.u8 [%rd3], %h1;", threads: 64},
		// The last block of a reduction reads what the others have published
		// with a fence and a ticket.
		{name: "a ticket taken behind a fence orders blocks", threads: 64, blocks: 4, body: lastBlock("membar.gl;", "membar.gl;")},
		{name: "a ticket without a fence does not", threads: 64, blocks: 4, body: lastBlock("", ""),
			kind: GlobalRace, at: "ld.global.u32 %r7", other: "st.global.u32 [%rd4], 1"},
		{name: "a fence on one side only does not", threads: 64, blocks: 4,
			body: lastBlock("", "fence.acq_rel.gpu;"), kind: GlobalRace, at: "ld.global.u32 %r7", other: "st.global.u32 [%rd4], 1"},
		{name: "st.release and ld.acquire order two threads", threads: 2, body: `
setp.eq.s32 %p1, %r1, 0;
@!%p1 bra consumer;
st.global.u32 [%rd1], 5;
st.release.gpu.global.u32 [%rd1+4], 1;
bra done;
consumer:
ld.acquire.gpu.global.u32 %r5, [%rd1+4];
setp.eq.s32 %p2, %r5, 0;
@%p2 bra consumer;
ld.global.u32 %r6, [%rd1];
done:`},
		{name: "a relaxed flag does not order two threads", threads: 2, body: `
setp.eq.s32 %p1, %r1, 0;
@!%p1 bra consumer;
st.global.u32 [%rd1], 5;
st.relaxed.gpu.global.u32 [%rd1+4], 1;
bra done;
consumer:
ld.relaxed.gpu.global.u32 %r5, [%rd1+4];
setp.eq.s32 %p2, %r5, 0;
@%p2 bra consumer;
ld.global.u32 %r6, [%rd1];
done:`, kind: GlobalRace, at: "ld.global.u32 %r6", other: "st.global.u32 [%rd1], 5"},
	})
}

// lastBlock is a kernel in which thread 0 of each of 4 blocks stores a partial
// result and takes a ticket; the block with the last ticket reads all results.
func lastBlock(release, acquire string) string {
	return `
setp.ne.s32 %p1, %r1, 0;
@%p1 bra join;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd4, %rd1, %rd4;
st.global.u32 [%rd4], 1;
` + release + `
atom.global.inc.u32 %r5, [%rd1+512], 3;
` + acquire + `
st.shared.u32 [tile], %r5;
join:
bar.sync 0;
ld.shared.u32 %r6, [tile];
setp.ne.s32 %p2, %r6, 3;
@%p2 bra done;
and.b32 %r6, %r1, 3;
mul.wide.u32 %rd5, %r6, 4;
add.s64 %rd5, %rd1, %rd5;
ld.global.u32 %r7, [%rd5];
done:`
}
