#include "textflag.h"

// func Caller() uintptr
//
// Without a frame of its own, R29 is still the caller's: it points at the saved
// R29, above which the caller saved its return address.
TEXT ·Caller(SB), NOSPLIT|NOFRAME, $0-8
	MOVD 8(R29), R0
	MOVD R0, ret+0(FP)
	RET

// func Callers(pcs []uintptr) int
//
// The frame pointers ascend to the end of the stack (g.stack.hi, the second word of g).
// Any other value ends the walk: code of other languages uses the register freely.
TEXT ·Callers(SB), NOSPLIT|NOFRAME, $0-32
	MOVD pcs_base+0(FP), R0
	MOVD pcs_len+8(FP), R1
	MOVD 8(g), R2
	SUB  $16, R2, R2
	MOVD R29, R3
	MOVD RSP, R4
	MOVD ZR, R5
loop:
	CMP  R1, R5
	BGE  done
	CMP  R4, R3
	BLS  done
	CMP  R2, R3
	BHI  done
	MOVD 8(R3), R6
	CBZ  R6, done
	MOVD R6, (R0)
	ADD  $8, R0, R0
	ADD  $1, R5, R5
	MOVD R3, R4
	MOVD (R3), R3
	B    loop
done:
	MOVD R5, ret+24(FP)
	RET

// func Goroutine() uintptr
TEXT ·Goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVD g, R0
	MOVD R0, ret+0(FP)
	RET
