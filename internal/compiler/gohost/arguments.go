package gohost

import (
	"strings"

	"quern.dev/internal/compiler/ir"
)

// arguments is what a function of a region takes: the names outside it that it
// mentions, in the order of the first mention.
type arguments struct {
	names  []string
	values []string // what is passed
	types  map[string]string
}

func newArguments() *arguments { return &arguments{types: map[string]string{}} }

// outer notes that the code being written mentions a variable declared outside
// the loop over a row of threads, and returns its name.
func (e *emitter) outer(name, typ string) string {
	if e.free != nil {
		e.free.add(name, typ, name)
	}
	return name
}

// maxPassed is the size in bytes up to which structs and arrays are passed by
// value.
const maxPassed = 64

// outerVariable is outer for a variable that may be large; the text starts with *
// if the name is that of a pointer to it.
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

// signature prints the parameters, each run of one type together.
func (a *arguments) signature() string {
	var b strings.Builder
	for i, name := range a.names {
		b.WriteString(", " + name)
		if i+1 == len(a.names) || a.types[a.names[i+1]] != a.types[name] {
			b.WriteString(" " + a.types[name])
		}
	}
	return b.String()
}
