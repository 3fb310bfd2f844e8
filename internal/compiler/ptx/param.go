package ptx

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// parameter is one .param of the entry.
type parameter struct {
	name  string
	typ   string // for a scalar
	size  int64  // for an aggregate, which has no typ
	align int64
}

func (p *parameter) append(b []byte) []byte {
	if p.typ != "" {
		return fmt.Appendf(b, ".param .%s %s", p.typ, p.name)
	}
	return fmt.Appendf(b, ".param .align %d .b8 %s[%d]", p.align, p.name, p.size)
}

// Names of the parameters that every entry has.
const (
	faultParam  = "quern_fault"
	kernelParam = "quern_kernel"
)

func (g *generator) declareParameters() {
	g.names[faultParam], g.names[kernelParam], g.names[blocksParam] = true, true, true
	for i, l := range g.kernel.Func.Params {
		v := &variable{local: l, isParam: true, index: i}
		g.variables[l] = v
		name := l.Name
		if name == "" || name == "_" {
			name = fmt.Sprintf("p%d", i)
		}
		switch {
		case l.Type.Kind == ir.Slice:
			v.param = g.addParameter(&parameter{name: name + "_ptr", typ: "u64"})
			v.lengthParam = g.addParameter(&parameter{name: name + "_len", typ: "u64"})
		case l.Type.IsAggregate():
			if l.Type.Size() == 0 {
				g.fail(l.Pos, "parameter %s has no size", l.Name)
			}
			v.param = g.addParameter(&parameter{name: name, size: l.Type.Size(), align: l.Type.Align()})
		default:
			v.param = g.addParameter(&parameter{name: name, typ: paramType(l.Type)})
		}
	}
	g.params = append(g.params, &parameter{name: faultParam, typ: "u64"}, &parameter{name: kernelParam, typ: "u32"})
	if g.kernel.Coarse != nil {
		g.params = append(g.params, &parameter{name: blocksParam, typ: "u32"})
	}
}

func (g *generator) addParameter(p *parameter) *parameter {
	p.name = g.unique(p.name)
	g.params = append(g.params, p)
	return p
}

// paramType returns the type in which a scalar parameter is declared and loaded.
func paramType(t *ir.Type) string {
	switch t.Kind {
	case ir.Int32, ir.Int64, ir.Int:
		return arithmeticType(t.Kind)
	}
	return memoryType(t.Kind)
}

// loadParameter reads a scalar parameter, or one part of a slice, at entry.
func (g *generator) loadParameter(dst operand, typ string, p *parameter) {
	g.atEntry(func() {
		if dst.class == predClass {
			byteValue := g.register(b32Class)
			g.load("ld.param.u8", byteValue, address{space: paramSpace, symbol: p.name})
			g.emit("setp.ne.u32", dst, byteValue, zeroOperand(b32Class))
			return
		}
		g.load("ld.param."+typ, dst, address{space: paramSpace, symbol: p.name})
	})
}
