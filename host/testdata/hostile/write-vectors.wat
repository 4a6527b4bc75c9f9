;; writes the same megabyte 4,096 times in each call
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $wasi (param i32 i32 i32 i32) (result i32)))
  (func $answer (param $op i32) (result i64)
    (local.set $op (i32.const 0))
    (loop $l
      (i32.store (i32.add (i32.const 0x10000) (local.get $op)) (i32.const 0))
      (i32.store offset=4 (i32.add (i32.const 0x10000) (local.get $op)) (i32.const 0x100000))
      (local.set $op (i32.add (local.get $op) (i32.const 8)))
      (br_if $l (i32.lt_u (local.get $op) (i32.const 0x8000))))
    (loop $l (drop (call $wasi (i32.const 2) (i32.const 0x10000) (i32.const 0x1000) (i32.const 0x8000))) (br $l))
    (i64.const 0)))
