package actor

import "quern.dev/kernel"

// Group refers to a set of actors that take messages of type M: the subscribers of a
// topic, or the workers that a router chooses from. Actors on the device use it. It is
// plain data, so states and messages may contain it. The program makes groups with
// ring.NewGroup and changes their members while actors run; members do not change
// while a handler runs. The zero Group has no members.
type Group[M any] struct {
	Place uint32 // position of its word in the post memory
}

// Len returns the number of members.
func (g Group[M]) Len(c *Context) int {
	if g.Place == 0 {
		return 0
	}
	return int(c.Mail.Post[g.Place] >> 32)
}

// At returns member i, from 0.
func (g Group[M]) At(c *Context, i int) Ref[M] {
	if i < 0 || i >= g.Len(c) {
		panic("group has no member of this number")
	}
	member := kernel.LoadRelaxed(&c.Mail.Post[int(uint32(c.Mail.Post[g.Place]))+i])
	return Ref[M]{uint32(member), uint32(member >> 32)}
}

// Publish sends a message to each member, as [Send] does, and returns the number of
// members that accepted it. Each thread that calls it publishes its own message.
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
// and reports whether it was accepted. The host's ring.Group.Route chooses the same
// member.
func Route[M any](t kernel.Thread, c *Context, g Group[M], key uint64, msg *M) bool {
	n := g.Len(c)
	if n == 0 {
		return false
	}
	return Send(t, c, g.At(c, Pick(key, n)), msg)
}

// Pick chooses one of n members for a key, from 0 to n-1, or -1 if n is 0. Keys are
// spread evenly. When a member is added, only the keys that it gets change their
// member. This is the jump consistent hash of Lamping and Veach (2014), in integers.
func Pick(key uint64, n int) int {
	chosen, next := -1, uint64(0)
	for next < uint64(n) {
		chosen = int(next)
		key = key*pickMultiplier + 1
		next = ((next + 1) << 31) / (key>>33 + 1)
	}
	return chosen
}

// pickMultiplier is the multiplier of a 64-bit linear congruential generator with
// period 1<<64.
const pickMultiplier = 2862933555777941757
