package ptxas

import (
	"strings"
	"testing"
)

func TestParseReadsVerboseOutput(t *testing.T) {
	const output = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'k' for 'sm_75'
ptxas info    : Function properties for k
    96 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 20 registers, used 0 barriers, 64 bytes smem, 408 bytes cmem[0]
`
	want := Info{Registers: 20, SpillStores: 12, SpillLoads: 16, Stack: 96, Shared: 64, Constant: 408}
	if got := parse(output); got != want {
		t.Errorf("parse = %+v, want %+v", got, want)
	}
}

const empty = `.version 6.0
.target sm_50
.address_size 64
.visible .entry k() {
	.shared .align 4 .b8 tile[64];
	.reg .b32 %r<2>;
	mov.u32 %r1, %tid.x;
	st.shared.u32 [tile], %r1;
	ret;
}
`

func TestAssembleReportsResources(t *testing.T) {
	needAssembler(t)
	for _, arch := range Architectures {
		info, err := Assemble(empty, arch)
		if err != nil {
			t.Errorf("%s: %v", arch, err)
			continue
		}
		if info.Registers == 0 || info.Shared < 64 {
			t.Errorf("%s: %+v, want registers and 64 bytes of shared memory", arch, info)
		}
	}
}

func TestAssembleReportsErrorLines(t *testing.T) {
	needAssembler(t)
	_, err := Assemble(strings.Replace(empty, "mov.u32", "mvo.u32", 1), "sm_90")
	if err == nil || !strings.Contains(err.Error(), "line 7") {
		t.Errorf("error %v, want one for line 7", err)
	}
}

func needAssembler(t *testing.T) {
	t.Helper()
	if _, err := Find(); err != nil {
		t.Skip(err)
	}
}
