package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// roster is what goes on at the moment, for those who wonder why a soak does not end.
type roster struct {
	mu    sync.Mutex
	names map[string]bool
}

// enter puts a name on the roster. It is to be ended.
func (r *roster) enter(name string) (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[name] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.names, name)
	}
}

// during has a name on the roster while f is called.
func (r *roster) during(name string, f func() error) error {
	defer r.enter(name)()
	return f()
}

// String returns the names, or some of them and how many there are more.
func (r *roster) String() string {
	r.mu.Lock()
	names := slices.Sorted(maps.Keys(r.names))
	r.mu.Unlock()
	return some(names)
}

// some is a list that is not too long for a line.
func some(list []string) string {
	const most = 8
	if n := len(list) - most; n > 0 {
		list = append(list[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}
