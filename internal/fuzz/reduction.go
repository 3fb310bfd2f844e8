package fuzz

import (
	"fmt"
	"math"
	"strings"
)

// Reductions are loops whose number of iterations depends on data, and which mostly read
// memory: what the compiler runs in batches. Their slices hold up to a few hundred
// elements, and indices of such elements.

// mostTrips is the largest number of iterations of a reduction's loop.
const mostTrips = 40

// counter is an integer expression that is at least 0 and less than a limit, except in
// faulty programs.
type counter struct {
	text  string
	t     *typ
	limit int
}

// largest returns the largest value of an integer type, as far as it matters here.
func (t *typ) largest() int64 {
	if bits := t.bits; bits < 64 || t.signed {
		if t.signed {
			bits--
		}
		return 1<<bits - 1
	}
	return math.MaxInt64
}

// holding picks an integer type that holds n.
func (g *generator) holding(n int64) *typ {
	for {
		if t := g.integerType(); n <= t.largest() {
			return t
		}
	}
}

// sources adds the slices that reductions read. index is the expression of a number below
// rows that only this thread has.
func (k *kernelGenerator) sources(rows int, index string) {
	f := k.f
	f.row, f.rows = "("+index+")", rows
	add := func(name string, t *typ, n int) *variable {
		v := &variable{name: name, t: sliceOf(t), fixed: true, read: true, length: max(n, 1)}
		if k.faulty && k.IntN(3) == 0 {
			n -= 1 + k.IntN(9) // the program uses it as if it were longer
		}
		k.param(name, v.t, max(n, 1))
		f.add(v)
		return v
	}
	wrong := func(n int) int {
		if !k.faulty || k.IntN(2) == 0 {
			return 0
		}
		return 1 + k.IntN(1+n/32)
	}
	for i := range 1 + k.IntN(2) {
		n := k.IntN(mostTrips + 1)
		v := &variable{name: fmt.Sprintf("count%d", i), t: k.integerType(), fixed: true, limit: n + 1}
		k.param(v.name, v.t, n)
		f.counts = append(f.counts, f.add(v))
	}
	step := pick(k.generator, []int{2, 6, 16, mostTrips})
	total := min(rows*step/2+8, 600)
	if k.IntN(3) > 0 {
		v := add("ends", k.holding(int64(total+2*mostTrips)), rows+1)
		k.c.Values["ends"] = int64(rows + 1) // a shorter one would fail before any loop
		v.rising = true
		k.c.Contents["ends"] = Contents{Below: int64(total + 1), Step: int64(step), Wrong: wrong(rows)}
		f.ends = v
		f.total = total
	}
	size := pick(k.generator, []int{mostTrips + 2, 64, 100, total, rows})
	for i := range 1 + k.IntN(3) {
		v := add(fmt.Sprintf("at%d", i), k.holding(int64(size)), pick(k.generator, []int{total, total, size, size, mostTrips + 3}))
		v.below = size
		if k.IntN(4) == 0 {
			v.below = min(rows, size)
		}
		k.c.Contents[v.name] = Contents{Below: int64(v.below), Wrong: wrong(v.length)}
	}
	f.width = pick(k.generator, []int{2, 3, 4, 4, 8, 8, 9, 12})
	k.param("width", tInt, f.width)
	f.add(&variable{name: "width", t: tInt, fixed: true, limit: f.width + 1})
	for i := range 1 + k.IntN(3) {
		t := k.basic()
		if len(k.structs) > 0 && k.IntN(3) == 0 {
			t = pick(k.generator, k.structs)
		}
		add(fmt.Sprintf("data%d", i), t, pick(k.generator, []int{size, size, size, total, total, 2*mostTrips + 8, rows * f.width, rows * f.width}))
	}
}

// slices returns the visible slices that the thread may read at any index.
func (f *frame) slices(fit func(v *variable) bool) []*variable {
	var out []*variable
	for _, v := range f.vars {
		if v.t.form == slice && v.own == 0 && v.length > 0 && !v.rising && fit(v) {
			out = append(out, v)
		}
	}
	return out
}

// wide returns a counter as an operand of type int.
func (c counter) wide() string {
	if c.t == tInt {
		return c.text
	}
	return "int(" + c.text + ")"
}

// position returns an index below n that depends on a counter. In faulty programs it
// sometimes is not below n.
func (f *frame) position(j counter, n, depth int) string {
	g := f.g
	if depth > 0 && g.IntN(2) == 0 {
		fit := f.slices(func(v *variable) bool {
			return v.below > 0 && (v.below <= n || g.IntN(3) == 0)
		})
		if len(fit) > 0 {
			at := pick(g, fit)
			text := at.name + "[" + f.position(j, at.length, depth-1) + "]"
			switch {
			case at.below <= n && g.IntN(6) > 0, f.faulty() && g.IntN(6) == 0:
				return text
			case n > 1 && g.IntN(2) == 0:
				mask := 1
				for 2*mask+1 < n && int64(2*mask+1) <= at.t.elem.largest() {
					mask = 2*mask + 1
				}
				return fmt.Sprintf("%s & %d", text, mask)
			}
			return fmt.Sprintf("uint(%s) %% %d", text, n)
		}
	}
	if f.faulty() && g.IntN(10) == 0 {
		return fmt.Sprintf("%s %s %d", j.wide(), pick(g, []string{"+", "-"}), 1+g.IntN(12))
	}
	if g.IntN(3) == 0 && n >= f.rows*j.limit {
		switch {
		case j.limit == f.width && g.IntN(2) == 0:
			return fmt.Sprintf("%s*width + %s", f.row, j.wide())
		case g.IntN(2) == 0:
			return fmt.Sprintf("%s*%d + %s", f.row, j.limit, j.wide())
		}
		return fmt.Sprintf("%s*%d + %s", j.wide(), f.rows, f.row)
	}
	if j.limit > n {
		return pick(g, []string{
			fmt.Sprintf("uint(%s) %% %d", j.text, n),
			fmt.Sprintf("max(min(%s, %d), 0)", j.wide(), n-1),
			fmt.Sprint(g.IntN(n)),
		})
	}
	most := max(j.limit-1, 0)
	times := 1 + g.IntN(3)
	if times*most >= n {
		times = 1
	}
	plus := g.IntN(min(n-times*most, 9))
	text := j.wide()
	if int64(times*most+plus) <= j.t.largest() && g.IntN(2) == 0 {
		text = j.text // the arithmetic does not overflow
	}
	if times > 1 {
		text = fmt.Sprintf("%d*%s", times, text)
	}
	switch {
	case plus > 0 && g.IntN(2) == 0:
		return fmt.Sprintf("%s + %d", text, plus)
	case g.IntN(6) == 0:
		return fmt.Sprintf("%d - %s", n-1, j.wide())
	}
	return text
}

// scalarOf returns a scalar of a value of type t, at random.
func (f *frame) scalarOf(text string, t *typ) (string, *typ) {
	leaves := allLeaves(text, t, 16)
	leaf := pick(f.g, leaves)
	return leaf.name, leaf.t
}

// fetch returns a scalar that is read from memory at a place that depends on a counter.
func (f *frame) fetch(j counter) (string, *typ) {
	g := f.g
	fit := f.slices(func(v *variable) bool { return v.read })
	if f.tile != nil && g.IntN(2) == 0 {
		return f.scalarOf(f.tile.name+"["+f.position(j, f.tile.length, 2)+"]", f.tile.t.elem)
	}
	v := pick(g, fit)
	if g.IntN(2) == 0 {
		if data := f.slices(func(v *variable) bool { return strings.HasPrefix(v.name, "data") }); len(data) > 0 {
			v = pick(g, data)
		}
	}
	return f.scalarOf(v.name+"["+f.position(j, v.length, 2)+"]", v.t.elem)
}

// fetchAs returns a scalar of type t that is read from memory.
func (f *frame) fetchAs(j counter, t *typ) string {
	text, have := f.fetch(j)
	for range 3 {
		if have.text == t.text {
			break
		}
		text, have = f.fetch(j)
	}
	return f.convert(text, have, t)
}

// hasSources reports whether reductions have something to read.
func (f *frame) hasSources() bool { return f.rows > 0 && len(f.counts) > 0 }

// head returns the head of a loop, its counter, the variable that the loop declares and
// the expected number of iterations. row is a number below f.rows.
func (f *frame) head(row string) (text string, j counter, v *variable, trips int) {
	g := f.g
	*f.fresh++
	v = &variable{name: fmt.Sprintf("j%d", *f.fresh), fixed: true}
	step := pick(g, []int{1, 1, 1, 1, 2, 3, 7})
	advance := func(op string) string {
		if step == 1 && g.IntN(3) > 0 {
			return v.name + op + op
		}
		return fmt.Sprintf("%s %s= %d", v.name, op, step)
	}
	as := func(text string, from, to *typ) string {
		if from.text == to.text {
			return text
		}
		return to.text + "(" + text + ")"
	}
	switch n := g.IntN(12); {
	case n < 5 && f.ends != nil: // from one element to the next
		t := g.holding(int64(f.total + 3*mostTrips))
		elem := f.ends.t.elem
		from, to := as("ends["+row+"]", elem, t), as("ends["+row+"+1]", elem, t)
		if g.IntN(2) == 0 {
			first, last := v.name+"from", v.name+"to"
			f.line("%s, %s := %s, %s", first, last, from, to)
			from, to = first, last
		}
		v.t = t
		if !g.faulty {
			v.limit = f.total
		}
		j = counter{v.name, t, f.total}
		trips = max(f.total/f.rows, 2)
		switch g.IntN(6) {
		case 0:
			if t.signed {
				text = fmt.Sprintf("for %s := %s - 1; %s >= %s; %s", v.name, to, v.name, from, advance("-"))
				return text, j, v, trips
			}
		case 1:
			if t.signed {
				text = fmt.Sprintf("for %s := %s; %s <= %s - 1; %s", v.name, from, v.name, to, advance("+"))
				return text, j, v, trips
			}
		case 2:
			if !g.faulty {
				return fmt.Sprintf("for %s := %s; %s != %s; %s++", v.name, from, v.name, to, v.name), j, v, trips
			}
		}
		text = fmt.Sprintf("for %s := %s; %s < %s; %s", v.name, from, v.name, to, advance("+"))
		return text, j, v, trips
	case n < 6: // to a width
		v.t, v.limit = tInt, f.width
		bound := pick(g, []string{"width", fmt.Sprint(f.width)})
		text = fmt.Sprintf("for %s := range %s", v.name, bound)
		if g.IntN(2) == 0 {
			text = fmt.Sprintf("for %s := 0; %s < %s; %s", v.name, v.name, bound, advance("+"))
		}
		return text, counter{v.name, tInt, f.width}, v, f.width
	case n < 7 && f.threads > 0: // the threads of a block in turn
		bound := min(f.threads*(2+g.IntN(24))+g.IntN(9), 500)
		v.t, v.limit = tInt, bound
		return fmt.Sprintf("for %s := t.ThreadIdx.X; %s < %d; %s += t.BlockDim.X", v.name, v.name, bound, v.name),
			counter{v.name, tInt, bound}, v, bound/f.threads + 1
	case n < 8: // far from zero
		c := pick(g, f.counts)
		t := g.integerType()
		if g.IntN(2) == 0 {
			t = tInt32 // a batch computes with its bound
		}
		low, high := int64(0), t.largest()
		if t.signed {
			low = -high - 1
		}
		base := pick(g, []int64{low, low + 1, high - 2*mostTrips, -5, 100})
		if base < low || base > high-2*mostTrips {
			base = low
		}
		step = min(step, 3)
		v.t = t
		j = counter{fmt.Sprintf("(%s - (%d))", v.name, base), t, c.limit}
		if base > 0 || g.IntN(2) == 0 {
			text = fmt.Sprintf("for %s := %s(%d); %s < %d+%s; %s", v.name, t.text, base, v.name, base, as(c.name, c.t, t), advance("+"))
		} else {
			text = fmt.Sprintf("for %s := %s(%d); %s <= %d+%s; %s", v.name, t.text, base, v.name, base, as(c.name, c.t, t), advance("+"))
		}
		if base == low && t.signed {
			// The difference overflows no type, but the constant may.
			j.text = fmt.Sprintf("(int64(%s) - (%d))", v.name, base)
			j.t = tInt64
		}
		return text, j, v, c.limit
	}
	// To a parameter, an element or a length.
	t := g.integerType()
	c := pick(g, f.counts)
	bound, most := as(c.name, c.t, t), c.limit-1
	switch g.IntN(5) {
	case 0:
		if fit := f.slices(func(v *variable) bool { return v.below > 0 }); len(fit) > 0 {
			at := pick(g, fit)
			bound, most = as(fmt.Sprintf("(%s[uint(%s)%%%d] & 31)", at.name, row, at.length), at.t.elem, t), 31
		}
	case 1:
		bound = fmt.Sprintf("%s / 2", bound)
		most /= 2
	case 2:
		if fit := f.slices(func(v *variable) bool { return v.read }); t.bits > 16 && len(fit) > 0 {
			bound = fmt.Sprintf("%s(min(int(%s), len(%s)))", t.text, c.name, pick(g, fit).name)
		}
	}
	v.t = t
	step = min(step, 3) // an int8 does not overflow
	j = counter{v.name, t, most}
	switch g.IntN(8) {
	case 0:
		if t.signed {
			v.limit = most + 1
			j.limit++
			return fmt.Sprintf("for %s := %s; %s >= 0; %s", v.name, bound, v.name, advance("-")), j, v, most
		}
	case 1:
		step = 1
		v.limit = most + 1
		j.limit++
		return fmt.Sprintf("for %s := %s; %s > 0; %s", v.name, bound, v.name, advance("-")), j, v, most
	case 2:
		v.limit = most + 1
		j.limit++
		return fmt.Sprintf("for %s := %s(%d); %s <= %s; %s", v.name, t.text, g.IntN(3), v.name, bound, advance("+")), j, v, most
	case 3:
		v.limit = most
		return fmt.Sprintf("for %s := range %s", v.name, bound), j, v, most
	}
	v.limit = most
	return fmt.Sprintf("for %s := %s(%d); %s < %s; %s", v.name, t.text, g.IntN(3), v.name, bound, advance("+")), j, v, most
}

// reduction generates a loop that accumulates what it reads.
func (f *frame) reduction() {
	g := f.g
	if !f.hasSources() || f.trips > 6 || *f.cost > most*2/3 {
		f.loop()
		return
	}
	var sums []*variable
	for range 1 + g.IntN(3) {
		t := g.integerType()
		if !g.noFloats && g.IntN(3) == 0 {
			t = pick(g, floats)
		}
		if g.IntN(3) > 0 { // that of some data: short bodies run in larger batches
			v := pick(g, f.slices(func(v *variable) bool { return v.read }))
			if _, have := f.scalarOf(v.name, v.t.elem); have.form != boolean {
				t = have
			}
		}
		*f.fresh++
		v := &variable{name: fmt.Sprintf("v%d", *f.fresh), t: t}
		if g.IntN(2) == 0 {
			f.line("var %s %s", v.name, t.text)
		} else {
			f.line("%s := %s(%s)", v.name, t.text, g.constant(t))
		}
		f.line("_ = %s", v.name)
		sums = append(sums, f.add(v))
	}
	f.accumulate(f.row, sums, 1)
}

// accumulate generates a loop that updates variables.
func (f *frame) accumulate(row string, sums []*variable, nested int) {
	g := f.g
	head, j, v, trips := f.head(row)
	in := f.scope()
	in.trips *= max(trips, 1)
	in.breaks++
	in.labels = append(in.labels, "")
	in.add(v)
	if g.IntN(10) == 0 {
		fmt.Fprintf(f.b, "//quern:%s\n", pick(g, []string{"nounroll", "unroll 2"}))
	}
	f.line("%s {\n_ = %s", head, v.name)
	if g.IntN(3) == 0 {
		in.update(j, sums[0])
	} else {
		for range 1 + g.IntN(3) {
			in.step(j, sums, nested)
		}
	}
	f.line("}")
}

// step generates one statement of a reduction's body.
func (f *frame) step(j counter, sums []*variable, nested int) {
	g := f.g
	s := pick(g, sums)
	switch n := g.IntN(20); {
	case n < 9:
		f.update(j, s)
	case n < 11: // the least and its index
		*f.fresh++
		d := &variable{name: fmt.Sprintf("v%d", *f.fresh), t: s.t}
		f.line("%s := %s", d.name, f.fetchAs(j, s.t))
		f.add(d)
		who := pick(g, sums)
		if who == s {
			f.line("if %s < %s {\n%s = %s\n}", d.name, s.name, s.name, d.name)
			return
		}
		f.line("if %s %s %s {\n%s, %s = %s, %s\n}", d.name, pick(g, []string{"<", ">", "<="}), s.name, s.name, who.name, d.name, f.convert(j.text, j.t, who.t))
	case n < 14: // a condition
		f.line("if %s {", f.mask(j))
		in := f.scope()
		for range 1 + g.IntN(2) {
			in.update(j, pick(g, sums))
		}
		if g.IntN(3) == 0 {
			f.line("} else {")
			in.update(j, pick(g, sums))
		}
		f.line("}")
	case n < 16: // an index that is read once and used several times
		fit := f.slices(func(v *variable) bool { return v.below > 0 })
		if len(fit) == 0 {
			f.update(j, s)
			return
		}
		at := pick(g, fit)
		*f.fresh++
		k := &variable{name: fmt.Sprintf("k%d", *f.fresh), t: at.t.elem, fixed: true}
		f.line("%s := %s[%s]\n_ = %s", k.name, at.name, f.position(j, at.length, 1), k.name)
		f.add(k)
		by := counter{k.name, k.t, at.below}
		if g.IntN(3) == 0 {
			data := pick(g, f.slices(func(v *variable) bool { return v.read }))
			text, have := f.scalarOf(fmt.Sprintf("%s[%s]", data.name, k.name), data.t.elem)
			f.line("if %s >= 0 && int(%s) < len(%s) {\n%s\n}", k.name, k.name, data.name, f.combine(s, f.convert(text, have, s.t)))
		}
		f.update(by, s)
		f.update(by, pick(g, sums))
	case n == 16:
		f.line("if %s {\n%s\n}", f.mask(j), pick(g, []string{"break", "continue"}))
	case n == 17 && nested > 0 && f.trips < 16:
		f.accumulate("("+f.narrowed(j)+")", sums, nested-1)
	case n == 18: // also writes
		var fit []*variable
		for _, v := range f.vars {
			if v.t.form == slice && v.own > 0 {
				fit = append(fit, v)
			}
		}
		if len(fit) == 0 {
			f.update(j, s)
			return
		}
		v := pick(g, fit)
		i := fmt.Sprintf("uint(%s)%%%d", j.text, v.own)
		if v.base != "" {
			i = fmt.Sprintf("%s + int(%s)", v.base, i)
		}
		text, t := f.scalarOf(v.name+"["+i+"]", v.t.elem)
		f.line("%s = %s", text, f.fetchAs(j, t))
	case f.g.IntN(2) == 0:
		f.scope().body(1)
	default:
		f.update(j, s)
	}
}

// narrowed returns an index below the number of rows.
func (f *frame) narrowed(j counter) string {
	text := f.position(j, f.rows, 1)
	return "int(" + text + ")"
}

// mask returns a condition that depends on a counter.
func (f *frame) mask(j counter) string {
	g := f.g
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("%s & %d == %d", j.wide(), 3, g.IntN(4))
	case 1:
		c := pick(g, f.counts)
		return fmt.Sprintf("%s < int(%s)", j.wide(), c.name)
	}
	text, t := f.fetch(j)
	if t.form == boolean {
		return text
	}
	return fmt.Sprintf("%s %s %s", text, g.comparison(), g.constant(t))
}

// update generates an update of a variable with what is read from memory.
func (f *frame) update(j counter, s *variable) {
	value := f.fetchAs(j, s.t)
	if f.g.IntN(3) == 0 {
		other := f.fetchAs(j, s.t)
		value = fmt.Sprintf("(%s * %s)", value, other)
		if s.t.form == float {
			value = s.t.text + value // nothing is fused
		}
	}
	f.line("%s", f.combine(s, value))
}

// combine returns an assignment that combines a variable with a value.
func (f *frame) combine(s *variable, value string) string {
	ops := []string{"+", "+", "+", "-", "min", "max"}
	if s.t.form == integer {
		ops = append(ops, "^", "|", "&", "*")
	}
	op := pick(f.g, ops)
	if op == "min" || op == "max" {
		return fmt.Sprintf("%s = %s(%s, %s)", s.name, op, s.name, value)
	}
	return fmt.Sprintf("%s %s= %s", s.name, op, value)
}

// fusedSum generates a sum of products that may be fused, and of their magnitudes, and
// returns their names.
func (f *frame) fusedSum(t *typ) (value, bound string) {
	*f.fresh += 2
	value, bound = fmt.Sprintf("v%d", *f.fresh-1), fmt.Sprintf("v%d", *f.fresh)
	f.line("var %s, %s %s", value, bound, t.text)
	head, j, v, trips := f.head(f.row)
	in := f.scope()
	in.trips *= max(trips, 1)
	in.add(v)
	f.line("%s {\n_ = %s", head, v.name)
	x, y := in.fetchAs(j, t), in.fetchAs(j, t)
	in.line("%s += %s * %s", value, x, y)
	// The rounding errors of 40 additions may be as many times that of one.
	in.line("%s += 8 * %s(kernel.Abs(%s) * kernel.Abs(%s))", bound, t.text, x, y)
	in.line("}")
	return value, bound
}

// records generates reads and writes of neighbouring elements and fields.
func (f *frame) records() {
	g := f.g
	var own, from []*variable
	for _, v := range f.vars {
		switch {
		case v.t.form != slice || v.rising:
		case v.own > 0 || !v.read && v.length >= 2:
			own = append(own, v)
		case v.length > 0:
			from = append(from, v)
		}
	}
	if !f.hasSources() || len(own) == 0 || len(from) == 0 || f.trips > 30 {
		f.copyStatement()
		return
	}
	to := pick(g, own)
	n := to.own
	if n == 0 {
		n = to.length
	}
	base := to.base
	if base != "" && g.IntN(3) == 0 {
		*f.fresh++
		name := fmt.Sprintf("v%d", *f.fresh)
		f.line("%s := %s\n_ = %s", name, base, name)
		f.add(&variable{name: name, t: tInt, fixed: true})
		base = name
	}
	// place returns element number c of the thread.
	place := func(c int) string {
		switch {
		case base == "":
			return fmt.Sprintf("%s[%d]", to.name, c)
		case c == 0:
			return fmt.Sprintf("%s[%s]", to.name, base)
		}
		return fmt.Sprintf("%s[%s + %d]", to.name, base, c)
	}
	// read returns an element of a slice of all threads: one of a few neighbours.
	source := pick(g, from)
	for _, v := range from {
		if v.t.text == to.t.text && g.IntN(2) == 0 {
			source = v
		}
	}
	width := 1
	for _, w := range []int{f.width, 8, 4, 3, 2} {
		if f.rows*w <= source.length {
			width = w
			break
		}
	}
	fits := f.rows*width <= source.length
	read := func(c int) string {
		switch {
		case !fits:
			return fmt.Sprintf("%s[%d]", source.name, c%source.length)
		case width == f.width && c%2 == 0 && source.length%3 == 0:
			return fmt.Sprintf("%s[%s*width + %d]", source.name, f.row, c%width)
		case width == 1:
			return fmt.Sprintf("%s[%s]", source.name, f.row)
		}
		return fmt.Sprintf("%s[%s*%d + %d]", source.name, f.row, width, c%width)
	}
	// The places in turn: all scalars of an element, or one of each element.
	var targets, values []*variable
	first := g.IntN(n)
	for c := range n {
		leaves := allLeaves(place(c), to.t.elem, 8)
		values = append(values, leaves...)
		if to.t.elem.isBasic() || g.IntN(3) == 0 || c == first {
			targets = append(targets, leaves...)
		}
	}
	for c := range max(width, 2) {
		values = append(values, allLeaves(read(c), source.t.elem, 8)...)
	}
	if len(targets) > 16 {
		targets = targets[:16]
	}
	if g.IntN(3) == 0 {
		g.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	}
	if g.IntN(3) == 0 {
		targets = targets[:1+g.IntN(len(targets))]
	}
	if g.IntN(4) == 0 { // one of them twice
		targets = append(targets, pick(g, targets))
	}
	switch n := g.IntN(4); {
	case n == 0 && source.t.text == to.t.text: // whole elements
		for c := range min(1+g.IntN(4), max(to.own, 1)) {
			f.line("%s = %s", place(c), read(c))
		}
		return
	case n == 1: // reads before writes
		read := make([]*variable, len(targets))
		for i := range targets {
			v := pick(g, values)
			*f.fresh++
			read[i] = f.add(&variable{name: fmt.Sprintf("v%d", *f.fresh), t: v.t})
			f.line("%s := %s\n_ = %s", read[i].name, v.name, read[i].name)
		}
		for i, p := range targets {
			f.line("%s = %s", p.name, f.convert(read[i].name, read[i].t, p.t))
		}
		return
	}
	for i, p := range targets {
		v := pick(g, values)
		if g.IntN(2) == 0 {
			v = values[(len(values)-len(targets)+i)%len(values)] // also in turn
		}
		value := f.convert(v.name, v.t, p.t)
		switch w := pick(g, values); {
		case p.t.form == boolean || g.IntN(3) == 0:
			f.line("%s = %s", p.name, value)
		case p.t.form == float:
			f.line("%s %s= %s(%s * %s)", p.name, pick(g, []string{"+", "-"}), p.t.text, value, f.convert(w.name, w.t, p.t))
		case g.IntN(2) == 0:
			f.line("%s += %s", p.name, value)
		default:
			f.line("%s += %s * %s", p.name, value, f.convert(w.name, w.t, p.t))
		}
	}
}
