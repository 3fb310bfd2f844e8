package ptxvm

import (
	"slices"
	"strings"
)

// otherOpcodes are the PTX instructions that this package does not support (PTX ISA 8.8,
// chapter 9).
var otherOpcodes = setOf(`
	alloca bmsk call clusterlaunchcontrol createpolicy discard dp2a elect fns
	getctarank griddepcontrol istypep movmatrix multimem setmaxnreg stackrestore
	stacksave stmatrix suld suq sured sust szext tcgen05 tld4 txq wmma
	vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4
	vmin vmin2 vmin4 vset vset2 vset4 vshl vshr vsub vsub2 vsub4`)

// otherRegisters are prefixes of the special registers that this package does not support
// (PTX ISA 8.8, chapter 10).
var otherRegisters = [...]string{
	"%aggr_smem_size", "%cluster", "%current_graph_exec", "%envreg", "%is_explicit_cluster",
	"%nclusterid", "%pm", "%reserved_smem_offset",
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// exists reports whether PTX defines register, a special register that this package does
// not support.
func exists(register string) bool {
	return slices.ContainsFunc(otherRegisters[:], func(prefix string) bool { return strings.HasPrefix(register, prefix) })
}
