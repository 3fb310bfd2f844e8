package kernel

// Assert stops the thread unless the condition holds, as panic does: the launch
// fails with the message, which is a constant. It stays in kernels that are
// marked unchecked.
func Assert(condition bool, message string) {
	if !condition {
		panic(AssertionPrefix + message)
	}
}

// AssertionPrefix begins the reason of a failed [Assert].
const AssertionPrefix = "assertion failed: "
