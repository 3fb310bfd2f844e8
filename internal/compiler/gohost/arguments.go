package gohost

import (
	"strings"

	"quern.dev/internal/compiler/ir"
)

// arguments are the parameters of a region's function: the outer names that it uses, in
// the order of first use.
type arguments struct {
	names  []string
	values []string // the arguments
	types  map[string]string
}

func newArguments() *arguments { return &arguments{types: map[string]string{}} }

// outer records that the generated code uses a variable declared outside the loop over
// a row of threads, and returns its name.
func (e *emitter) outer(name, typ string) string {
	if e.free != nil {
		e.free.add(name, typ, name)
	}
	return name
}

// maxPassed is the maximum size in bytes of structs and arrays that are passed by
// value.
const maxPassed = 64

// outerVariable is like outer for a variable that may be large. The text starts with *
// if the name is a pointer to the variable.
func (e *emitter) outerVariable(name string, t *ir.Type) string {
	if e.free == nil || !t.IsAggregate() || t.Size() <= maxPassed {
		return e.outer(name, e.typ(t))
	}
	e.free.add(name, "*"+e.typ(t), "&"+name)
	return "*" + name
}

func (a *arguments) add(name, typ, value string) {
	if a.types[name] == "" {
		a.names, a.values = append(a.names, name), append(a.values, value)
		a.types[name] = typ
	}
}

// signature prints the parameters, each with its type: those of two instances of a generic
// kernel then differ in types only.
func (a *arguments) signature() string {
	var b strings.Builder
	for _, name := range a.names {
		b.WriteString(", " + name + " " + a.types[name])
	}
	return b.String()
}
