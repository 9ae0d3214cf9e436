//go:build tinygo

// The linker has whoever calls tinygo_scanCurrentStack call the function with __wrap_
// before its name, and that one finds the original with __real_.

#include <stdint.h>

extern void __real_tinygo_scanCurrentStack(void);

#if defined(__thumb__)

// What the registers held that functions preserve, when the last collection began. It
// is zeroed at the start, so it is where the collector looks for roots.
__attribute__((used)) uintptr_t dyno_gc_registers[8];

// Instructions that the smallest Cortex-M has, too. It leaves all registers
// but r0 to r3, and goes on to the original instead of calling it, which finds the
// stack as if it had been called itself.
__attribute__((naked, used)) void __wrap_tinygo_scanCurrentStack(void) {
	__asm__ volatile(
		"ldr   r0, 1f\n"
		"stmia r0!, {r4-r7}\n"
		"mov   r1, r8\n"
		"mov   r2, r9\n"
		"mov   r3, r10\n"
		"stmia r0!, {r1-r3}\n"
		"mov   r1, r11\n"
		"str   r1, [r0]\n"
		"ldr   r0, 2f\n"
		"bx    r0\n"
		".balign 4\n"
		"1: .word %c0\n"
		"2: .word %c1\n"
		: : "i"(dyno_gc_registers), "i"(__real_tinygo_scanCurrentStack));
}

#elif defined(__riscv) && __riscv_xlen == 32

// See above.
__attribute__((used)) uintptr_t dyno_gc_registers[12];

__attribute__((naked, used)) void __wrap_tinygo_scanCurrentStack(void) {
	__asm__ volatile(
		"lui  t0, %%hi(%c0)\n"
		"addi t0, t0, %%lo(%c0)\n"
		"sw   s0, 0(t0)\n"
		"sw   s1, 4(t0)\n"
		"sw   s2, 8(t0)\n"
		"sw   s3, 12(t0)\n"
		"sw   s4, 16(t0)\n"
		"sw   s5, 20(t0)\n"
		"sw   s6, 24(t0)\n"
		"sw   s7, 28(t0)\n"
		"sw   s8, 32(t0)\n"
		"sw   s9, 36(t0)\n"
		"sw   s10, 40(t0)\n"
		"sw   s11, 44(t0)\n"
		"tail %c1\n"
		: : "i"(dyno_gc_registers), "i"(__real_tinygo_scanCurrentStack));
}

#else

// Other processors: whether they need this is not known.
void __wrap_tinygo_scanCurrentStack(void) {
	__real_tinygo_scanCurrentStack();
}

#endif
