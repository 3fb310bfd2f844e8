package ptx

import "quern.dev/internal/compiler/ir"

// assembly emits the instructions of a function in a separate block, so that registers
// declared there are local. Results get fresh registers, because an instruction may
// write one before another instruction reads an argument.
func (g *generator) assembly(s *ir.Effect) {
	a := s.Func.Assembly
	g.need(a.Target)
	g.needVersion(a.Version)
	of := map[string]operand{}
	for i, p := range s.Func.Params {
		x := g.value(s.Args[i])
		if classOf(p.Type) == b64Class {
			x = g.widen(x, p.Type.IsSigned()) // a narrowed int
		}
		of["$"+p.Name] = g.inRegister(x)
	}
	results := make([]operand, len(s.Func.Results))
	for i, r := range s.Func.Results {
		results[i] = g.register(classOf(r.Type))
		of["$"+r.Name] = results[i]
	}
	g.text = append(g.text, "\t{\n"...)
	for _, line := range a.Lines {
		g.text = append(g.text, '\t')
		g.text = append(g.text, ir.OperandName.ReplaceAllStringFunc(line, func(name string) string {
			return string(of[name].append(nil))
		})...)
		g.text = append(g.text, '\n')
	}
	g.text = append(g.text, "\t}\n"...)
	for i, v := range s.Dst {
		if v == nil {
			continue
		}
		if width(v.Type.Kind) < 32 {
			g.extend(v.Type.Kind, results[i], results[i])
		}
		g.result(v, results[i].class, func(dst operand) { g.move(dst, results[i]) })
	}
}
