package ptx

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func TestOptionsThatBoundRegistersBecomeDirectives(t *testing.T) {
	x := irtest.Local("x", ir.SliceOf(ir.TInt32))
	k := irtest.Kernel("k", []*ir.Local{x}, nil, irtest.SetPlace(irtest.Elem(x, irtest.Int(0)), ir.IntConst(ir.TInt32, 1)))
	k.Options.Block, k.Options.MinBlocks, k.Options.MaxRegs = [3]int{128, 1, 1}, 4, 64
	if m := emit(t, k); !strings.Contains(m.Text, ")\n.reqntid 128, 1, 1\n.minnctapersm 4\n.maxnreg 64\n{") {
		t.Errorf("no bounds in\n%s", m.Text)
	}
}
