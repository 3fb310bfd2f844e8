package fuzz

import (
	"fmt"
	"strings"
)

// window is a region of several elements that belongs to the thread.
type window struct {
	v    *variable
	base string // index of its first element in the variable, "" for 0
	n    int
}

// windows returns the arrays and slices whose parts may overlap when they are assigned.
func (f *frame) windows() []window {
	var fit []window
	for _, v := range f.vars {
		switch {
		case v.read:
		case v.t.form == array && !v.fixed && v.t.n >= 3:
			fit = append(fit, window{v, "", v.t.n})
		case v.t.form == slice && v.own >= 3:
			fit = append(fit, window{v, v.base, v.own})
		case v.t.form == slice && v.own == 0 && v.length >= 3:
			fit = append(fit, window{v, "", v.length})
		}
	}
	return fit
}

// at returns an index below n in the window. If the window has a base, elements outside of
// it belong to other threads.
func (f *frame) at(w window, n int) string {
	if w.base == "" {
		return f.index(n)
	}
	saved := f.noFaults
	f.noFaults = true
	i := f.index(n)
	f.noFaults = saved
	if i == "0" {
		return w.base
	}
	return w.base + " + " + f.asInt(i)
}

// part returns m elements of the window as an array, by conversion of a slice to an array
// pointer.
func (f *frame) part(w window, m int) string {
	return fmt.Sprintf("(*%s)(%s[%s:])", arrayOf(m, w.v.t.elem).text, w.v.name, f.at(w, w.n-m+1))
}

// slice returns the m elements of a part as a slice.
func (f *frame) slice(w window, m int) string {
	return fmt.Sprintf("%s[%s:][:%d]", w.v.name, f.at(w, w.n-m+1), m)
}

// overlap generates an assignment between parts of an array or slice that may overlap, or
// between elements.
func (f *frame) overlap() {
	g := f.g
	fit := f.windows()
	if len(fit) == 0 || f.trips > 30 {
		f.copyStatement()
		return
	}
	w := pick(g, fit)
	elem := w.v.t.elem
	m := 2 + g.IntN(min(w.n-2, 6))
	if w.n > 12 {
		m = w.n - 1 - g.IntN(8) // too many for registers
	}
	*f.cost += f.trips * m * elem.leaves() / 4
	f.noCalls(func() {
		switch n := g.IntN(13); {
		case n == 0 && !elem.isBasic():
			a, b := f.at(w, w.n), f.at(w, w.n)
			f.line("%[1]s[%[2]s], %[1]s[%[3]s] = %[1]s[%[3]s], %[1]s[%[2]s]", w.v.name, a, b)
		case n == 1 && !elem.isBasic():
			f.line("%[1]s[%[2]s] = %[1]s[%[3]s]", w.v.name, f.at(w, w.n), f.at(w, w.n))
		case n == 2:
			p, q := f.part(w, m), f.part(w, m)
			f.line("*%s, *%s = *%s, *%s", p, q, q, p)
		case n == 3:
			*f.fresh += 2
			p, q := fmt.Sprintf("v%d", *f.fresh-1), fmt.Sprintf("v%d", *f.fresh)
			f.line("%s, %s := %s, %s", p, q, f.part(w, m), f.part(w, m))
			if other := pick(g, fit); other.v.t.elem.text == elem.text && other.n >= m && g.IntN(2) == 0 {
				f.line("if %s {\n%s = %s\n}", f.condition(1), q, f.part(other, m))
			}
			f.line("*%s = *%s", p, q)
			for _, name := range []string{p, q} {
				f.add(&variable{name: name, t: pointerTo(arrayOf(m, elem)), fixed: true})
			}
		case n == 4:
			name := g.global("mov")
			g.decls = append(g.decls, fmt.Sprintf("func %s(p, q *%s) {\n*p = *q\n}\n", name, arrayOf(m, elem).text))
			f.line("%s(%s, %s)", name, f.part(w, m), f.part(w, m))
		case n == 5:
			*f.fresh++
			k := fmt.Sprintf("v%d", *f.fresh)
			at := k
			if w.base != "" {
				at = w.base + " + " + k
			}
			f.line("for %s, moved := range *%s {\n%s[%s] = moved\n}", k, f.part(w, m), w.v.name, at)
		case n == 6 && !strings.Contains(elem.text, "."):
			*f.fresh++
			v := &variable{name: fmt.Sprintf("v%d", *f.fresh), t: arrayOf(m, elem)}
			f.line("%s := *%s\n*%s = %s", v.name, f.part(w, m), f.part(w, m), v.name)
			f.add(v)
		case n == 7:
			*f.fresh++
			v := &variable{name: fmt.Sprintf("v%d", *f.fresh), t: tInt, fixed: true, limit: w.n + 1}
			f.line("%s := copy(%s, %s)", v.name, f.slice(w, m), f.slice(w, 1+g.IntN(w.n)))
			f.add(v)
		case n == 8:
			if other := pick(g, fit); other.v.t.elem.text == elem.text {
				f.line("copy(%s, %s)", f.slice(w, m), f.slice(other, 1+g.IntN(other.n)))
			} else {
				f.line("clear(%s)", f.slice(w, m))
			}
		case n == 9 && elem.isBasic():
			text := "the quern"[:3+g.IntN(7)]
			f.line("%s[%s] = %s", w.v.name, f.at(w, w.n), f.convert(fmt.Sprintf("%q[%s]", text, f.index(len(text))), tUint8, elem))
		default:
			f.line("*%s = *%s", f.part(w, m), f.part(w, m))
		}
	})
}

// large sometimes declares an array that is large enough to be copied in a loop.
func (f *frame) large() {
	if f.trips > 1 || f.g.IntN(3) > 0 {
		f.copyStatement()
		return
	}
	v := &variable{name: f.name(), t: arrayOf(66+f.g.IntN(6), f.g.basic())}
	f.line("var %s %s", v.name, v.t.text)
	f.line("for at := range %s {\n%s[at] = %s\n}", v.name, v.name, f.convert("at", tInt, v.t.elem))
	*f.cost += 2 * v.t.n
	f.add(v)
	f.overlap()
}

// segments gives each thread its own part of shared memory.
func (k *kernelGenerator) segments(threads int) {
	f := k.f
	t := k.basic()
	if k.IntN(4) == 0 && len(k.structs) > 0 {
		t = pick(k.generator, k.structs)
	}
	n := 3 + k.IntN(5)
	if k.IntN(8) == 0 && threads <= 8 {
		n = 70
	}
	f.line("all := kernel.Shared[%s](t)", arrayOf(threads*n, t).text)
	f.line("segment := all[tid*%d : tid*%d+%d]", n, n, n)
	f.line("for k := range segment {\nsegment[k] = %s\n}", f.value(t))
	f.add(&variable{name: "segment", t: sliceOf(t), fixed: true, length: n})
}
