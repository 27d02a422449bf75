# Start-up code for wasm32 in a host that has WASI's calls, such as wasmkit: `_start`, output, and `free`, a name that Swift
# reserves. The disk is the last 16 MiB of the memory, and the heap all before it. The stack comes first.
  .functype fd_write (i32, i32, i32, i32) -> (i32)
  .import_module fd_write, wasi_snapshot_preview1
  .import_name fd_write, fd_write
  .functype proc_exit (i32) -> ()
  .import_module proc_exit, wasi_snapshot_preview1
  .import_name proc_exit, proc_exit
  .functype program (i32, i32, i32, i32) -> (i32)
  .functype cambium_free (i32) -> ()
  .globaltype __stack_pointer, i32

  .section .text._start,"",@
  .globl _start
  .type _start,@function
_start:
  .functype _start () -> ()
  .local i32
  # The stack is empty as yet: its pointer is its length. It is painted, so that stack_most can tell how deep it went.
  i32.const stack_bytes
  global.get __stack_pointer
  i32.store 0
  i32.const 0
  i32.const 0xA5
  global.get __stack_pointer
  memory.fill 0
  memory.size 0
  i32.const 16
  i32.shl
  i32.const 0x1000000
  i32.sub
  local.set 0
  i32.const __heap_base
  local.get 0
  i32.const __heap_base
  i32.sub
  local.get 0
  i32.const 0x1000000
  call program
  call proc_exit
  end_function

  .section .text.host_put,"",@
  .globl host_put
  .type host_put,@function
host_put:
  .functype host_put (i32, i32) -> ()
  i32.const output
  local.get 0
  i32.store 0
  i32.const output
  local.get 1
  i32.store 4
  i32.const 1
  i32.const output
  i32.const 1
  i32.const output+8
  call fd_write
  drop
  end_function

  .section .text.stack_most,"",@
  .globl stack_most
  .type stack_most,@function
stack_most:
  .functype stack_most () -> (i32)
  .local i32
  block
  loop
  local.get 0
  i32.load8_u 0
  i32.const 0xA5
  i32.ne
  br_if 1
  local.get 0
  i32.const 1
  i32.add
  local.set 0
  br 0
  end_loop
  end_block
  i32.const stack_bytes
  i32.load 0
  local.get 0
  i32.sub
  end_function

  .section .text.free,"",@
  .globl free
  .type free,@function
free:
  .functype free (i32) -> ()
  local.get 0
  call cambium_free
  end_function

  .section .bss.output,"",@
  .p2align 2
output:
  .int32 0
  .int32 0
  .int32 0
  .size output, 12

  .section .bss.stack_bytes,"",@
  .p2align 2
stack_bytes:
  .int32 0
  .size stack_bytes, 4
