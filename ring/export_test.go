package ring

import (
	"context"
	"time"
	"unsafe"

	"quern.dev/ring/internal/mail"
	"quern.dev/ring/internal/rings"
)

// AskAndHold is the first half of [Actor.Ask]. The reply keeps its slot until the function
// that AskAndHold returns has taken it.
func AskAndHold[In, Out any](ctx context.Context, a *Actor[In, Out], msg In) (take func() error) {
	p, err := a.post(ctx, "ask", asked, &msg, nil)
	if err != nil {
		return func() error { return err }
	}
	a.core.kick()
	return func() error {
		_, err := a.collect(ctx, p)
		return err
	}
}

// Fail makes the actor fail, as its handler does.
func Fail[In, Out any](a *Actor[In, Out], err error) { a.core.fail(err) }

// Interrupt calls f once during the next operation on an actor on a device: after the
// operation has stopped the actor, or before it writes to the actor's place.
func Interrupt[In, Out any](a *Actor[In, Out], writes bool, f func()) {
	i := &interruption{f, writes}
	switch s := a.core.server.(type) {
	case *local:
		a.core.server = &interruptedLocal{s, i}
	case *place:
		a.core.server = &interruptedPlace{s, i}
	}
}

type interruption struct {
	do     func()
	writes bool
}

// at calls the function if it was not called yet, and this is the time.
func (i *interruption) at(writes bool) {
	if f := i.do; f != nil && writes == i.writes {
		i.do = nil
		f()
	}
}

type interruptedLocal struct {
	*local
	*interruption
}

func (l *interruptedLocal) hold() error {
	defer l.at(false)
	return l.local.hold()
}

func (l *interruptedLocal) renew(initial any) error {
	l.at(true)
	return l.local.renew(initial)
}

func (l *interruptedLocal) route(routes, saved uint32) error {
	l.at(true)
	return l.local.route(routes, saved)
}

type interruptedPlace struct {
	*place
	*interruption
}

func (p *interruptedPlace) hold() error {
	defer p.at(false)
	return p.place.hold()
}

func (p *interruptedPlace) renew(initial any) error {
	p.at(true)
	return p.place.renew(initial)
}

func (p *interruptedPlace) route(routes, saved uint32) error {
	p.at(true)
	return p.place.route(routes, saved)
}

// Pass makes a time pass. Nothing may be running.
func Pass(rt *Runtime, d time.Duration) { rt.messages.born = rt.messages.born.Add(-d) }

// RenewMail does what a runtime does every 15 minutes.
func RenewMail(rt *Runtime) error { return rt.renew() }

// Mail puts a message that is valid for ttl into the first slot of the mailbox for messages
// of actors on the device.
func Mail[In, Out any](a *Actor[In, Out], msg In, ttl time.Duration) error {
	c := a.core
	a.Ref()
	words := make([]uint64, c.box.Step)
	slot := rings.Inbox{At: unsafe.Pointer(&words[0]), Step: uintptr(8 * len(words)), Size: c.inSize}
	now := c.rt.clock()
	slot.Put(0, &rings.Header{Deadline: deadlineWord(now+int64(ttl), now), Priority: DefaultPriority}, unsafe.Pointer(&msg))
	if err := c.rt.post.Write(c.box.Ring(), words...); err != nil {
		return err
	}
	return c.rt.post.Write(c.box.At()+mail.BoxTail, 1)
}

// Count makes the runtime believe that it has spawned more actors, or has as many.
func Count(rt *Runtime, spawned int, living uint64) {
	rt.spawned = max(rt.spawned, spawned)
	rt.messages.ranged = max(rt.messages.ranged, living)
}
