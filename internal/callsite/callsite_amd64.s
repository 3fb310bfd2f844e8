#include "textflag.h"

// func Caller() uintptr
//
// Without a frame of its own, BP is still the caller's: it points at the saved BP,
// above which the return address stands.
TEXT ·Caller(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ 8(BP), AX
	MOVQ AX, ret+0(FP)
	RET
