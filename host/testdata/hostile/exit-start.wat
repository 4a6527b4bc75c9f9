;; exits in its start function
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func $s (call $exit (i32.const 0)))
  (start $s))
