#include "textflag.h"

// func Caller() uintptr
//
// Without a frame of its own, R29 is still the caller's: it points at the saved
// R29, above which the caller saved its return address.
TEXT ·Caller(SB), NOSPLIT|NOFRAME, $0-8
	MOVD 8(R29), R0
	MOVD R0, ret+0(FP)
	RET
