package ptxvm

import (
	"context"
	"strings"
	"testing"
)

// tileKernel describes a matrix of words with 40 columns and 10 rows, which is 0, 1, 2 and so on
// from the second 128 bytes of m on, copies a tile of 8 rows from a row and a column on, and
// stores its words.
func tileKernel(column, row, swizzle string) string {
	return `.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 m)
{
.reg .pred %p<3>;
.reg .b32 %r<12>;
.reg .b64 %rd<8>;
.shared .align 1024 .b8 tile[1024];
.shared .align 8 .b8 bar[8];
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [m];
add.u64 %rd3, %rd2, 128;
mov.u32 %r1, %tid.x;
mov.u32 %r2, tile;
mov.u32 %r3, bar;
mov.u64 %rd4, 160;
mbarrier.init.shared.b64 [%r3], 1;
tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd3;
tensormap.replace.tile.rank.global.b1024.b32 [%rd2], 1;
tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 0, 32;
tensormap.replace.tile.box_dim.global.b1024.b32 [%rd2], 1, 8;
tensormap.replace.tile.global_dim.global.b1024.b32 [%rd2], 0, 40;
tensormap.replace.tile.global_dim.global.b1024.b32 [%rd2], 1, 10;
tensormap.replace.tile.global_stride.global.b1024.b64 [%rd2], 0, %rd4;
tensormap.replace.tile.element_stride.global.b1024.b32 [%rd2], 0, 1;
tensormap.replace.tile.element_stride.global.b1024.b32 [%rd2], 1, 1;
tensormap.replace.tile.elemtype.global.b1024.b32 [%rd2], 2;
tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd2], 0;
tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd2], ` + swizzle + `;
tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd2], 0;
fence.proxy.tensormap::generic.release.gpu;
fence.proxy.tensormap::generic.acquire.gpu [%rd2], 128;
mov.u32 %r4, ` + column + `;
mov.u32 %r5, ` + row + `;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], 1024;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd2, {%r4, %r5}], [%r3];
mbarrier.arrive.shared.b64 %rd5, [%r3];
$L:
mbarrier.try_wait.shared.b64 %p1, [%r3], %rd5;
@!%p1 bra $L;
mov.u32 %r6, 0;
$S:
mad.lo.u32 %r7, %r6, 4, %r2;
ld.shared.u32 %r8, [%r7];
mul.wide.u32 %rd6, %r6, 4;
add.u64 %rd6, %rd6, %rd1;
st.global.u32 [%rd6], %r8;
add.u32 %r6, %r6, 1;
setp.lt.u32 %p2, %r6, 256;
@%p2 bra $S;
ret;
}`
}

func runTile(t *testing.T, checks bool, column, row, swizzle string) ([]uint32, error) {
	t.Helper()
	src := tileKernel(column, row, swizzle)
	m := mustParse(t, src)
	memory := NewMemory()
	out := newBuffer(t, memory, 1024, "out").zero()
	matrix := newBuffer(t, memory, 128+1600, "m").zero()
	data := make([]byte, 128, 128+1600)
	for i := range uint32(400) {
		data = append(data, le32(i)...)
	}
	if err := memory.Write(matrix.address, data); err != nil {
		t.Fatal(err)
	}
	err := m.Launch(context.Background(), "k", Config{Checks: checks, Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Memory: memory, Params: [][]byte{out.param(), matrix.param()}})
	return out.words(), err
}

func TestTileCopies(t *testing.T) {
	for _, checks := range []bool{false, true} {
		got, err := runTile(t, checks, "16", "4", "3")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			row, line, word := i/32, i/4%8^i/32%8, i%4
			want := uint32(0)
			if y, x := 4+row, 16+line*4+word; y < 10 && x < 40 {
				want = uint32(y*40 + x)
			}
			if v != want {
				t.Fatalf("word %d is %d, want %d", i, v, want)
			}
		}
	}
}

func TestTileCopiesThatTheHardwareLacks(t *testing.T) {
	for name, c := range map[string]struct{ column, swizzle, want string }{
		"a column at no multiple of 16 bytes": {"17", "3", "column 17"},
		"another swizzle":                     {"16", "2", "a tensor map that is not"},
	} {
		if _, err := runTile(t, true, c.column, "0", c.swizzle); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want one with %q", name, err, c.want)
		}
	}
}
