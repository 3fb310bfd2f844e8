package generate

import (
	"bytes"
	"cmp"
	"fmt"

	"quern.dev/internal/compiler"
)

// writeSpecial writes the special forms of a kernel, in which parameters are constants.
func writeSpecial(b *bytes.Buffer, compiled string, forms []*compiler.Special, expressions map[string]string) {
	if len(forms) == 0 {
		return
	}
	fmt.Fprintf(b, "Special: []%s.Special{\n", compiled)
	for _, f := range forms {
		fmt.Fprintf(b, "{\nName: %q, Section: %q, Entry: %q,\nLimits: %s,\n", f.Name, f.IR.Name, f.Variants[0].Entry, integers(f.Limits))
		writeVariants(b, compiled, f.Variants)
		if n := f.Variants[0].SharedBytes; n > 0 {
			fmt.Fprintf(b, "Shared: %d,\n", n)
		}
		if f.IR.Options.Only != "gpu" {
			fmt.Fprintf(b, "Host: %s,\n", cmp.Or(expressions[hostName(f.IR.Name)], hostName(f.IR.Name)))
		}
		b.WriteString("},\n")
	}
	b.WriteString("},\n")
}
