package frontend

// size is an upper bound on the size in bytes of an expression's type, written out with
// the types of its fields.
type size struct {
	written bound
	args    bound   // of the type arguments of the type and of its parts
	text    float64 // bytes of the value, of a constant string
	digits  float64 // of the value, of a constant number
	generic bool    // a function or type without its type arguments
	result  *size   // of a call, of a generic function
}

// bound is an upper bound on a number of bytes. In a declaration with type parameters
// it is base + perArg*n, where n is the size of the largest type argument.
type bound struct{ base, perArg float64 }

// huge is beyond all limits. Sums and products of it are finite.
const huge = 1e15

func (b bound) plus(o bound) bound {
	return bound{min(b.base+o.base, huge), min(b.perArg+o.perArg, huge)}
}

func (b bound) or(o bound) bound { return bound{max(b.base, o.base), max(b.perArg, o.perArg)} }

func (b bound) of(args bound) bound {
	return bound{min(b.base+b.perArg*args.base, huge), min(b.perArg*args.perArg, huge)}
}

// sized returns the size of a type that is written with n bytes.
func sized(n int) size { return size{written: bound{base: float64(n)}} }

// parameter is the size of a type parameter.
var parameter = size{written: bound{perArg: 1}, args: bound{perArg: 1}}

func (s size) plus(o size) size {
	return size{written: s.written.plus(o.written), args: s.args.or(o.args)}
}

func (s size) times(n int) size {
	f := float64(n)
	return size{written: bound{min(s.written.base*f, huge), min(s.written.perArg*f, huge)}, args: s.args}
}

// or returns the size of what may be either.
func (s size) or(o size) size {
	return size{written: s.written.or(o.written), args: s.args.or(o.args), text: max(s.text, o.text), digits: max(s.digits, o.digits)}
}

// of returns the size of an instance with type arguments of at most the given size.
func (s size) of(args bound) size { return size{written: s.written.of(args), args: s.args.of(args)} }

// typ returns the size without what belongs to a value.
func (s size) typ() size { return size{written: s.written, args: s.args} }

// total returns the number of bytes where type parameters stand for themselves.
func (s size) total() float64 { return s.written.base + s.written.perArg }
