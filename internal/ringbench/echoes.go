package ringbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// echoes are actors that reply with their message, each word plus one.
type echoes interface {
	spawn(ctx context.Context, n int) error
	// asker returns a function that asks one of the actors and checks the reply. It
	// is for one goroutine.
	asker(actor int) func(ctx context.Context, number uint32) error
	// stream sends batches to actors number from, from+step and so on, of which a
	// number is on its way at any time, until stop reports true. It returns how many
	// replies it has checked, which are all.
	stream(ctx context.Context, from, step, batch int, stop func() bool) (messages int, err error)
}

// message is a pointer to a message.
type message[M any] interface {
	*M
	words() []uint32
}

// kind makes echoes of a size of message.
type kind struct {
	bytes int
	make  func(rt *ring.Runtime) echoes
}

var kinds = []kind{
	{16, func(rt *ring.Runtime) echoes { return &echo[Message16, *Message16]{rt: rt, new: SpawnEcho16} }},
	{64, func(rt *ring.Runtime) echoes { return &echo[Message64, *Message64]{rt: rt, new: SpawnEcho64} }},
	{256, func(rt *ring.Runtime) echoes { return &echo[Message256, *Message256]{rt: rt, new: SpawnEcho256} }},
}

// kindOf returns the kind for messages of a number of bytes.
func kindOf(bytes int) (kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.bytes == bytes })
	if i < 0 {
		var sizes []string
		for _, k := range kinds {
			sizes = append(sizes, fmt.Sprint(k.bytes))
		}
		return kind{}, fmt.Errorf("there are no messages of %d bytes; there are of %s", bytes, strings.Join(sizes, ", "))
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

// check reports a reply that is not to the message with a number.
func check[M any, P message[M]](reply P, number uint32) error {
	if w := reply.words(); w[0] != number+1 || w[len(w)-1] != number+1 {
		return &WrongReply{Number: number, First: w[0], Last: w[len(w)-1]}
	}
	return nil
}

// WrongReply is a reply that is not to the message that was asked.
type WrongReply struct{ Number, First, Last uint32 }

// Error says what the reply should have been.
func (e *WrongReply) Error() string {
	return fmt.Sprintf("the reply to message %d begins with %d and ends with %d", e.Number, e.First, e.Last)
}

// inFlight is the number of batches on their way to an actor and back.
const inFlight = 8

func (e *echo[M, P]) stream(ctx context.Context, from, step, batch int, stop func() bool) (int, error) {
	type lane struct {
		*ring.Actor[M, M]
		sent, received uint32
	}
	var lanes []*lane
	for i := from; i < len(e.actors); i += step {
		lanes = append(lanes, &lane{Actor: e.actors[i]})
	}
	messages, replies := make([]M, batch), make([]M, batch)
	total, stopping := 0, false
	for busy := true; busy; {
		busy = false
		stopping = stopping || stop()
		for _, l := range lanes {
			for !stopping && l.sent-l.received <= uint32(batch*(inFlight-1)) {
				for i := range messages {
					words := P(&messages[i]).words()
					words[0], words[len(words)-1] = l.sent+uint32(i), l.sent+uint32(i)
				}
				n, err := l.SendBatch(ctx, messages)
				l.sent += uint32(n)
				if err != nil {
					return total, err
				}
			}
			if l.sent == l.received {
				continue
			}
			busy = true
			n, err := l.ReceiveBatch(ctx, replies)
			for i := range replies[:n] {
				if err := check[M, P](&replies[i], l.received+uint32(i)); err != nil {
					return total, err
				}
			}
			l.received += uint32(n)
			total += n
			if err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// within runs f in a runtime of its own with a number of echoes.
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
