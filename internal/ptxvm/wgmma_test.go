package ptxvm

import (
	"context"
	"strings"
	"testing"
)

// groupKernel fills A (64 rows) with the number of the row and B (8 rows) with ones, in bytes,
// runs body with the descriptors in %rd4 and %rd5, and stores %r5 of each thread.
func groupKernel(body string) string {
	return `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
.reg .pred %p<3>;
.reg .b32 %r<12>;
.reg .b64 %rd<8>;
.shared .align 1024 .b8 a[8192];
.shared .align 1024 .b8 b[1024];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, %r1;
mov.u32 %r2, a;
mad.lo.u32 %r3, %r1, 64, %r2;
shr.u32 %r4, %r1, 1;
mul.lo.u32 %r4, %r4, 0x01010101;
st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4};
st.shared.v4.u32 [%r3+16], {%r4, %r4, %r4, %r4};
st.shared.v4.u32 [%r3+32], {%r4, %r4, %r4, %r4};
st.shared.v4.u32 [%r3+48], {%r4, %r4, %r4, %r4};
mov.u32 %r6, b;
mad.lo.u32 %r3, %r1, 8, %r6;
mov.u32 %r4, 0x01010101;
st.shared.v2.u32 [%r3], {%r4, %r4};
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r2, %r2, 4;
cvt.u64.u32 %rd4, %r2;
or.b64 %rd4, %rd4, 0x4000004000010000;
shr.u32 %r6, %r6, 4;
cvt.u64.u32 %rd5, %r6;
or.b64 %rd5, %rd5, 0x4000004000010000;
mov.u32 %r5, 7;
mov.u32 %r7, 7;
mov.u32 %r8, 7;
mov.u32 %r9, 7;
` + body + `
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd3, %rd1, %rd3;
st.global.u32 [%rd3], %r5;
ret;
}`
}

const groupProductText = `wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r5, %r7, %r8, %r9}, %rd4, %rd5, %p1;
wgmma.commit_group.sync.aligned;
`

func runGroup(t *testing.T, body string) ([]uint32, error) {
	t.Helper()
	m := mustParse(t, groupKernel(body))
	memory := NewMemory()
	out := newBuffer(t, memory, 4*128, "out").zero()
	err := m.Launch(context.Background(), "k", Config{Checks: true, Grid: [3]int{1, 1, 1}, Block: [3]int{128, 1, 1}, Memory: memory, Params: [][]byte{out.param()}})
	return out.words(), err
}

func TestGroupProducts(t *testing.T) {
	row := func(i int) uint32 { return uint32(i/32*16 + i%32/4) }
	for _, c := range []struct {
		name, body string
		want       func(i int) uint32
	}{
		{"a product", groupProductText + "wgmma.wait_group.sync.aligned 0;", func(i int) uint32 { return 7 + 32*row(i) }},
		{"the second row of a thread", groupProductText + "wgmma.wait_group.sync.aligned 0;\nmov.u32 %r5, %r9;", func(i int) uint32 { return 7 + 32*(row(i)+8) }},
		{"without a wait, there is no sum", groupProductText, func(int) uint32 { return 7 }},
		{"a wait for older products", groupProductText + groupProductText + "wgmma.wait_group.sync.aligned 1;", func(i int) uint32 { return 7 + 32*row(i) }},
		{"a product that replaces the sum", "setp.ne.u32 %p1, %r1, %r1;\n" + groupProductText + "wgmma.wait_group.sync.aligned 0;", func(i int) uint32 { return 32 * row(i) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := runGroup(t, c.body)
			if err != nil {
				t.Fatal(err)
			}
			wantWords(t, got, c.want)
		})
	}
	t.Run("another layout", func(t *testing.T) {
		_, err := runGroup(t, "xor.b64 %rd4, %rd4, 0x4000000000000000;\n"+groupProductText+"wgmma.wait_group.sync.aligned 0;")
		if err == nil || !strings.Contains(err.Error(), "matrix descriptor") {
			t.Errorf("error is %v", err)
		}
	})
}
