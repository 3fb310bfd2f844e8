package frontend

import (
	"go/ast"

	"quern.dev/internal/compiler/ir"
)

// Limits of what kernel.PutWords stores without a loop.
const (
	maxPutWords = 256 // words
	maxPutArray = 64  // elements of an array: longer ones are stored in a loop
)

// putWords lowers kernel.PutWords to a call of a function that stores the words, which
// is generated for the type. On the CPU, it is the Go function itself, which needs no
// field names.
func (fn *function) putWords(e *ast.CallExpr) {
	to := fn.stable(fn.expr(e.Args[0]), e.Args[0].Pos())
	from := fn.stable(fn.exprAs(e.Args[1], ir.TInt), e.Args[1].Pos())
	tag := fn.stable(fn.exprAs(e.Args[2], ir.TUint64), e.Args[2].Pos())
	msg := fn.stable(fn.expr(e.Args[3]), e.Args[3].Pos())
	scope := fn.scope(e, 4, "PutWords")
	if to.Type().Kind != ir.Slice || msg.Type().Kind != ir.Pointer { // already reported
		return
	}
	t := msg.Type().Elem
	if !plain(t) {
		fn.errorf(e.Args[3].Pos(), "kernel.PutWords of %s; store numbers, bools, or arrays and structs of these", t)
		return
	}
	if n := unrolledWords(t, 0); n > maxPutWords {
		fn.errorf(e.Args[3].Pos(), "kernel.PutWords of %s, which has %d words beside its arrays of more than %d elements, and at most %d are stored at once; store parts of it, or make them elements of one long array", t, n, maxPutArray, maxPutWords)
		return
	}
	f := fn.wordsFunc(e, t, scope)
	fn.emit(&ir.Call{Func: f, Args: []ir.Expr{to, from, tag, msg}, Pos: f.Pos})
}

// wordsFunc returns kernel.PutWords for type t.
func (fn *function) wordsFunc(e *ast.CallExpr, t *ir.Type, scope ir.Scope) *ir.Func {
	pos := fn.l.pos(e.Pos())
	param := func(name string, t *ir.Type) *ir.Local { return &ir.Local{Name: name, Type: t, Pos: pos} }
	to, from, tag, msg := param("to", ir.SliceOf(ir.TUint64)), param("from", ir.TInt), param("tag", ir.TUint64), param("msg", ir.PointerTo(t))
	f := &ir.Func{Name: "kernel.PutWords", Params: []*ir.Local{to, from, tag, msg}, Pos: pos, Go: ir.GoRef{Package: kernelPath, Name: "PutWords"}}
	if t.Size() == 0 {
		return f
	}
	body := &function{l: fn.l, src: fn.src, f: f, name: f.Name}
	p := &wordPutter{fn: body, call: e, to: ir.Get(to), from: ir.Get(from), tag: ir.Get(tag), scope: scope}
	// If both are in range, so are all elements between them.
	for _, w := range []int64{0, (t.Size() - 1) / 4} {
		at := p.element(0, nil, w)
		at.Check = !fn.unchecked
		body.emit(&ir.Check{Place: at})
	}
	p.value(&ir.DerefPlace{Ptr: ir.Get(msg), Check: !fn.unchecked, Pos: pos}, t, 0)
	p.skip((t.Size() + 3) / 4)
	f.Body = body.out
	return f
}

// unrolledWords returns the number of words of a type, at an offset, that are stored
// without a loop. Parts of words count as words.
func unrolledWords(t *ir.Type, offset int64) int64 {
	switch {
	case t.Size() == 0:
		return 0
	case inLoop(t, offset):
		return chunkOf(t.Elem) * unrolledWords(t.Elem, 0)
	case t.Kind == ir.Array:
		return t.Len * unrolledWords(t.Elem, offset)
	case t.Kind == ir.Struct:
		n := int64(0)
		for _, f := range t.Fields {
			n += unrolledWords(f.Type, offset+f.Offset)
		}
		return n
	}
	return (t.Size() + 3) / 4
}

// inLoop reports whether an array at an offset is stored in a loop: it is long, and one
// of its elements begins at a word boundary.
func inLoop(t *ir.Type, offset int64) bool {
	return t.Kind == ir.Array && t.Len > maxPutArray && offset%(4/chunkOf(t.Elem)) == 0
}

// chunkOf returns the number of elements of a type that fill whole words.
func chunkOf(elem *ir.Type) int64 {
	switch size := elem.Size(); {
	case size%4 == 0:
		return 1
	case size%2 == 0:
		return 2
	}
	return 4
}

// wordPutter stores the words of a value in order.
type wordPutter struct {
	fn            *function
	call          *ast.CallExpr
	to, from, tag ir.Expr
	scope         ir.Scope

	// Inside a loop: the first word of the array, and the number of words stored so
	// far; words count from there.
	base int64
	turn ir.Expr

	next int64   // the next word to store
	word ir.Expr // the known part of it, nil for nothing
}

// element returns word w of the destination.
func (p *wordPutter) element(base int64, turn ir.Expr, w int64) *ir.ElemPlace {
	var at ir.Expr = ir.CloneExpr(p.from)
	if turn != nil {
		at = &ir.Binary{Op: ir.Add, X: at, Y: ir.CloneExpr(turn)}
	}
	if base+w > 0 {
		at = &ir.Binary{Op: ir.Add, X: at, Y: ir.IntConst(ir.TInt, base+w)}
	}
	return &ir.ElemPlace{Slice: ir.CloneExpr(p.to), Index: at, Pos: p.fn.l.pos(p.call.Pos())}
}

// value stores a place of type t, which is at an offset in the value.
func (p *wordPutter) value(place ir.Place, t *ir.Type, offset int64) {
	switch {
	case t.Size() == 0:
	case inLoop(t, offset):
		p.array(place, t, offset)
	case t.Kind == ir.Struct:
		for i, f := range t.Fields {
			p.value(&ir.FieldPlace{X: ir.ClonePlace(place), Field: i}, f.Type, offset+f.Offset)
		}
	case t.Kind == ir.Array:
		for i := range t.Len {
			p.value(elementOf(place, ir.IntConst(ir.TInt, i)), t.Elem, offset+i*t.Elem.Size())
		}
	default:
		p.scalar(&ir.Load{Place: place}, offset)
	}
}

func elementOf(place ir.Place, index ir.Expr) ir.Place {
	return &ir.IndexPlace{X: ir.ClonePlace(place), Index: index}
}

// array stores a long array: whole words in a loop, the parts before and after it
// without one.
func (p *wordPutter) array(place ir.Place, t *ir.Type, offset int64) {
	fn, size, chunk := p.fn, t.Elem.Size(), chunkOf(t.Elem)
	first := int64(0)
	for ; (offset+first*size)%4 != 0 && first < t.Len; first++ {
		p.value(elementOf(place, ir.IntConst(ir.TInt, first)), t.Elem, offset+first*size)
	}
	turns := (t.Len - first) / chunk
	words := chunk * size / 4 // per iteration
	begin := (offset + first*size) / 4
	p.skip(begin)

	pos := fn.l.pos(p.call.Pos())
	i := fn.hidden("i", ir.TInt, p.call.Pos())
	fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: i}, Src: ir.IntConst(ir.TInt, 0), Pos: pos})
	times := func(n int64) ir.Expr {
		if n == 1 {
			return ir.Get(i)
		}
		return &ir.Binary{Op: ir.Mul, X: ir.Get(i), Y: ir.IntConst(ir.TInt, n)}
	}
	loop := &ir.Loop{Label: &ir.Label{Name: "words"}, Pos: pos}
	loop.Cond = &ir.Binary{Op: ir.Lt, X: ir.Get(i), Y: ir.IntConst(ir.TInt, turns)}
	loop.Body = fn.list(func() {
		turn := times(words)
		if p.turn != nil {
			turn = &ir.Binary{Op: ir.Add, X: ir.CloneExpr(p.turn), Y: turn}
		}
		inner := &wordPutter{fn: fn, call: p.call, to: p.to, from: p.from, tag: p.tag, scope: p.scope, base: p.base + begin, turn: turn}
		for k := range chunk {
			index := times(chunk)
			if first+k > 0 {
				index = &ir.Binary{Op: ir.Add, X: index, Y: ir.IntConst(ir.TInt, first+k)}
			}
			inner.value(elementOf(place, index), t.Elem, k*size)
		}
		inner.skip(words)
	})
	loop.Post = []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: i}, Src: &ir.Binary{Op: ir.Add, X: ir.Get(i), Y: ir.IntConst(ir.TInt, 1)}, Pos: pos}}
	fn.emit(loop)

	p.next = begin + turns*words
	for k := first + turns*chunk; k < t.Len; k++ {
		p.value(elementOf(place, ir.IntConst(ir.TInt, k)), t.Elem, offset+k*size)
	}
}

// scalar stores a number or bool.
func (p *wordPutter) scalar(x ir.Expr, offset int64) {
	p.skip(offset / 4)
	t := x.Type()
	if t.Size() == 8 {
		bits := p.fn.stable(bitsOf(x), p.call.Pos())
		p.add(&ir.Convert{T: ir.TUint32, X: bits}, 0)
		p.store()
		p.add(&ir.Convert{T: ir.TUint32, X: &ir.Binary{Op: ir.Shr, X: ir.CloneExpr(bits), Y: ir.IntConst(ir.TUint32, 32)}}, 0)
		p.store()
		return
	}
	if t.Kind == ir.Bool {
		v := p.fn.hidden("bit", ir.TUint32, p.call.Pos())
		set := func(n int64) []ir.Stmt {
			return []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: ir.IntConst(ir.TUint32, n), Pos: v.Pos}}
		}
		p.fn.emit(&ir.If{Cond: x, Then: set(1), Else: set(0), Pos: v.Pos})
		p.add(ir.Get(v), offset%4*8)
		return
	}
	p.add(convertTo(bitsOf(x), ir.TUint32), offset%4*8)
}

// bitsOf returns a number as an unsigned integer of the same size.
func bitsOf(x ir.Expr) ir.Expr {
	t := ir.TUint64
	switch x.Type().Size() {
	case 1:
		t = ir.TUint8
	case 2:
		t = ir.TUint16
	case 4:
		t = ir.TUint32
	}
	if x.Type().IsInteger() {
		return convertTo(x, t)
	}
	return &ir.Intrinsic{Op: ir.Bitcast, T: t, Args: []ir.Expr{x}}
}

// add adds bits to the next word.
func (p *wordPutter) add(bits ir.Expr, shift int64) {
	if shift > 0 {
		bits = &ir.Binary{Op: ir.Shl, X: bits, Y: ir.IntConst(ir.TUint32, shift)}
	}
	if p.word != nil {
		bits = &ir.Binary{Op: ir.Or, X: p.word, Y: bits}
	}
	p.word = bits
}

// skip stores all words before w.
func (p *wordPutter) skip(w int64) {
	for p.next < w {
		p.store()
	}
}

// store stores the next word.
func (p *wordPutter) store() {
	v := ir.CloneExpr(p.tag)
	if p.word != nil {
		v = &ir.Binary{Op: ir.Or, X: v, Y: &ir.Convert{T: ir.TUint64, X: p.word}}
	}
	p.fn.emit(&ir.Memory{Op: ir.StoreRelaxed, Places: []ir.Place{p.element(p.base, p.turn, p.next)}, Args: []ir.Expr{v}, Scope: p.scope, Pos: p.fn.l.pos(p.call.Pos())})
	p.next, p.word = p.next+1, nil
}

// maxGetWords is the maximum number of words that kernel.GetWords reads.
const maxGetWords = 256

// getWords lowers kernel.GetWords like putWords.
func (fn *function) getWords(e *ast.CallExpr) []ir.Expr {
	from := fn.stable(fn.expr(e.Args[0]), e.Args[0].Pos())
	at := fn.stable(fn.exprAs(e.Args[1], ir.TInt), e.Args[1].Pos())
	msg := fn.stable(fn.expr(e.Args[2]), e.Args[2].Pos())
	scope := fn.scope(e, 3, "GetWords")
	fn.f.UsesThread = true // as for other loads, with which a thread can wait
	tag := fn.result("tag", ir.TUint64, e)
	result := []ir.Expr{ir.Get(tag)}
	if from.Type().Kind != ir.Slice || msg.Type().Kind != ir.Pointer { // already reported
		return result
	}
	t := msg.Type().Elem
	if !plain(t) || t.Size() == 0 || t.Size() > 4*maxGetWords {
		fn.errorf(e.Args[2].Pos(), "kernel.GetWords of %s, which has %d bytes; load up to %d bytes of numbers, bools, and arrays and structs of these", t, t.Size(), 4*maxGetWords)
		return result
	}
	fn.emit(&ir.Call{Dst: []*ir.Local{tag}, Func: fn.getWordsFunc(e, t, scope), Args: []ir.Expr{from, at, msg}, Pos: fn.l.pos(e.Pos())})
	return result
}

// getWordsFunc returns kernel.GetWords for type t.
func (fn *function) getWordsFunc(e *ast.CallExpr, t *ir.Type, scope ir.Scope) *ir.Func {
	pos := fn.l.pos(e.Pos())
	local := func(name string, t *ir.Type) *ir.Local { return &ir.Local{Name: name, Type: t, Pos: pos} }
	from, at, msg, tag := local("from", ir.SliceOf(ir.TUint64)), local("at", ir.TInt), local("msg", ir.PointerTo(t)), local("tag", ir.TUint64)
	f := &ir.Func{Name: "kernel.GetWords", Params: []*ir.Local{from, at, msg}, Results: []*ir.Local{tag}, Pos: pos, Go: ir.GoRef{Package: kernelPath, Name: "GetWords"}}
	body := &function{l: fn.l, src: fn.src, f: f, name: f.Name}
	element := func(w int64) *ir.ElemPlace {
		index := ir.Expr(ir.Get(at))
		if w > 0 {
			index = &ir.Binary{Op: ir.Add, X: index, Y: ir.IntConst(ir.TInt, w)}
		}
		return &ir.ElemPlace{Slice: ir.Get(from), Index: index, Pos: pos}
	}
	// If both ends are in range, so are all elements between them.
	n := (t.Size() + 3) / 4
	for _, w := range []int64{0, n - 1} {
		p := element(w)
		p.Check = !fn.unchecked
		body.emit(&ir.Check{Place: p})
	}
	g := &wordGetter{fn: body}
	for w := range n {
		word := body.hidden("word", ir.TUint64, e.Pos())
		body.emit(&ir.Memory{Op: ir.LoadRelaxed, Dst: word, Places: []ir.Place{element(w)}, Scope: scope, Pos: pos})
		g.words = append(g.words, word)
	}
	half := ir.IntConst(ir.TUint32, 32)
	tagOf := func(word *ir.Local) ir.Expr {
		return &ir.Binary{Op: ir.Shl, X: &ir.Binary{Op: ir.Shr, X: ir.Get(word), Y: half}, Y: half}
	}
	set := func(x ir.Expr) *ir.Assign { return &ir.Assign{Dst: &ir.VarPlace{Var: tag}, Src: x, Pos: pos} }
	body.emit(set(tagOf(g.words[0])))
	for _, word := range g.words[1:] {
		differs := &ir.Binary{Op: ir.Ne, X: tagOf(word), Y: tagOf(g.words[0])}
		body.emit(&ir.If{Cond: differs, Then: []ir.Stmt{set(ir.IntConst(ir.TUint64, 0))}, Pos: pos})
	}
	agree := &ir.Binary{Op: ir.Ne, X: ir.Get(tag), Y: ir.IntConst(ir.TUint64, 0)}
	store := body.list(func() { g.value(&ir.DerefPlace{Ptr: ir.Get(msg), Check: !fn.unchecked, Pos: pos}, t, 0) })
	body.emit(&ir.If{Cond: agree, Then: store, Pos: pos})
	body.emit(&ir.Return{Results: []ir.Expr{ir.Get(tag)}, Pos: pos})
	f.Body = body.out
	return f
}

// wordGetter assembles a value from its words.
type wordGetter struct {
	fn    *function
	words []*ir.Local
}

// value sets a place of type t, which is at an offset in the value.
func (g *wordGetter) value(place ir.Place, t *ir.Type, offset int64) {
	switch t.Kind {
	case ir.Struct:
		for i, f := range t.Fields {
			g.value(&ir.FieldPlace{X: ir.ClonePlace(place), Field: i}, f.Type, offset+f.Offset)
		}
	case ir.Array:
		for i := range t.Len {
			g.value(elementOf(place, ir.IntConst(ir.TInt, i)), t.Elem, offset+i*t.Elem.Size())
		}
	default:
		g.fn.emit(&ir.Assign{Dst: ir.ClonePlace(place), Src: g.scalar(t, offset), Pos: g.fn.f.Pos})
	}
}

// scalar returns the number or bool of type t at an offset.
func (g *wordGetter) scalar(t *ir.Type, offset int64) ir.Expr {
	half := ir.IntConst(ir.TUint32, 32)
	low := &ir.Convert{T: ir.TUint32, X: ir.Get(g.words[offset/4])}
	switch size := t.Size(); {
	case size == 8:
		high := &ir.Binary{Op: ir.Shl, X: ir.Get(g.words[offset/4+1]), Y: half}
		return fromBits(&ir.Binary{Op: ir.Or, X: high, Y: &ir.Convert{T: ir.TUint64, X: low}}, t)
	case size == 4:
		return fromBits(low, t)
	default:
		part := ir.Expr(low)
		if offset%4 > 0 {
			part = &ir.Binary{Op: ir.Shr, X: low, Y: ir.IntConst(ir.TUint32, offset%4*8)}
		}
		if size == 1 {
			return fromBits(convertTo(part, ir.TUint8), t)
		}
		return fromBits(convertTo(part, ir.TUint16), t)
	}
}

// fromBits returns the number or bool of type t with the bits of an unsigned integer of the same
// size.
func fromBits(x ir.Expr, t *ir.Type) ir.Expr {
	switch {
	case t.Kind == ir.Bool:
		return &ir.Binary{Op: ir.Ne, X: x, Y: ir.IntConst(x.Type(), 0)}
	case t.IsInteger():
		return convertTo(x, t)
	}
	return &ir.Intrinsic{Op: ir.Bitcast, T: t, Args: []ir.Expr{x}}
}
