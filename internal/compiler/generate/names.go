package generate

import (
	"cmp"
	"go/types"
	"slices"
	"strings"

	"quern.dev/internal/compiler/frontend"
)

// needed lists the predeclared identifiers that generated code uses.
var needed = strings.Fields(`bool cap error false float32 float64 int int16 int32 int64 int8 len max min nil
panic string true uint uint16 uint32 uint64 uint8`)

// hidden reports declarations of a package that hide names needed by generated code.
func hidden(p *frontend.Package) frontend.Diagnostics {
	var objects []types.Object
	for _, name := range needed {
		if o := p.Types.Scope().Lookup(name); o != nil {
			objects = append(objects, o)
		}
	}
	slices.SortFunc(objects, func(a, b types.Object) int { return cmp.Compare(a.Pos(), b.Pos()) })
	var out frontend.Diagnostics
	for _, o := range objects {
		out = append(out, frontend.Diagnostic{Pos: p.Position(o.Pos()), Msg: o.Name() + " hides Go's own, which " + GoFile + " needs; rename it"})
	}
	return out
}
