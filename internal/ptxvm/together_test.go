package ptxvm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// inClusters returns kernel(body) with clusters of two blocks.
func inClusters(body string) string {
	return strings.Replace(kernel(body), ")\n{", ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{", 1)
}

// leader writes the block's number plus ten to shared memory in one thread. It leaves the
// address in the cluster's other block in %rd5.
const leader = `
add.u32 %r3, %r2, 10;
st.shared.u32 [tile], %r3;
mov.u64 %rd3, tile;
cvta.shared.u64 %rd4, %rd3;
and.b32 %r4, %r2, 1;
xor.b32 %r4, %r4, 1;
mapa.u64 %rd5, %rd4, %r4;
`

const meet = "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"

// storeRemote stores the word that %rd5 points to in the block's element of out.
const storeRemote = `
ld.u32 %r5, [%rd5];
mad.wide.u32 %rd6, %r2, 4, %rd1;
st.global.u32 [%rd6], %r5;
`

func launchClustered(t *testing.T, body string, blocks int) ([]uint32, error) {
	t.Helper()
	src := inClusters(body)
	assembles(t, src)
	m := NewMemory()
	out := newBuffer(t, m, 64, "out").zero()
	err := mustParse(t, src).Launch(context.Background(), "k", Config{
		Grid: [3]int{blocks, 1, 1}, Block: [3]int{1, 1, 1}, Checks: true, Memory: m,
		Params: [][]byte{out.param(), out.param()}, MaxSteps: 1 << 20,
	})
	return out.words(), err
}

func TestClusterBlocksReadEachOthersMemory(t *testing.T) {
	out, err := launchClustered(t, leader+meet+storeRemote+meet, 4)
	if err != nil {
		t.Fatal(err)
	}
	if out[0] != 11 || out[1] != 10 || out[2] != 13 || out[3] != 12 {
		t.Errorf("out is %v", out[:4])
	}
}

func TestClusterFaults(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       Kind
		detail     string
	}{
		{"a read that nothing orders after the write", leader + storeRemote + meet, Uninitialised, "shared load"},
		{"a write that nothing orders after a read", leader + meet + storeRemote + "st.shared.u32 [tile], 1;\n" + meet, SharedRace, "shared"},
		{"memory of a block that has ended", leader + meet + "setp.eq.u32 %p1, %r4, 0;\n@%p1 exit;\n" + storeRemote + "bar.sync 0;\n" + storeRemote, OutOfBounds, "which has ended"},
		{"a rank beyond the cluster", "mov.u64 %rd3, tile;\ncvta.shared.u64 %rd4, %rd3;\nmapa.u64 %rd5, %rd4, 2;\n", IllegalOperand, "block 2: the cluster has 2 blocks"},
		{"an address elsewhere", "mapa.u64 %rd5, %rd1, 0;\n", IllegalOperand, "not in shared memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := launchClustered(t, c.body, 2)
			f, ok := errors.AsType[*Fault](err)
			if !ok || f.Kind != c.kind || !strings.Contains(f.Detail, c.detail) {
				t.Errorf("got %v, want %v: %s", err, c.kind, c.detail)
			}
		})
	}
}

// meetAll waits until 4 blocks have added one to the counter at in.
const meetAll = `
membar.gl;
red.global.add.u64 [%rd2], 1;
again:
ld.volatile.global.u64 %rd7, [%rd2];
setp.lt.u64 %p1, %rd7, 4;
@%p1 bra again;
membar.gl;
`

func TestCooperativeBlocksWaitForEachOther(t *testing.T) {
	// Each block writes its element and reads the next block's.
	body := `
mad.wide.u32 %rd6, %r2, 4, %rd1;
st.global.u32 [%rd6], %r2;
` + meetAll + `
add.u32 %r3, %r2, 1;
and.b32 %r3, %r3, 3;
mad.wide.u32 %rd6, %r3, 4, %rd1;
ld.global.u32 %r4, [%rd6];
mad.wide.u32 %rd6, %r2, 4, %rd1;
st.global.u32 [%rd6+64], %r4;
`
	out, err := runKernel(t, body, 1, Config{Grid: [3]int{4, 1, 1}, Cooperative: true})
	if err != nil {
		t.Fatal(err)
	}
	if w := out.words()[16:20]; w[0] != 1 || w[1] != 2 || w[2] != 3 || w[3] != 0 {
		t.Errorf("out is %v", w)
	}
	_, err = runKernel(t, strings.Replace(body, meetAll, "", 1), 1, Config{Grid: [3]int{4, 1, 1}, Cooperative: true})
	if f, ok := errors.AsType[*Fault](err); !ok || f.Kind != GlobalRace {
		t.Errorf("without the barrier: %v", err)
	}
	if _, err := runKernel(t, "", 1, Config{Grid: [3]int{MaxTogether + 1, 1, 1}, Cooperative: true}); err == nil {
		t.Error("more blocks than can run together were accepted")
	}
}
