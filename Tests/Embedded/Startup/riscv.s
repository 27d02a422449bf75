# Start-up code for a RISC-V of 32 bits on qemu's board `virt`, which loads code and data into memory: the stack, a trap
# handler, and semihosting for output and exit.
#
# The linker script gives: stack_bottom, stack_top, bss_start, bss_end, heap_start, heap_bytes, disk_start, disk_bytes. The
# program gives: program(heap, heap bytes, disk, disk bytes) -> status.

  .option norelax

# A call of the semihosting interface is these three instructions, none of them compressed.
  .macro semihost
  .balign 16
  .option push
  .option norvc
  slli x0, x0, 0x1f
  ebreak
  srai x0, x0, 7
  .option pop
  .endm

  .section .text.reset, "ax"
  .globl reset
reset:
  la sp, stack_top
  la t0, trap
  csrw mtvec, t0
  la a0, bss_start
  la a1, bss_end
1:
  bgeu a0, a1, 2f
  sw zero, 0(a0)
  addi a0, a0, 4
  j 1b
2:
  # Paint the stack, so that stack_most can tell how deep it went.
  la a0, stack_bottom
  li a2, 0xA5A5A5A5
3:
  bgeu a0, sp, 4f
  sw a2, 0(a0)
  addi a0, a0, 4
  j 3b
4:
  la a0, heap_start
  lui a1, %hi(heap_bytes)
  addi a1, a1, %lo(heap_bytes)
  lui a2, %hi(disk_start)
  addi a2, a2, %lo(disk_start)
  lui a3, %hi(disk_bytes)
  addi a3, a3, %lo(disk_bytes)
  call program
exit:
  # SYS_EXIT_EXTENDED: the reason "application exit", and the status.
  addi sp, sp, -16
  li t0, 0x20026
  sw t0, 0(sp)
  sw a0, 4(sp)
  mv a1, sp
  li a0, 0x20
  semihost
5:
  j 5b

  .section .text.trap, "ax"
  .balign 4
trap:
  la a0, message
  li a1, 6
  call host_put
  li a0, 43
  j exit

  .section .text.host_put, "ax"
  .globl host_put
host_put:
  mv t0, a0
  add t1, a0, a1
1:
  beq t0, t1, 2f
  # SYS_WRITEC
  mv a1, t0
  li a0, 3
  semihost
  addi t0, t0, 1
  j 1b
2:
  ret

  .section .text.stack_most, "ax"
  .globl stack_most
stack_most:
  la a0, stack_bottom
  la a1, stack_top
  li a2, 0xA5A5A5A5
1:
  lw a3, 0(a0)
  bne a3, a2, 2f
  addi a0, a0, 4
  j 1b
2:
  sub a0, a1, a0
  ret

  .section .rodata.message, "a"
message:
  .ascii "FAULT\n"
