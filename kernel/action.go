package kernel

// Action is what the handler of an actor returns: what happens to the message
// that it has handled. All threads of the block return one; that of the first
// thread counts.
type Action uint32

// Actions.
const (
	Done         Action = iota // the message is handled, and has no reply
	Reply                      // out is the reply
	Stop                       // as Done, and the actor terminates
	ReplyAndStop               // as Reply, and the actor terminates

	// Again means that the message is not handled yet: it stays the actor's next,
	// and the handler is called with it again later. What the handler has written
	// to the state is kept, what it has written to out is not.
	Again
)
