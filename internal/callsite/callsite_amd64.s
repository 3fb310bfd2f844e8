#include "textflag.h"

// func Caller() uintptr
//
// Without a frame of its own, BP is still the caller's: it points at the saved BP,
// above which the return address stands.
TEXT ·Caller(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ 8(BP), AX
	MOVQ AX, ret+0(FP)
	RET

// func Callers(pcs []uintptr) int
//
// The frame pointers ascend to the end of the stack (g.stack.hi, the second word of g).
// Any other value ends the walk: code of other languages uses the register freely.
TEXT ·Callers(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ pcs_base+0(FP), DI
	MOVQ pcs_len+8(FP), SI
	MOVQ (TLS), DX
	MOVQ 8(DX), DX
	SUBQ $16, DX
	MOVQ BP, CX
	MOVQ SP, R8
	XORQ AX, AX
loop:
	CMPQ AX, SI
	JGE  done
	CMPQ CX, R8
	JLS  done
	CMPQ CX, DX
	JHI  done
	MOVQ 8(CX), BX
	TESTQ BX, BX
	JEQ  done
	MOVQ BX, (DI)(AX*8)
	INCQ AX
	MOVQ CX, R8
	MOVQ (CX), CX
	JMP  loop
done:
	MOVQ AX, ret+24(FP)
	RET

// func Goroutine() uintptr
TEXT ·Goroutine(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
