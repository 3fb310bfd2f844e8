package ringbench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// echoes are actors that reply with their message after adding one to each word.
type echoes interface {
	spawn(ctx context.Context, n int) error
	// asker returns a function that asks one of the actors and checks the reply. Only one
	// goroutine may use it.
	asker(actor int) func(ctx context.Context, number uint32) error
	// stream sends batches to actors from, from+step and so on, with several batches in
	// flight at any time, until stop returns true. It returns the number of replies, all
	// of which it has checked.
	stream(ctx context.Context, from, step, batch int, stop func() bool) (messages int, err error)
}

// message is the constraint for a pointer to a message.
type message[M any] interface {
	*M
	words() []uint32
}

// kind creates echoes for one message size.
type kind struct {
	bytes int
	make  func(rt *ring.Runtime) echoes
}

var kinds = []kind{
	{16, func(rt *ring.Runtime) echoes { return &echo[Message16, *Message16]{rt: rt, new: SpawnEcho16} }},
	{64, func(rt *ring.Runtime) echoes { return &echo[Message64, *Message64]{rt: rt, new: SpawnEcho64} }},
	{256, func(rt *ring.Runtime) echoes { return &echo[Message256, *Message256]{rt: rt, new: SpawnEcho256} }},
}

// kindOf returns the kind for messages of the given size in bytes.
func kindOf(bytes int) (kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.bytes == bytes })
	if i < 0 {
		var sizes []string
		for _, k := range kinds {
			sizes = append(sizes, fmt.Sprint(k.bytes))
		}
		return kind{}, fmt.Errorf("no messages of %d bytes: want %s", bytes, strings.Join(sizes, ", "))
	}
	return kinds[i], nil
}

type echo[M any, P message[M]] struct {
	rt     *ring.Runtime
	new    func(context.Context, *ring.Runtime, ring.Options) (*ring.Actor[M, M], error)
	actors []*ring.Actor[M, M]
}

func (e *echo[M, P]) spawn(ctx context.Context, n int) error {
	for range n {
		a, err := e.new(ctx, e.rt, ring.Options{})
		if err != nil {
			return err
		}
		e.actors = append(e.actors, a)
	}
	return nil
}

func (e *echo[M, P]) asker(actor int) func(ctx context.Context, number uint32) error {
	var message, reply M
	words, a := P(&message).words(), e.actors[actor]
	return func(ctx context.Context, number uint32) (err error) {
		words[0], words[len(words)-1] = number, number
		if reply, err = a.Ask(ctx, message); err != nil {
			return err
		}
		return check[M, P](&reply, number)
	}
}

// check returns an error if reply is not the reply to message number.
func check[M any, P message[M]](reply P, number uint32) error {
	if w := reply.words(); w[0] != number+1 || w[len(w)-1] != number+1 {
		return &WrongReply{Number: number, First: w[0], Last: w[len(w)-1]}
	}
	return nil
}

// WrongReply is the error for a reply that does not match its message.
type WrongReply struct{ Number, First, Last uint32 }

// Error describes the reply.
func (e *WrongReply) Error() string {
	return fmt.Sprintf("the reply to message %d begins with %d and ends with %d", e.Number, e.First, e.Last)
}

// inFlight is the number of batches in flight per actor.
const inFlight = 8

func (e *echo[M, P]) stream(ctx context.Context, from, step, batch int, stop func() bool) (int, error) {
	var lanes []*lane[M, P]
	for i := from; i < len(e.actors); i += step {
		lanes = append(lanes, &lane[M, P]{actor: e.actors[i], messages: make([]M, batch)})
	}
	var fed atomic.Bool // sending has ended
	feed := func() (err error) {
		if fed.Load() || stop() {
			fed.Store(true)
			return nil
		}
		for _, l := range lanes {
			for err == nil && l.way() <= uint32(batch*(inFlight-1)) {
				err = l.send(ctx)
			}
		}
		return err
	}
	total, replies := 0, make([]M, batch)
	take := func() (done bool, err error) {
		done = fed.Load()
		for _, l := range lanes {
			if l.way() == 0 {
				continue
			}
			done = false
			n, err := l.receive(ctx, replies)
			if total += n; err != nil {
				return true, err
			}
		}
		return done, nil
	}
	if !e.pairs() {
		for {
			err := feed()
			done, failed := take()
			if err = errors.Join(err, failed); done || err != nil {
				return total, err
			}
		}
	}
	var feeder sync.WaitGroup
	var err error
	feeder.Go(func() {
		for err == nil && !fed.Load() {
			err = feed()
			runtime.Gosched()
		}
		fed.Store(true)
	})
	for {
		done, failed := take()
		if done || failed != nil {
			fed.Store(true)
			feeder.Wait()
			return total, errors.Join(err, failed)
		}
	}
}

// pairs reports whether there are enough processors for goroutines that only send, in
// addition to those that receive.
func (e *echo[M, P]) pairs() bool {
	return e.rt.Device().Backend() == gpu.CUDA && runtime.NumCPU() >= 4
}

// lane tracks the messages of one actor. One goroutine sends, and one receives.
type lane[M any, P message[M]] struct {
	actor          *ring.Actor[M, M]
	messages       []M
	sent, received atomic.Uint32
}

// way returns the number of messages in flight.
func (l *lane[M, P]) way() uint32 {
	received := l.received.Load()
	return l.sent.Load() - received
}

func (l *lane[M, P]) send(ctx context.Context) error {
	first := l.sent.Load()
	for i := range l.messages {
		words := P(&l.messages[i]).words()
		words[0], words[len(words)-1] = first+uint32(i), first+uint32(i)
	}
	n, err := l.actor.SendBatch(ctx, l.messages)
	l.sent.Add(uint32(n))
	return err
}

// receive receives and checks replies. It returns their number, which is at least one.
func (l *lane[M, P]) receive(ctx context.Context, replies []M) (int, error) {
	first := l.received.Load()
	n, err := l.actor.ReceiveBatch(ctx, replies)
	for i := range replies[:n] {
		if err := check[M, P](&replies[i], first+uint32(i)); err != nil {
			return i, err
		}
	}
	l.received.Add(uint32(n))
	return n, err
}

// within runs f with the given number of echoes in a new runtime.
func within(ctx context.Context, dev *gpu.Device, payload, actors int, f func(echoes) error) (err error) {
	k, err := kindOf(payload)
	if err != nil {
		return err
	}
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	e := k.make(rt)
	if err := e.spawn(ctx, actors); err != nil {
		return err
	}
	return f(e)
}
