;; opens a file whose name is a megabyte, for ever
(module
  (import "wasi_snapshot_preview1" "path_open" (func $wasi (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (func $answer (param $op i32) (result i64)
    (loop $l (drop (call $wasi (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0x100000) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0))) (br $l))
    (i64.const 0)))
