package kernel

// Action is the result of an actor's handler. It decides what happens to the
// message. Every thread of the block returns an Action; the one of the first
// thread counts.
type Action uint32

// Actions.
const (
	Done         Action = iota // the message is handled; there is no reply
	Reply                      // out is the reply
	Stop                       // like Done; the actor then terminates
	ReplyAndStop               // like Reply; the actor then terminates

	// Again means that the message is not handled yet. It stays first in the
	// actor's mailbox, and the handler is called with it again later. Writes to
	// the state are kept; writes to out are discarded.
	Again
)
