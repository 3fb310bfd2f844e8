package ring

// State is where an actor is in its life:
//
//	created -> launched -> active <-> deactivated -> terminating -> terminated
//	                          \-> failed -> active (restarted) or terminated
type State uint32

// States.
const (
	Created     State = iota // it has a mailbox
	Launched                 // and a place on the device
	Active                   // it handles messages
	Deactivated              // it keeps messages, and handles none
	Terminating              // it handles the messages that it has, and takes none
	Terminated               // it handles and takes none
	Failed                   // its handler has failed; it keeps messages, and handles and takes none
)

var stateNames = [...]string{"created", "launched", "active", "deactivated", "terminating", "terminated", "failed"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// open reports whether an actor in state s takes messages.
func (s State) open() bool { return s == Active || s == Deactivated || s == Launched }
