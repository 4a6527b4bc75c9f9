;; exits in turncore_inbox
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (func (export "turncore_inbox") (param i32) (result i32) (call $exit (i32.const 0)) (i32.const 0)))
