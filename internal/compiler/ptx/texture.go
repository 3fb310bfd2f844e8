package ptx

import "quern.dev/internal/compiler/ir"

// sample reads a texture at float coordinates. The instruction has four results; unused
// ones are discarded.
func (g *generator) sample(s *ir.Effect) {
	object := g.inRegister(g.value(s.Args[0]))
	u, v := g.inRegister(g.value(s.Args[1])), g.inRegister(g.value(s.Args[2]))
	var results [4]operand
	for i := range results {
		results[i] = g.register(f32Class)
	}
	b := append(g.text, "\ttex.2d.v4.f32.f32 {"...)
	for i, r := range results {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = r.append(b)
	}
	b = append(object.append(append(b, "}, ["...)), ", {"...)
	b = append(u.append(b), ", "...)
	g.text = append(v.append(b), "}];\n"...)
	for i, d := range s.Dst {
		if d != nil {
			g.result(d, f32Class, func(dst operand) { g.move(dst, results[i]) })
		}
	}
}
