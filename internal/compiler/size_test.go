package compiler

import (
	"fmt"
	"strings"
	"testing"
)

func TestCallsThatDoubleWithEveryStepAreRejected(t *testing.T) {
	var src strings.Builder
	src.WriteString("package p\n\nimport \"quern.dev/kernel\"\n\nfunc f0(x int32) int32 { return x*3 + 1 }\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&src, "func f%d(x int32) int32 { return f%d(x) + f%d(x^%d) }\n", i, i-1, i-1, i)
	}
	src.WriteString("\n//quern:kernel\nfunc doubled(t kernel.Thread, x []int32) { x[0] = f40(x[0]) }\n")
	_, err := Text(t.Context(), "k.go", src.String(), "doubled")
	if want := "kernel doubled: the kernel has more than 40000 statements after inlining"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("have %v, want %q", err, want)
	}
}
