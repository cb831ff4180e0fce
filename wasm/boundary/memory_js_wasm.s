//go:build js

#include "textflag.h"

TEXT ·memoryPages(SB), NOSPLIT, $0-8
	Get SP
	CurrentMemory
	I64ExtendI32U
	I64Store ret+0(FP)
	RET
