package gohost

import "strings"

// arguments is what a function of a region takes: the names outside it that it
// mentions, in the order of the first mention.
type arguments struct {
	names []string
	types map[string]string
}

func newArguments() *arguments { return &arguments{types: map[string]string{}} }

// outer notes that the code being written mentions a variable declared outside
// the loop over a row of threads, and returns its name.
func (e *emitter) outer(name, typ string) string {
	if e.free != nil && e.free.types[name] == "" {
		e.free.names = append(e.free.names, name)
		e.free.types[name] = typ
	}
	return name
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
