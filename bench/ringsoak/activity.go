package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// activities is the set of running activities. It shows why a soak does not end.
type activities struct {
	mu    sync.Mutex
	names map[string]bool
}

// enter adds a name. The caller must call end.
func (r *activities) enter(name string) (end func()) {
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

// during adds a name while f runs.
func (r *activities) during(name string, f func() error) error {
	defer r.enter(name)()
	return f()
}

// String returns the names. If there are many, it returns some of them and the number of
// the others.
func (r *activities) String() string {
	r.mu.Lock()
	names := slices.Sorted(maps.Keys(r.names))
	r.mu.Unlock()
	return some(names)
}

// some joins a list and truncates it if it is too long for one line.
func some(list []string) string {
	const most = 8
	if n := len(list) - most; n > 0 {
		list = append(list[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}
