package ring

import "context"

// server has an actor's handler called: a block of a resident launch, a block that
// whoever waits runs, or a goroutine.
type server interface {
	holder
	// handled reports whether a ticket is handled. It may wait for that, and handle
	// messages itself, until ctx is cancelled.
	handled(ctx context.Context, m *mailbox, ticket uint64) (bool, error)
	// kick makes sure that messages are handled that nobody waits for. Whoever calls it
	// visits the actor, as core.kick does.
	kick()
	// renew gives the actor, which is held, the state that it was spawned with.
	renew(initial any) error
	// room reports whether the actor can become active.
	room() error
}

// holder is what can be stopped between messages.
type holder interface {
	// hold waits for the end of the message that the handler is at, if it is at one,
	// and has it not called again until resume. Messages wait in the mailboxes.
	hold() error
	// resume ends a hold, and takes note of what the actor's state is now.
	resume() error
}

// restart has the server take note of the actor's state.
func restart(s holder) error {
	if err := s.hold(); err != nil {
		return err
	}
	return s.resume()
}

// place is an actor's block in a cohort.
type place struct {
	*resident
	actor *core
	block int
}

func (p *place) handled(_ context.Context, m *mailbox, ticket uint64) (bool, error) {
	return m.handled(ticket), nil
}

func (p *place) kick() {
	if p.away(p.block) {
		if _, err := p.watch(); err != nil {
			p.rt.record(err)
		}
	}
}

func (p *place) renew(initial any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states.set(p.stream, p.block, initial)
}

func (p *place) room() error { return p.resident.room(p.actor.name) }
