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

	// Again means that the message is not handled yet, and the handler is called
	// with it again later. It stays before later messages of its level of priority,
	// or, if an actor on the device sent it, before later messages of such actors.
	// Others may be handled first. Writes to the state are kept; writes to out are
	// discarded.
	Again
)
