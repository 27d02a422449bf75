// Start-up code for a Cortex-M4 or M7 in qemu: vectors, data, floating point, and semihosting for output and exit.
//
// The linker script gives: stack_bottom, stack_top, data_start, data_end, data_load, bss_start, bss_end, heap_start,
// heap_bytes, disk_start, disk_bytes. The program gives: program(heap, heap bytes, disk, disk bytes) -> status.
  .syntax unified
  .thumb

  .section .vectors, "a"
  .word stack_top
  .word reset
  .rept 14
  .word fault
  .endr

  .section .text.reset, "ax"
  .thumb_func
  .global reset
  .type reset, %function
reset:
  ldr r0, =data_start
  ldr r1, =data_end
  ldr r2, =data_load
1:
  cmp r0, r1
  bhs 2f
  ldr r3, [r2], #4
  str r3, [r0], #4
  b 1b
2:
  ldr r0, =bss_start
  ldr r1, =bss_end
  movs r2, #0
3:
  cmp r0, r1
  bhs 4f
  str r2, [r0], #4
  b 3b
4:
  // Code for armv7em may use the floating-point unit, which is off after a reset.
  ldr r0, =0xE000ED88
  ldr r1, [r0]
  orr r1, r1, #0xF00000
  str r1, [r0]
  dsb
  isb
  // Paint the stack, so that stack_most can tell how deep it went.
  ldr r0, =stack_bottom
  mov r1, sp
  ldr r2, =0xA5A5A5A5
5:
  cmp r0, r1
  bhs 6f
  str r2, [r0], #4
  b 5b
6:
  ldr r0, =heap_start
  ldr r1, =heap_bytes
  ldr r2, =disk_start
  ldr r3, =disk_bytes
  bl program
exit:
  // SYS_EXIT_EXTENDED: the reason "application exit", and the status.
  mov r3, r0
  ldr r2, =0x20026
  push {r2, r3}
  mov r1, sp
  movs r0, #0x20
  bkpt 0xAB
7:
  b 7b

  .section .text.fault, "ax"
  .thumb_func
  .global fault
  .type fault, %function
fault:
  ldr r0, =message
  movs r1, #6
  bl host_put
  movs r0, #43
  b exit

  .section .text.host_put, "ax"
  .thumb_func
  .global host_put
  .type host_put, %function
host_put:
  push {r4, r5, r6, lr}
  mov r4, r0
  adds r5, r0, r1
1:
  cmp r4, r5
  beq 2f
  // SYS_WRITEC
  mov r1, r4
  movs r0, #3
  bkpt 0xAB
  adds r4, #1
  b 1b
2:
  pop {r4, r5, r6, pc}

  .section .text.stack_most, "ax"
  .thumb_func
  .global stack_most
  .type stack_most, %function
stack_most:
  ldr r0, =stack_bottom
  ldr r1, =stack_top
  ldr r2, =0xA5A5A5A5
1:
  ldr r3, [r0]
  cmp r3, r2
  bne 2f
  adds r0, #4
  b 1b
2:
  subs r0, r1, r0
  bx lr

  .section .rodata.message, "a"
message:
  .ascii "FAULT\n"
