//go:build tinygo

#include <stdint.h>

void collect(void);

// A function for each register that functions preserve: it has collect called while
// that register, and nothing else, has the complement of its argument, and returns
// its argument. Other registers are cleared, since somebody may save them by the
// way. The linker is to know that collect is needed, hence the operand.
#define HOLD(r) \
	__attribute__((naked)) static uintptr_t hold_##r(uintptr_t hidden) { \
		__asm__ volatile(SAVE TAKE(r) "\n" CALL RETURN(r) "\n" RESTORE : : "i"(collect)); \
	}

#if defined(__thumb2__)

#define SAVE "mov r3, #0\n push {r3-r11, lr}\n"
#define TAKE(r) "mvn " #r ", r0"
#define CALL "mov r0, #0\n mov r1, #0\n mov r2, #0\n mov r12, #0\n bl %c0\n"
#define RETURN(r) "mvn r0, " #r
#define RESTORE "pop {r3-r11, pc}\n"
#define EACH(X) X(r4) X(r5) X(r6) X(r7) X(r8) X(r9) X(r10) X(r11)

#else // a RISC-V of 32 bits

#define SAVE \
	"addi sp, sp, -64\n sw ra, 0(sp)\n sw s0, 4(sp)\n sw s1, 8(sp)\n sw s2, 12(sp)\n sw s3, 16(sp)\n sw s4, 20(sp)\n" \
	"sw s5, 24(sp)\n sw s6, 28(sp)\n sw s7, 32(sp)\n sw s8, 36(sp)\n sw s9, 40(sp)\n sw s10, 44(sp)\n sw s11, 48(sp)\n"
#define TAKE(r) "not " #r ", a0"
#define CALL \
	"li a0, 0\n li a1, 0\n li a2, 0\n li a3, 0\n li a4, 0\n li a5, 0\n li a6, 0\n li a7, 0\n" \
	"li t0, 0\n li t1, 0\n li t2, 0\n li t3, 0\n li t4, 0\n li t5, 0\n li t6, 0\n call %c0\n"
#define RETURN(r) "not a0, " #r
#define RESTORE \
	"lw ra, 0(sp)\n lw s0, 4(sp)\n lw s1, 8(sp)\n lw s2, 12(sp)\n lw s3, 16(sp)\n lw s4, 20(sp)\n" \
	"lw s5, 24(sp)\n lw s6, 28(sp)\n lw s7, 32(sp)\n lw s8, 36(sp)\n lw s9, 40(sp)\n lw s10, 44(sp)\n lw s11, 48(sp)\n" \
	"addi sp, sp, 64\n ret\n"
#define EACH(X) X(s0) X(s1) X(s2) X(s3) X(s4) X(s5) X(s6) X(s7) X(s8) X(s9) X(s10) X(s11)

#endif

EACH(HOLD)

#define NAME(r) hold_##r,
static uintptr_t (*const all[])(uintptr_t) = {EACH(NAME)};

int32_t registers(void) { return sizeof all / sizeof all[0]; }

// forget overwrites what is left of finished calls on the stack, which the collector
// looks through as a whole.
__attribute__((noinline)) static void forget(void) {
	volatile char old[1024];
	for (unsigned i = 0; i < sizeof old; i++) {
		old[i] = 0;
	}
}

uintptr_t hold(int32_t i, uintptr_t hidden) {
	forget();
	return all[i](hidden);
}
