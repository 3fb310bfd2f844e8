package fuzz

import (
	"fmt"
	"strings"
)

// loop generates one of many forms of loops. All of them terminate.
func (f *frame) loop() {
	g := f.g
	trips := 1 + g.IntN(6)
	if f.trips > 30 || *f.cost > most/2 {
		trips = 1 + g.IntN(2)
	}
	in := f.scope()
	in.trips *= trips
	in.breaks++
	label := ""
	if g.IntN(3) == 0 {
		*f.fresh++
		label = fmt.Sprintf("L%d", *f.fresh)
	}
	in.labels = append(in.labels, label)
	var head string
	switch g.IntN(13) {
	case 0, 1, 2: // counting up
		t := g.integerType()
		from, step := g.IntN(3), 1+g.IntN(2)
		v := in.add(&variable{name: f.name(), t: t, fixed: g.IntN(5) > 0, limit: from + trips*step})
		if !v.fixed {
			v.limit = 0 // the body may also increment it, but never decrements it
			v.fixed = true
			in.counter(v)
		}
		head = fmt.Sprintf("for %s := %s(%d); %s < %d; %s", v.name, t.text, from, v.name, from+trips*step, v.name)
		if g.IntN(3) == 0 { // a step that the compiler does not know
			*f.fresh++
			unknown := fmt.Sprintf("step%d", *f.fresh)
			f.line("%s := %s(%d) + (%s)&1", unknown, t.text, step, f.expr(t, 1))
			head += " += " + unknown
		} else if step == 1 {
			head += "++"
		} else {
			head += fmt.Sprintf(" += %d", step)
		}
	case 3: // counting down
		t := pick(g, []*typ{tInt, tInt32, tInt64})
		v := in.add(&variable{name: f.name(), t: t, fixed: true, limit: trips})
		head = fmt.Sprintf("for %s := %s(%d); %s >= 0; %s--", v.name, t.text, trips-1, v.name, v.name)
	case 4: // wrapping around
		t := pick(g, []*typ{tUint8, tUint16, tUint32, tUint64})
		v := in.add(&variable{name: f.name(), t: t, fixed: true})
		head = fmt.Sprintf("for %s := ^%s(0) - %d; %s != %d; %s++", v.name, t.text, trips/2, v.name, trips-trips/2-1, v.name)
	case 5, 6: // over an integer
		t := g.integerType()
		v := in.add(&variable{name: f.name(), t: t, fixed: true, limit: trips})
		limit := fmt.Sprintf("%s(%d)", t.text, trips)
		if g.IntN(2) == 0 {
			limit = fmt.Sprintf("(%s & %d)", f.expr(t, 1), 3)
			v.limit, in.trips = 3, f.trips*3
		}
		head = fmt.Sprintf("for %s := range %s", v.name, limit)
		f.loopBody(in, label, head, "", v)
		return
	case 7, 8: // over a composite
		var fit []*variable
		for _, v := range f.vars {
			if v.t.form == array && v.t.n*f.trips < 100 || v.t.form == pointer && v.t.elem.form == array {
				fit = append(fit, v)
			}
			if v.t.form == slice && v.own == 0 && v.length > 0 && v.length*f.trips < 60 && !v.read {
				fit = append(fit, v)
			}
		}
		if len(fit) == 0 {
			head = fmt.Sprintf("for range %d", trips)
			break
		}
		x := pick(g, fit)
		t, n := x.t, x.length
		if t.form == pointer {
			t = t.elem
		}
		if t.form == array {
			n = t.n
		} else {
			n = max(n, 8)
		}
		in.trips = f.trips * n
		k := &variable{name: f.name(), t: tInt, limit: n, fixed: g.IntN(3) > 0}
		if t.form == slice {
			k.limit = 0
			if k.fixed {
				k.within = x
			}
		}
		if !k.fixed {
			k.limit = 0 // may be assigned
		}
		e := &variable{name: f.name(), t: t.elem}
		switch {
		case g.IntN(3) == 0 || e.name == k.name:
			in.add(k)
			head = fmt.Sprintf("for %s := range %s", k.name, x.name)
		case g.IntN(2) == 0:
			in.add(e)
			head = fmt.Sprintf("for _, %s := range %s", e.name, x.name)
			f.loopBody(in, label, head, "", e)
			return
		default:
			in.add(k)
			in.add(e)
			head = fmt.Sprintf("for %s, %s := range %s", k.name, e.name, x.name)
		}
		f.loopBody(in, label, head, "", in.vars[len(in.vars)-strings.Count(head, ",")-1:]...)
		return
	case 9: // while
		*f.fresh++
		fuel := fmt.Sprintf("fuel%d", *f.fresh)
		f.line("%s := %d", fuel, trips)
		head = fmt.Sprintf("for %s > 0 && %s", fuel, f.condition(1))
		f.loopBody(in, label, head, fuel+"--")
		return
	case 10: // forever, left by break
		*f.fresh++
		fuel := fmt.Sprintf("fuel%d", *f.fresh)
		f.line("%s := %d", fuel, trips)
		f.loopBody(in, label, "for", fmt.Sprintf("if %s--; %s < 0 || %s {\nbreak\n}", fuel, fuel, f.unlikely()))
		return
	case 11: // between variables, with tests of whether an iteration is the first
		t := pick(g, []*typ{tInt, tInt32, tInt64})
		v := in.add(&variable{name: f.name(), t: t, fixed: true})
		in.trips = f.trips * 8
		*f.fresh++
		from, to := fmt.Sprintf("from%d", *f.fresh), fmt.Sprintf("to%d", *f.fresh)
		if g.IntN(3) == 0 {
			f.line("const %s = %d", from, g.IntN(5)-2)
		} else {
			f.line("%s := (%s)&3", from, f.expr(t, 1))
		}
		order, step := "<", "++"
		f.line("%s := %s + (%s)&15", to, from, f.expr(t, 1))
		if g.IntN(3) == 0 {
			order, step = ">", "--"
			f.line("%s = %s - (%s - %s)", to, from, to, from)
		}
		if g.IntN(6) == 0 {
			order += "="
		}
		first := ""
		if f.digest && f.has("acc") {
			for range 1 + g.IntN(2) {
				x, y := v.name, fmt.Sprintf("%s+%d", from, max(0, g.IntN(6)-3))
				if g.IntN(4) == 0 {
					x, y = y, x
				}
				first += fmt.Sprintf("if %s %s %s {\nacc = acc*33 + uint64(%s)\n}\n", x, pick(g, []string{"<", "<=", ">", ">=", "==", "!="}), y, v.name)
			}
		}
		f.loopBody(in, label, fmt.Sprintf("for %s := %s(%s); %s %s %s; %s%s", v.name, t.text, from, v.name, order, to, v.name, step), first)
		return
	default: // two variables
		i, j := f.name(), f.name()
		if i == j {
			j = "jj"
		}
		in.add(&variable{name: i, t: tInt, fixed: true, limit: trips})
		in.add(&variable{name: j, t: tInt, fixed: true, limit: trips + 1})
		head = fmt.Sprintf("for %s, %s := 0, %d; %s < %s; %s, %s = %s+1, %s-1", i, j, trips, i, j, i, j, i, j)
	}
	f.loopBody(in, label, head, "")
}

// counter generates a statement that also increments a loop's variable.
func (f *frame) counter(v *variable) {
	f.g.pending = append(f.g.pending, fmt.Sprintf("if %s < 20 {\n%s++\n}", v.name, v.name))
}

// loopBody writes a loop. The label precedes it if something uses it.
func (f *frame) loopBody(in *frame, label, head, first string, ranged ...*variable) {
	saved := f.b
	var b strings.Builder
	in.b = &b
	if first != "" {
		in.line("%s", first)
	}
	for _, v := range ranged {
		in.collect(v)
	}
	if p := f.g.pending; len(p) > 0 {
		f.g.pending = nil
		in.line("%s", p[0])
	}
	in.scope().body(1 + f.g.amount(3, 5))
	if label != "" && strings.Contains(b.String(), " "+label+"\n") {
		fmt.Fprintf(saved, "%s:\n", label)
	}
	if label == "" && f.g.IntN(8) == 0 {
		fmt.Fprintf(saved, "//quern:%s\n", pick(f.g, []string{"nounroll", "unroll 2", "unroll 4"}))
	}
	fmt.Fprintf(saved, "%s {\n%s}\n", head, b.String())
}

// jump generates a conditional break or continue.
func (f *frame) jump() {
	g := f.g
	if len(f.labels) == 0 {
		f.assignment()
		return
	}
	verb := pick(g, []string{"break", "continue"})
	label := pick(g, f.labels)
	f.line("if %s {", f.condition(1))
	if g.IntN(2) == 0 {
		f.scope().body(1)
	}
	if label != "" {
		f.line("%s %s\n}", verb, label)
	} else {
		f.line("%s\n}", verb)
	}
}
