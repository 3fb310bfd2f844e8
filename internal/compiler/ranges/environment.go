package ranges

import "slices"

// environment holds the bindings of all variables in pages. Copies share a page until
// one of them changes it: each branch starts with a copy, and most branches change
// little.
type environment struct{ pages []*bindings }

const bindingsOfPage = 64

type bindings struct {
	shared bool
	of     [bindingsOfPage]binding
}

func newEnvironment(n int) environment {
	e := environment{make([]*bindings, (n+bindingsOfPage-1)/bindingsOfPage)}
	for i := range e.pages {
		e.pages[i] = new(bindings)
	}
	return e
}

// at returns the binding of variable i.
func (e environment) at(i int) binding { return e.pages[i/bindingsOfPage].of[i%bindingsOfPage] }

func (e environment) bind(i int, b binding) {
	p := e.pages[i/bindingsOfPage]
	if p.shared {
		own := *p
		own.shared = false
		p = &own
		e.pages[i/bindingsOfPage] = p
	}
	p.of[i%bindingsOfPage] = b
}

func (e environment) clone() environment {
	for _, p := range e.pages {
		p.shared = true
	}
	return environment{slices.Clone(e.pages)}
}
