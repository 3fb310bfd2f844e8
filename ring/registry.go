package ring

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// NameError means that a runtime has no actor or group with a name.
type NameError struct {
	Kind  string // "actor" or "group"
	Name  string
	Names []string // of those that there are, the most similar ones first
}

// listed is how many names an error tells.
const listed = 10

// Error lists the names that there are, of many the most similar.
func (e *NameError) Error() string {
	if len(e.Names) == 0 {
		return fmt.Sprintf("ring: there is no %s %q; there are none", e.Kind, e.Name)
	}
	names := e.Names[:min(len(e.Names), listed)]
	text := fmt.Sprintf("ring: there is no %s %q; there are %s", e.Kind, e.Name, strings.Join(names, ", "))
	if more := len(e.Names) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// TypeError means that an actor has other messages or replies than it was asked
// for with.
type TypeError struct {
	Actor               string
	In, Out             reflect.Type // of the actor
	WantedIn, WantedOut reflect.Type
}

// Error names the types of both.
func (e *TypeError) Error() string {
	return fmt.Sprintf("ring: actor %s takes %v and replies with %v; it was looked up as one that takes %v and replies with %v",
		e.Actor, e.In, e.Out, e.WantedIn, e.WantedOut)
}

// Find returns the actor with a name. It is a [*NameError] if there is none, also
// if it has terminated, [ErrClosed] if the runtime has been closed, and a
// [*TypeError] if the actor has messages of another type.
func Find[In, Out any](rt *Runtime, name string) (*Actor[In, Out], error) {
	c, err := rt.find(name)
	if err != nil {
		return nil, err
	}
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	if c.in != in || c.out != out {
		return nil, &TypeError{Actor: name, In: c.in, Out: c.out, WantedIn: in, WantedOut: out}
	}
	return newActor[In, Out](c), nil
}

// Lookup returns what is known of the actor with a name. It is a [*NameError] if
// there is none, and [ErrClosed] if the runtime has been closed.
func (rt *Runtime) Lookup(name string) (Info, error) {
	c, err := rt.find(name)
	if err != nil {
		return Info{}, err
	}
	return c.info(), nil
}

func (rt *Runtime) find(name string) (*core, error) {
	if err := rt.usable("find"); err != nil {
		return nil, err
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if c := rt.actors[name]; c != nil {
		return c, nil
	}
	if rt.closed {
		return nil, closedFor(fmt.Sprintf("find actor %q", name))
	}
	names := make([]string, 0, len(rt.actors))
	for n, c := range rt.actors {
		if c != nil {
			names = append(names, n)
		}
	}
	return nil, newNameError("actor", name, names)
}

// newNameError sorts the names that there are.
func newNameError(kind, name string, names []string) *NameError {
	distances := make(map[string]int, len(names))
	for _, n := range names {
		distances[n] = distance(name, n)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(distances[x], distances[y]), strings.Compare(x, y))
	})
	return &NameError{Kind: kind, Name: name, Names: names}
}

// distance is the number of letters to insert, remove or replace to make one name
// of another (Levenshtein, 1966).
func distance(x, y string) int {
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(x) {
		before := row[0] // of the row above, to the left
		row[0] = i + 1
		for j := range len(y) {
			replaced := before
			if x[i] != y[j] {
				replaced++
			}
			before = row[j+1]
			row[j+1] = min(replaced, before+1, row[j]+1)
		}
	}
	return row[len(y)]
}

// Actors returns what is known of each actor that has not terminated, by name. It
// visits the actors that there are when it is called.
func (rt *Runtime) Actors() iter.Seq[Info] {
	return func(yield func(Info) bool) {
		for _, c := range rt.living() {
			if !yield(c.info()) {
				return
			}
		}
	}
}

// living returns the actors that have not terminated, by name.
func (rt *Runtime) living() []*core {
	if !rt.made() {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	list := make([]*core, 0, len(rt.actors))
	for _, name := range slices.Sorted(maps.Keys(rt.actors)) {
		if c := rt.actors[name]; c != nil {
			list = append(list, c)
		}
	}
	return list
}

// reserve takes a name for an actor, made from that of its handler if it has none.
func (rt *Runtime) reserve(c *core, handler string) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		return closedFor("spawn " + cmp.Or(c.name, handler))
	}
	rt.spawned++
	c.name = cmp.Or(c.name, fmt.Sprintf("%s-%d", handler, rt.spawned))
	if _, taken := rt.actors[c.name]; taken {
		return fmt.Errorf("ring: spawn: %w: there is an actor %q already; terminate it, or choose another name", ErrNameTaken, c.name)
	}
	rt.actors[c.name] = nil
	c.number = uint32(rt.spawned)
	rt.messages.name(c.number, c.name)
	return nil
}

// enrol registers an actor that has reserved its name. It fails if the runtime was closed
// meanwhile: Close ends only actors that are registered.
func (rt *Runtime) enrol(c *core) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.closed {
		delete(rt.actors, c.name)
		return closedFor("spawn " + c.name)
	}
	rt.actors[c.name] = c
	return nil
}

// unregister gives back the name of an actor that has terminated, or was not made.
func (rt *Runtime) unregister(c *core) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if known := rt.actors[c.name]; known == nil || known == c {
		delete(rt.actors, c.name)
		rt.messages.forget(c.number)
	}
}
