package ptxvm

import (
	"slices"
	"strings"
	"testing"
)

func TestAsyncCopyFaults(t *testing.T) {
	const begin = "mbarrier.init.shared.b64 [tile], 2;\n"
	for _, c := range []struct {
		name, body, at string
		kind           Kind
		detail         string
	}{
		{"a barrier that is not initialized", "mbarrier.arrive.shared.b64 %rd3, [tile];", "mbarrier.arrive", IllegalOperand, "has not been initialized"},
		{"a barrier for no arrivals", "mov.u32 %r5, 0;\nmbarrier.init.shared.b64 [tile], %r5;", "mbarrier.init", IllegalOperand, "0 arrivals"},
		{"a misaligned barrier", "mbarrier.init.shared.b64 [tile+4], 1;", "mbarrier.init", Misaligned, ""},
		{"an arrival that never comes", begin + "mbarrier.arrive.shared.b64 %rd3, [tile];\nagain: mbarrier.try_wait.shared.b64 %p1, [tile], %rd3;\n@!%p1 bra again;", "mbarrier.try_wait", DivergentBarrier, "never come"},
		{"bytes that never come", "mbarrier.init.shared.b64 [tile], 1;\nmbarrier.arrive.expect_tx.shared.b64 %rd3, [tile], 16;\nagain: mbarrier.try_wait.shared.b64 %p1, [tile], %rd3;\n@!%p1 bra again;", "mbarrier.try_wait", DivergentBarrier, "never come"},
		{"a bulk copy of an odd size", begin + "mov.u32 %r5, 20;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+16], [%rd2], %r5, [tile];", "cp.async.bulk", IllegalOperand, "20 bytes"},
		{"a bulk copy to past the end", begin + "mov.u32 %r5, 32;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+4080], [%rd2], %r5, [tile];", "cp.async.bulk", OutOfBounds, "byte 4096 of 4096"},
		{"a copy from a misaligned address", "cp.async.cg.shared.global [tile], [%rd2+8], 16;", "cp.async", Misaligned, "load of 16 bytes"},
		{"a copy that is read too early", "cp.async.ca.shared.global [tile], [%rd2], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r5, [tile];", "ld.shared", Uninitialised, "still to write"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runKernel(t, c.body, 1, Config{Checks: true})
			f := wantFault(t, err, c.kind, bodyLine(t, c.body, c.at))
			if !strings.Contains(f.Detail, c.detail) {
				t.Errorf("detail %q does not contain %q", f.Detail, c.detail)
			}
		})
	}
}

func TestAsyncCopiesArriveInGroups(t *testing.T) {
	const body = `
st.global.v4.u32 [%rd2], {1, 2, 3, 4};
st.global.v4.u32 [%rd2+16], {5, 6, 7, 8};
cp.async.ca.shared.global [tile], [%rd2], 4;
cp.async.commit_group;
cp.async.cg.shared.global [tile+16], [%rd2+16], 16;
cp.async.commit_group;
cp.async.ca.shared.global [tile+8], [%rd2+8], 8;
cp.async.wait_group 1;
ld.shared.u32 %r5, [tile];
st.global.u32 [%rd1], %r5;
cp.async.wait_all;
ld.shared.u32 %r5, [tile+28];
st.global.u32 [%rd1+4], %r5;
ld.shared.u32 %r5, [tile+12];
st.global.u32 [%rd1+8], %r5;
`
	out, err := runKernel(t, body, 1, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := out.words()[:3]; !slices.Equal(got, []uint32{1, 8, 4}) {
		t.Errorf("copied %v, want 1, 8 and 4", got)
	}
}
