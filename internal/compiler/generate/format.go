package generate

import (
	"bytes"
	"fmt"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// writeFormats writes a kernel's calls of kernel.Printf.
func writeFormats(b *bytes.Buffer, compiled string, formats []*ir.Format) {
	if len(formats) == 0 {
		return
	}
	fmt.Fprintf(b, "Formats: []%s.Format{\n", compiled)
	for _, f := range formats {
		fmt.Fprintf(b, "{Text: %s", strconv.Quote(f.Text))
		if len(f.Args) > 0 {
			b.WriteString(", Args: []string{")
			for i, a := range f.Args {
				if i > 0 {
					b.WriteString(", ")
				}
				b.WriteString(strconv.Quote(a.String()))
			}
			b.WriteString("}")
		}
		b.WriteString("},\n")
	}
	b.WriteString("},\n")
}
