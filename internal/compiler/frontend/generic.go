package frontend

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// instance is a kernel to lower: a function with type arguments, or one without type
// parameters.
type instance struct {
	name     string // scale, scale[float32]
	typeArgs []types.Type
}

// same reports whether both have the same type arguments.
func (in instance) same(other instance) bool {
	return slices.EqualFunc(in.typeArgs, other.typeArgs, types.Identical)
}

// maxInstances is the maximum number of instances of a generic kernel. Each is
// compiled, loaded and stored in the generated files separately.
const maxInstances = 64

// instances returns the instances of a kernel that a function declares. For a generic
// kernel, these are the ones listed in the option instantiate, whose errors are
// reported, and the wanted ones.
func (l *lowering) instances(fd *ast.FuncDecl, kernel string, obj *types.Func, spelled []word) []instance {
	params := obj.Signature().TypeParams()
	if params.Len() == 0 {
		if len(spelled) > 0 {
			l.errorAt(spelled[0].pos, kernel, "instantiate names type arguments, but %s has no type parameters; leave the option out", kernel)
		}
		return []instance{{name: kernel}}
	}
	for _, name := range l.wanted {
		if args, ok := strings.CutPrefix(name, kernel+"["); ok {
			args = strings.TrimSuffix(args, "]")
			spelled = append(spelled, word{strings.Join(typeTexts(args), ":"), fd.Name.Pos()})
		}
	}
	if len(spelled) == 0 && len(l.wanted) == 0 {
		l.errorAt(fd.Type.TypeParams.Pos(), kernel, "a generic kernel needs the types to compile it for; write //quern:kernel instantiate=%s", exampleOf(params))
		return nil
	}
	if len(spelled) > maxInstances {
		l.errorAt(spelled[maxInstances].pos, kernel, "%d instances are more than the %d that a kernel may have; split it into several kernels", len(spelled), maxInstances)
		return nil
	}
	var list []instance
	for _, w := range spelled {
		in, ok := l.instantiate(fd, kernel, obj, w)
		switch {
		case !ok:
		case !slices.ContainsFunc(list, in.same):
			l.declareNames(w.pos, in.name, instanceNames(in.name))
			list = append(list, in)
		case w.pos != fd.Name.Pos(): // not both wanted and listed
			l.errorAt(w.pos, kernel, "instantiate lists %s twice; keep one", in.name)
		}
	}
	return list
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// typeTexts splits the text between the brackets of an instance's name.
func typeTexts(args string) []string {
	var list []string
	for _, w := range splitWord(word{text: args}, ',') {
		list = append(list, strings.TrimSpace(w.text))
	}
	return list
}

// exampleOf returns an example value of the option instantiate for type parameters.
func exampleOf(params *types.TypeParamList) string {
	join := func(t string) string { return strings.Repeat(":"+t, params.Len())[1:] }
	return join("float32") + "," + join("float64")
}

// instantiate resolves the type arguments in w, one per type parameter, separated by
// colons.
func (l *lowering) instantiate(fd *ast.FuncDecl, kernel string, obj *types.Func, w word) (in instance, ok bool) {
	params := obj.Signature().TypeParams()
	spelled := splitWord(w, ':')
	if len(spelled) != params.Len() {
		l.errorAt(w.pos, kernel, "%s has %s, and %q names %s; write one type per parameter, separated by colons, as in instantiate=%s", kernel, count(params.Len(), "type parameter"), w.text, count(len(spelled), "type"), exampleOf(params))
		return in, false
	}
	var names []string
	for i, arg := range spelled {
		tv, err := l.constantsOf(fd).eval(arg.text)
		switch {
		case err != nil:
			l.errorAt(arg.pos, kernel, "type argument %q for %s: %s", arg.text, params.At(i), reasonOf(err))
			return in, false
		case !tv.IsType():
			l.errorAt(arg.pos, kernel, "type argument %q for %s is not a type", arg.text, params.At(i))
			return in, false
		}
		if t, bad := l.convertType(tv.Type, 0); bad != "" || !plain(t) {
			l.errorAt(arg.pos, kernel, "type argument %s for %s: kernels are instantiated with numbers, bool, and structs and arrays of these; for slices declare a parameter []%s", arg.text, params.At(i), params.At(i))
			return in, false
		}
		t := types.Unalias(tv.Type)
		if basic, ok := t.(*types.Basic); ok {
			t = types.Typ[basic.Kind()] // uint8 for byte
		}
		in.typeArgs = append(in.typeArgs, t)
		names = append(names, types.TypeString(t, l.pkg.qualifier))
	}
	in.name = kernel + "[" + strings.Join(names, ",") + "]"
	if _, err := types.Instantiate(types.NewContext(), obj.Signature(), in.typeArgs, true); err != nil {
		at, msg := w.pos, err.Error()
		var which *types.ArgumentError
		if errors.As(err, &which) {
			at = spelled[which.Index].pos
			msg = which.Err.Error()
		}
		l.errorAt(at, kernel, "%s; list types that the constraint of %s has, or widen the constraint", msg, kernel)
		return in, false
	}
	return in, true
}

// reasonOf returns the message of the type checker without the position, which refers
// to the evaluated text.
func reasonOf(err error) string {
	var te types.Error
	if errors.As(err, &te) {
		return te.Msg
	}
	msg := err.Error()
	if _, after, ok := strings.Cut(msg, ": "); ok {
		return after
	}
	return msg
}

// qualifier returns a package's name in errors and in kernels' names.
func (p *Package) qualifier(other *types.Package) string {
	if other == p.Types {
		return ""
	}
	return other.Name()
}

// Instance returns the type arguments of a lowered kernel, nil if it is not generic.
func (p *Package) Instance(kernel string) []types.Type { return p.instances[kernel] }
