package actor

import "quern.dev/kernel"

// Group names actors that take messages of type M to actors on the device: a topic
// whose subscribers they are, or the workers among which a router chooses. It is plain
// data: it may be part of states and messages. The program makes groups with
// ring.NewGroup and changes their members while actors run; a handler sees no change
// between its begin and its end. The zero Group has no members.
type Group[M any] struct {
	Place uint32 // of its word in the post memory
}

// Len returns the number of members.
func (g Group[M]) Len(c *Context) int {
	if g.Place == 0 {
		return 0
	}
	return int(c.Mail.Post[g.Place] >> 32)
}

// At returns member i, counted from 0.
func (g Group[M]) At(c *Context, i int) Ref[M] {
	if i < 0 || i >= g.Len(c) {
		panic("group has no member of this number")
	}
	member := kernel.LoadRelaxed(&c.Mail.Post[int(uint32(c.Mail.Post[g.Place]))+i])
	return Ref[M]{uint32(member), uint32(member >> 32)}
}

// Publish sends a message to each member, as [Send] does, and returns how many have
// taken it. Each thread that calls it publishes a message of its own.
func Publish[M any](t kernel.Thread, c *Context, g Group[M], msg *M) int {
	taken := 0
	for i := range g.Len(c) {
		if Send(t, c, g.At(c, i), msg) {
			taken++
		}
	}
	return taken
}

// Route sends a message to the member that [Pick] chooses for a key, as [Send] does,
// and reports whether it has been taken. The host's ring.Group.Route chooses the same
// member.
func Route[M any](t kernel.Thread, c *Context, g Group[M], key uint64, msg *M) bool {
	n := g.Len(c)
	if n == 0 {
		return false
	}
	return Send(t, c, g.At(c, Pick(key, n)), msg)
}

// Pick chooses one of n members for a key, 0 to n-1, -1 if n is 0: each for as many of
// the keys. With one member more, those keys change their member that the new one
// gets. It is the jump consistent hash of Lamping and Veach (2014), in integers.
func Pick(key uint64, n int) int {
	chosen, next := -1, uint64(0)
	for next < uint64(n) {
		chosen = int(next)
		key = key*pickMultiplier + 1
		next = ((next + 1) << 31) / (key>>33 + 1)
	}
	return chosen
}

// pickMultiplier is that of a linear congruential generator of 64 bits with period
// 1<<64.
const pickMultiplier = 2862933555777941757
