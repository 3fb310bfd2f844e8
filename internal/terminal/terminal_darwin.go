package terminal

import "syscall"

const (
	getAttributes = syscall.TIOCGETA
	setAttributes = syscall.TIOCSETA
)
