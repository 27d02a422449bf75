# Start-up code for wasm32 in node: the functions of run.mjs, and `free`, a name that Swift reserves.
  .functype host_put_import (i32, i32) -> ()
  .import_module host_put_import, host
  .import_name host_put_import, put
  .functype stack_most_import () -> (i32)
  .import_module stack_most_import, host
  .import_name stack_most_import, stackMost
  .functype cambium_free (i32) -> ()

  .section .text.host_put,"",@
  .globl host_put
  .type host_put,@function
host_put:
  .functype host_put (i32, i32) -> ()
  local.get 0
  local.get 1
  call host_put_import
  end_function

  .section .text.stack_most,"",@
  .globl stack_most
  .type stack_most,@function
stack_most:
  .functype stack_most () -> (i32)
  call stack_most_import
  end_function

  .section .text.free,"",@
  .globl free
  .type free,@function
free:
  .functype free (i32) -> ()
  local.get 0
  call cambium_free
  end_function
