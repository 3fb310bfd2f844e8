package kernel

// Assert stops the thread unless the condition holds, as panic does. The launch
// fails with the message, which must be a constant. Kernels marked unchecked keep
// their assertions.
func Assert(condition bool, message string) {
	if !condition {
		panic(AssertionPrefix + message)
	}
}

// AssertionPrefix is the beginning of the reason that a failed [Assert] reports.
const AssertionPrefix = "assertion failed: "
