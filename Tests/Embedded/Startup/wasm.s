# `free`, a name that Swift reserves.
  .functype cambium_free (i32) -> ()

  .section .text.free,"",@
  .globl free
  .type free,@function
free:
  .functype free (i32) -> ()
  local.get 0
  call cambium_free
  end_function
