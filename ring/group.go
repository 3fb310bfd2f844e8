package ring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"quern.dev/ring/actor"
	"quern.dev/ring/internal/mail"
)

// ErrNoMembers means that a group has no members to send to.
var ErrNoMembers = errors.New("the group has no members")

// Member is an actor that takes messages of type M: an [Actor] with any reply type.
type Member[M any] interface {
	Sender
	Ref() actor.Ref[M]
	Tell(ctx context.Context, msg M, opts ...MessageOption) error
}

// Group is a named set of actors that take messages of type M: the subscribers of a
// topic, or workers among which messages are routed by key or scattered. Actors on the
// device use the [Group.Ref] of a group to send to it without the host, if they could
// send to the members one by one. Replies to messages of a group are discarded, or go
// where [Connect] sends them.
//
// A Group is safe for concurrent use. Members may change while messages are sent; each
// message goes to the members at one point in time. A terminated member stays in the
// group until it is removed, and sending to it is an error.
type Group[M any] struct {
	rt   *Runtime
	name string
	at   uint32 // position of its word in the post memory

	members atomic.Pointer[[]Member[M]] // the list is replaced, never changed

	mu     sync.Mutex // held while the list is replaced
	list   uint32     // in the post memory
	room   int        // capacity of the list
	closed bool
}

// groups are the groups of a runtime by name.
type groups struct {
	mu     sync.Mutex
	byName map[string]anyGroup
}

// anyGroup is a group of any message type.
type anyGroup interface {
	message() reflect.Type
	vacate(c *core) error
}

// NewGroup makes a group without members. The error matches [ErrNameTaken] if another
// group has the name, [ErrInvalid] if the name is empty or cannot be shown, and [ErrClosed] if the
// runtime is closed.
func NewGroup[M any](rt *Runtime, name string) (*Group[M], error) {
	if err := rt.usable("new group"); err != nil {
		return nil, err
	}
	switch {
	case checkName(name) != nil:
		return nil, during("new group", checkName(name))
	case rt.ending():
		return nil, closedFor(fmt.Sprintf("new group %q", name))
	}
	g := &Group[M]{rt: rt, name: name}
	g.members.Store(new([]Member[M]))
	all := &rt.groups
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byName[name] != nil {
		return nil, fmt.Errorf("ring: new group: %w: there is a group %q already; close it, or choose another name", ErrNameTaken, name)
	}
	var err error
	if g.at, err = rt.post.Reserve(1); err != nil {
		return nil, err
	}
	if all.byName == nil {
		all.byName = map[string]anyGroup{}
	}
	all.byName[name] = g
	return g, nil
}

// FindGroup returns the group with a name. The error is a [*NameError] if there is
// none, and matches [ErrClosed] if the runtime is closed, and [ErrInvalid] if the
// group's messages are not of type M.
func FindGroup[M any](rt *Runtime, name string) (*Group[M], error) {
	if err := rt.usable("find group"); err != nil {
		return nil, err
	}
	if rt.ending() {
		return nil, closedFor(fmt.Sprintf("find group %q", name))
	}
	rt.groups.mu.Lock()
	found := rt.groups.byName[name]
	rt.groups.mu.Unlock()
	switch g := found.(type) {
	case *Group[M]:
		return g, nil
	case nil:
		return nil, newNameError("group", name, rt.Groups())
	default:
		return nil, invalid("group %q takes messages of type %v, not %v", name, found.message(), reflect.TypeFor[M]())
	}
}

// Groups returns the names of the groups in alphabetical order. A closed runtime has
// none.
func (rt *Runtime) Groups() []string {
	if !rt.made() || rt.ending() {
		return nil
	}
	rt.groups.mu.Lock()
	defer rt.groups.mu.Unlock()
	return slices.Sorted(maps.Keys(rt.groups.byName))
}

func (g *Group[M]) message() reflect.Type { return reflect.TypeFor[M]() }

// Name returns the group's name.
func (g *Group[M]) Name() string {
	if g == nil {
		return ""
	}
	return g.name
}

// Ref returns a reference to the group, which actors on the device use in messages
// and states.
func (g *Group[M]) Ref() actor.Group[M] {
	if g == nil {
		return actor.Group[M]{}
	}
	return actor.Group[M]{Place: g.at}
}

// Members returns the members in the order in which they were added, except that
// Remove puts the last member in the place of the removed one.
func (g *Group[M]) Members() []Member[M] {
	if g.usable("members") != nil {
		return nil
	}
	return slices.Clone(*g.members.Load())
}

// Add adds actors to the group. If an actor is already a member or belongs to another
// runtime, the error matches [ErrInvalid], and no actor is added. Actors on the
// device pause for the change at a message boundary.
func (g *Group[M]) Add(members ...Member[M]) error {
	if err := g.usable("add"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.Members()
	for _, m := range members {
		switch {
		case m == nil || senderOf(m) == nil:
			return invalid("group %q: the actor is nil", g.name)
		case m.sender().rt != g.rt:
			return invalid("group %q: actor %s is of another runtime", g.name, m.Name())
		case slices.ContainsFunc(list, same(m)):
			return invalid("group %q: actor %s is already a member", g.name, m.Name())
		}
		list = append(list, m)
	}
	return g.replace(list)
}

// Remove removes actors from the group. If an actor is not a member, the error
// matches [ErrInvalid], and none is removed. The last member takes the place of a
// removed one, so routing changes only for keys of these two members.
func (g *Group[M]) Remove(members ...Member[M]) error {
	if err := g.usable("remove"); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.Members()
	for _, m := range members {
		if m == nil || senderOf(m) == nil {
			return invalid("group %q: the actor is nil", g.name)
		}
		i := slices.IndexFunc(list, same(m))
		if i < 0 {
			return invalid("group %q: actor %s is not a member", g.name, m.Name())
		}
		last := len(list) - 1
		list[i] = list[last]
		list = list[:last]
	}
	return g.replace(list)
}

// same returns a function that reports whether a member is the same actor as m.
func same[M any](m Member[M]) func(Member[M]) bool {
	return func(other Member[M]) bool { return other.sender() == m.sender() }
}

// replace replaces the list of members. The caller holds g.mu.
func (g *Group[M]) replace(members []Member[M]) error {
	if g.rt.ending() {
		return closedFor(fmt.Sprintf("group %q", g.name))
	}
	if g.closed {
		return g.failed(ErrClosed)
	}
	words := make([]uint64, len(members))
	for i, m := range members {
		if m.sender().current() != Terminated {
			words[i] = refWord(m.Ref())
		}
	}
	at, room := g.list, g.room
	if len(members) > room {
		room = max(16, 2*room, len(members))
		var err error
		if at, err = g.rt.post.Reserve(room); err != nil {
			return g.failed(err)
		}
	}
	if err := g.rt.Quiesce("change a group"); err != nil {
		return g.failed(err)
	}
	err := g.rt.post.Write(at, words...)
	if err == nil {
		err = g.rt.post.Write(g.at, mail.GroupWord(at, len(members)))
	}
	if err == nil {
		g.members.Store(&members)
	}
	err = errors.Join(err, g.rt.Resume())
	if at != g.list {
		if g.room > 0 {
			g.rt.post.Release(g.list, g.room)
		}
		g.list, g.room = at, room
	}
	if err != nil {
		return g.failed(err)
	}
	return nil
}

// vacate stops actors on the device from sending to a terminated member, because its
// mailbox may be reused.
func (g *Group[M]) vacate(c *core) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(*g.members.Load(), func(m Member[M]) bool { return m.sender() == c })
	if i < 0 || g.closed {
		return nil
	}
	return g.rt.post.Write(g.list+uint32(i), 0)
}

// vacate removes a terminated actor from the groups on the device.
func (all *groups) vacate(c *core) error {
	all.mu.Lock()
	list := make([]anyGroup, 0, len(all.byName))
	for _, g := range all.byName {
		list = append(list, g)
	}
	all.mu.Unlock()
	var errs []error
	for _, g := range list {
		errs = append(errs, g.vacate(c))
	}
	return errors.Join(errs...)
}

// Close closes the group. Its name becomes free, and it has no members. The runtime
// keeps 128 bytes for it, because actors on the device may have its Ref. Closing it
// again, or after the runtime was closed, does nothing.
func (g *Group[M]) Close() error {
	if g.usable("close") != nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	if err := g.replace(nil); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	g.members.Store(new([]Member[M]))
	g.closed = true
	if g.room > 0 {
		g.rt.post.Release(g.list, g.room)
	}
	g.rt.groups.mu.Lock()
	defer g.rt.groups.mu.Unlock()
	delete(g.rt.groups.byName, g.name)
	return nil
}

// Publish sends a message to each member, as [Actor.Tell] does, and returns the
// number of members that accepted it. The error joins the errors of the others, which
// name the member. For a group without members it returns 0 and no error.
func (g *Group[M]) Publish(ctx context.Context, msg M, opts ...MessageOption) (n int, err error) {
	ctx = orBackground(ctx)
	if err := g.ready(ctx, "publish"); err != nil {
		return 0, err
	}
	var errs []error
	for _, m := range *g.members.Load() {
		if err := m.Tell(ctx, msg, opts...); err != nil {
			errs = append(errs, g.failed(err))
			continue
		}
		n++
	}
	return n, errors.Join(errs...)
}

// Route sends a message, as [Actor.Tell] does, to the member that is responsible for a
// key. That is always the same member while the group does not change, and a change
// affects few keys. Actors on the device route to the same members. For a group without
// members the error matches [ErrNoMembers].
func (g *Group[M]) Route(ctx context.Context, key uint64, msg M, opts ...MessageOption) error {
	ctx = orBackground(ctx)
	if err := g.ready(ctx, "route"); err != nil {
		return err
	}
	members := *g.members.Load()
	if len(members) == 0 {
		return fmt.Errorf("ring: group %q: %w", g.name, ErrNoMembers)
	}
	m := members[actor.Pick(key, len(members))]
	if err := m.Tell(ctx, msg, opts...); err != nil {
		return g.failed(err)
	}
	return nil
}

// Scatter sends messages to the members in turn, as [Actor.Tell] does: message i goes
// to member i modulo their number. It returns the number of accepted messages: all of
// them, or those before the first that was not accepted. For a group without members
// the error matches [ErrNoMembers].
func (g *Group[M]) Scatter(ctx context.Context, msgs []M, opts ...MessageOption) (int, error) {
	ctx = orBackground(ctx)
	if err := g.ready(ctx, "scatter"); err != nil {
		return 0, err
	}
	members := *g.members.Load()
	if len(members) == 0 && len(msgs) > 0 {
		return 0, fmt.Errorf("ring: group %q: %w", g.name, ErrNoMembers)
	}
	for i, msg := range msgs {
		m := members[i%len(members)]
		if err := m.Tell(ctx, msg, opts...); err != nil {
			return i, g.failed(err)
		}
	}
	return len(msgs), nil
}

// ready returns an error if a group cannot send.
func (g *Group[M]) ready(ctx context.Context, op string) error {
	if err := g.usable(op); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return g.failed(err)
	}
	return nil
}

func (g *Group[M]) failed(err error) error { return fmt.Errorf("ring: group %q: %w", g.name, err) }
