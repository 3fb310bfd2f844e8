package template

import "quern.dev/kernel"

// Lines describes the lines of an array along an axis: a line has N elements, which are Inner
// apart. It is divided into Parts parts of Part elements, and a group of 1<<Group neighbouring
// threads has a part. Segments of a buffer, whose ends are known, are lines of one part.
type Lines = struct{ N, Inner, Parts, Part, Group int }

// PartOfLine is the part of a line that a thread works on: the elements From to To-1 of the line,
// which begins at First. Elements are Stride apart. It is empty if the thread has none.
type PartOfLine = struct{ Line, Part, First, Stride, From, To int }

// PartOf returns the part of the thread, of one of count lines. Segment i has the elements ends[i]
// to ends[i+1]-1; without ends, lines are those along an axis.
//
//quern:unchecked
func PartOf(t kernel.Thread, l Lines, count int, ends []int32) (p PartOfLine) {
	of := t.Global() >> l.Group
	if of >= count*l.Parts {
		return p
	}
	p.Part = of / count
	p.Line = of - p.Part*count
	p.Stride = 1
	n := l.N
	if len(ends) > 0 {
		p.First = int(ends[p.Line])
		n = int(ends[p.Line+1]) - p.First
	} else {
		plane := p.Line / l.Inner
		p.First, p.Stride = plane*l.N*l.Inner+p.Line-plane*l.Inner, l.Inner
	}
	p.From = min(p.Part*l.Part, n)
	p.To = min(p.From+l.Part, n)
	return p
}

// Leads reports whether a thread writes the result of its group.
func Leads(t kernel.Thread, l Lines, count int) bool {
	return t.Lane()&(1<<l.Group-1) == 0 && t.Global()>>l.Group < count*l.Parts
}

// ReduceLine combines the values of the threads of a group that have one. The first thread gets the
// result.
func ReduceLine[T any](t kernel.Thread, combine func(a, b T) T, l Lines, p PartOfLine, v T) T {
	return reduceGroup(t, combine, 1<<l.Group, min(p.To-p.From, 1<<l.Group), v)
}

// ExtremeLines finds the first one of the least elements of each part of a line, or of the greatest
// ones, and writes its index in the line to out, or -1 if there are no elements. Part p of line i
// is out[i*Parts+p]. The parameters before most are those of
// [Lines]. If at is not empty, it has the indices of the part elements of each line
// that are compared.
//
//quern:template Less block=256
//quern:unchecked
func ExtremeLines[T any](t kernel.Thread, less func(a, b T) bool, n, inner, parts, part, group int, most bool, ends []int32, in []T, at, out []int) {
	l := Lines{n, inner, parts, part, group}
	count := len(out) / l.Parts
	p := PartOf(t, l, count, ends)
	lane := t.Lane() & (1<<l.Group - 1)
	best := extreme[T]{At: -1}
	for i := p.From + lane; i < p.To; i += 1 << l.Group {
		k := i
		if len(at) > 0 {
			k = at[p.Line*part+i]
		}
		v := in[p.First+k*p.Stride]
		a, b := v, best.V
		if most {
			a, b = best.V, v
		}
		if best.At < 0 || less(a, b) {
			best = extreme[T]{v, k}
		}
	}
	best = ReduceLine(t, func(a, b extreme[T]) extreme[T] {
		if most {
			return greater(less, a, b)
		}
		return lesser(less, a, b)
	}, l, p, best)
	if Leads(t, l, count) {
		out[p.Line*l.Parts+p.Part] = best.At
	}
}

// CountLines counts the elements of lines for which match returns true. If lines have several
// parts, their numbers are added to out.
//
//quern:template Predicate block=256
//quern:unchecked
func CountLines[T any](t kernel.Thread, match func(x T) bool, n, inner, parts, part, group int, ends []int32, in []T, out []int) {
	l := Lines{n, inner, parts, part, group}
	p := PartOf(t, l, len(out), ends)
	lane := t.Lane() & (1<<l.Group - 1)
	sum := 0
	for i := p.From + lane; i < p.To; i += 1 << l.Group {
		if match(in[p.First+i*p.Stride]) {
			sum++
		}
	}
	sum = reduceGroup(t, func(a, b int) int { return a + b }, 1<<l.Group, 1<<l.Group, sum)
	if Leads(t, l, len(out)) {
		if l.Parts > 1 {
			kernel.AtomicAdd(&out[p.Line], sum)
		} else {
			out[p.Line] = sum
		}
	}
}
