package ptxvm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// fuzzSeeds are modules that cover the syntax and most instructions.
func fuzzSeeds() []string {
	return []string{
		registerLoop,
		memoryLoop,
		kernel(own + "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r5, [tile+8];" + storeOwn),
		kernel("atom.global.cas.b32 %r5, [%rd1], %r1, 7;\nmembar.gl;\nred.shared.add.u32 [tile], 1;\natom.global.add.f32 %f1, [%rd1+8], %f2;"),
		kernel("shfl.sync.down.b32 %r5|%p1, %r1, 3, 0x1f, -1;\nvote.sync.any.pred %p2, !%p1, -1;\nactivemask.b32 %r6;\nbar.warp.sync %r6;\nredux.sync.add.s32 %r7, %r5, -1;\nmatch.any.sync.b32 %r8, %r7, -1;"),
		kernel("cvt.rni.s32.f32 %r5, %f1;\ncvt.rn.f32.u64 %f2, %rd1;\nsetp.ltu.and.f32 %p1|%p2, %f1, 0f3F800000, %p3;\nfma.rz.f32 %f3, %f1, %f2, %f2;\nsin.approx.f32 %f4, %f3;\nmad.wide.s32 %rd3, %r1, -5, %rd1;\nbfe.s32 %r6, %r5, 3, 200;\ndiv.s32 %r7, %r6, 0;\nmov.b64 {%r3,%r4}, %rd3;"),
		kernel("ld.local.v2.u32 {%r3,_}, [depot+8];\nst.volatile.global.u8 [%rd1+3], %h1;\ncvta.shared.u64 %rd5, %rd2;\nld.u32 %r5, [%rd5];\nbar.red.popc.u32 %r6, 1, 64, %p1;\nbar.arrive 2, 32;"),
		kernel("t: .branchtargets a, b;\n@!%p1 brx.idx %r1, t;\na: { .reg .b32 %r1; bra b; }\nb: trap;"),
		header + ".file 1 \"a.go\"\n.const .b32 c[2][2] = {{1, -2}, {3}};\n.global .u64 g = c+4;\n.extern .shared .b8 dyn[];\n.entry k(.param .align 8 .b8 s[12]) .maxntid 32, 2 {\n.reg .b32 %r<3>;\n.loc 1 2 3\nld.param.u32 %r1, [s+4]; ld.const.u32 %r2, [c+8]; st.shared.u32 [dyn+4], %r2; mov.u32 %r1, %clock; exit; }\n",
		"/* */ .version 1.0 .target sm_50 .address_size 64 .section .debug_info { .b8 1, 2 }",
	}
}

// FuzzParse passes text to Parse, which must return a module or a list of errors with
// their lines.
func FuzzParse(f *testing.F) {
	for _, src := range fuzzSeeds() {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		m, err := Parse(src)
		if err == nil {
			if m == nil {
				t.Fatal("no module and no error")
			}
			return
		}
		var list ErrorList
		if m != nil || !errors.As(err, &list) || len(list) == 0 {
			t.Fatalf("module %v with error %v", m, err)
		}
		for _, e := range list {
			if e.Line < 1 || e.Message == "" {
				t.Errorf("error %+v", e)
			}
		}
	})
}

// fuzzLines are the statements that fuzz programs consist of.
var fuzzLines = []string{
	"ld.param.u64 %rd3, [in];", "mov.u32 %r3, tile;", "mov.u64 %rd4, tile;", "cvta.shared.u64 %rd4, %rd4;", "cvta.local.u64 %rd5, %rd1;",
	"mov.u32 %r4, %tid.y;", "mov.u32 %r4, %laneid;", "mov.u32 %r4, %lanemask_lt;", "mov.u32 %r4, %clock;", "mov.u32 %r4, 64;", "mov.u32 %r5, -1;",
	"add.s32 %r5, %r4, %r1;", "sub.u64 %rd3, %rd3, 4;", "mul.wide.u32 %rd3, %r1, 4;", "add.s64 %rd3, %rd1, %rd3;", "shl.b32 %r3, %r5, 2;",
	"div.s32 %r5, %r4, %r5;", "rem.u64 %rd6, %rd3, %rd6;", "and.b32 %r4, %r5, 31;", "shr.s64 %rd6, %rd3, %r5;", "xor.pred %p1, %p2, %p3;",
	"bfe.s32 %r6, %r4, %r5, %r1;", "bfi.b64 %rd6, %rd3, %rd4, %r5, %r1;", "prmt.b32 %r6, %r4, %r5, %r1;", "shf.l.wrap.b32 %r6, %r4, %r5, %r1;",
	"cvt.rn.f32.s32 %f1, %r5;", "cvt.rzi.u64.f32 %rd6, %f2;", "cvt.sat.u8.s64 %r6, %rd3;", "cvt.rn.f16.f32 %h1, %f1;", "cvt.f32.f16 %f2, %h1;", "add.rp.f32 %f3, %f1, %f2;",
	"fma.rn.f32 %f2, %f1, %f2, %f3;", "div.rz.f32 %f2, %f1, %f3;", "sqrt.rm.f32 %f2, %f1;", "ex2.approx.f32 %f1, %f2;", "min.NaN.f32 %f3, %f1, %f2;",
	"setp.lt.u32 %p1, %r4, %r5;", "setp.eq.s32 %p2, %r1, 0;", "setp.geu.and.f32 %p3|%p1, %f1, %f2, %p2;", "selp.b32 %r5, %r4, %r6, %p1;", "slct.s32.f32 %r5, %r4, %r6, %f1;",
	"ld.global.u32 %r5, [%rd3];", "ld.global.v2.f32 {%f1,%f2}, [%rd2+8];", "ld.u8 %r5, [%rd4];", "ld.volatile.global.s16 %r4, [%rd2];", "ld.acquire.gpu.u64 %rd6, [%rd3];",
	"st.global.u32 [%rd3], %r5;", "st.global.v4.u32 [%rd1], {%r1,%r2,%r3,%r4};", "st.u8 [%rd4+3], %r1;", "st.release.sys.u32 [%rd1], %r4;", "@%p1 st.global.u64 [%rd3], %rd4;",
	"ld.shared.u32 %r5, [%r3];", "st.shared.u32 [%r3], %r1;", "st.shared.v2.u64 [tile+16], {%rd1,%rd2};", "@%p2 st.shared.u16 [tile+2], %h1;", "ld.shared.s8 %r6, [tile+5];",
	"st.local.u64 [depot+8], %rd3;", "ld.local.u32 %r5, [depot+12];", "st.u32 [%rd5], %r1;",
	"atom.global.add.u32 %r5, [%rd1], %r4;", "atom.shared.cas.b32 %r6, [tile], %r4, %r5;", "atom.max.s64 %rd6, [%rd3], %rd4;", "red.shared.add.f32 [tile+8], %f1;", "red.global.inc.u32 [%rd2], 5;",
	"membar.gl;", "fence.acq_rel.sys;", "bar.sync 0;", "@%p1 bar.sync 0;", "bar.sync %r4;", "bar.sync 1, 32;", "bar.arrive 1, 64;", "bar.red.or.pred %p3, 0, !%p1;", "barrier.sync 3, %r4;",
	"bar.warp.sync -1;", "bar.warp.sync %r4;", "shfl.sync.bfly.b32 %r5|%p1, %r4, 3, 31, -1;", "shfl.sync.up.b32 %r5, %r4, %r1, %r4, %r5;", "vote.sync.ballot.b32 %r5, %p1, -1;",
	"vote.sync.uni.pred %p2, !%p1, %r5;", "match.any.sync.b32 %r6, %r4, -1;", "match.all.sync.b64 %r6|%p3, %rd3, %r5;", "redux.sync.xor.b32 %r5, %r4, -1;", "activemask.b32 %r5;",
	"@%p1 bra here;", "@!%p2 bra here;", "@%p3 bra done;", "bra here;", "brx.idx %r4, targets;", "@%p1 exit;", "@%p2 trap;", "add.cc.u32 %r5, %r4, %r1;", "addc.u32 %r6, %r5, %r4;",
}

// fuzzProgram builds a kernel from the lines that picks selects. One in the middle is the
// target of branches.
func fuzzProgram(picks []byte) string {
	var body strings.Builder
	body.WriteString("targets: .branchtargets here, done;\n")
	for i, pick := range picks {
		if i == len(picks)/3 {
			body.WriteString("here:\n")
		}
		body.WriteString(fuzzLines[int(pick)%len(fuzzLines)] + "\n")
	}
	if len(picks) == 0 {
		body.WriteString("here:\n")
	}
	return kernel(body.String() + "done:")
}

// FuzzRun runs a program twice with checks and once without. It builds the program from
// picks or, if there are none, uses the kernels of src. Both checked runs must end the
// same way.
func FuzzRun(f *testing.F) {
	for i, src := range fuzzSeeds() {
		f.Add(src, []byte{}, uint8(i*17), uint64(i))
	}
	for i := range fuzzLines {
		picks := []byte{0, 13, 14, 1, 36}
		for k := range 12 {
			picks = append(picks, byte(i+i*k*k))
		}
		f.Add("", picks, uint8(i*29), uint64(i))
	}
	f.Fuzz(func(t *testing.T, src string, picks []byte, shape uint8, param uint64) {
		if len(picks) > 0 {
			src = fuzzProgram(picks)
		}
		m, err := Parse(src)
		if err != nil {
			if len(picks) > 0 {
				t.Fatalf("%v\n%s", err, src)
			}
			return
		}
		for _, e := range m.Entries() {
			var ends [2]string
			for i := range ends {
				ends[i] = fuzzLaunch(t, m, e, shape, param, true)
			}
			if ends[0] != ends[1] {
				t.Errorf("one run ends with %q, the other with %q", ends[0], ends[1])
			}
			fuzzLaunch(t, m, e, shape, param, false)
		}
	})
}

// fuzzLaunch runs e and returns how it ended.
func fuzzLaunch(t *testing.T, m *Module, e *Entry, shape uint8, param uint64, checks bool) string {
	t.Helper()
	memory := NewMemory()
	memory.SetLimit(1 << 20)
	buffer := newBuffer(t, memory, 256, "buffer")
	if shape&1 == 0 {
		buffer.zero()
	}
	c := Config{
		Grid:          [3]int{1 + int(shape>>1&1), 1 + int(shape>>2&1), 1},
		Block:         [3]int{1 + int(shape>>3&3)*13, 1 + int(shape>>5&1), 1},
		DynamicShared: int(shape>>6) * 20,
		Memory:        memory,
		Checks:        checks,
		MaxSteps:      20000,
		Workers:       2,
	}
	if raceEnabled {
		c.Workers = 1 // the programs have data races
	}
	if r := e.RequiredThreads; r[0] != 0 {
		c.Block = r
	}
	for i, p := range e.Params {
		value := make([]byte, p.Size)
		source := buffer.param()
		if i > 1 {
			source = le64(param)
		}
		copy(value, source)
		c.Params = append(c.Params, value)
	}
	err := m.Launch(context.Background(), e.Name, c)
	if err == nil {
		return ""
	}
	var fault *Fault
	var launch *LaunchError
	if !errors.As(err, &fault) && !errors.As(err, &launch) && !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("error of type %T: %v", err, err)
	}
	return err.Error()
}

func TestFuzzProgramsAreValidPTX(t *testing.T) {
	picks := make([]byte, len(fuzzLines))
	for i := range picks {
		picks[i] = byte(i)
	}
	src := fuzzProgram(picks)
	assembles(t, src)
	mustParse(t, src)
}
