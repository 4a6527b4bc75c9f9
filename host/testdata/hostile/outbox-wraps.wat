;; says frames that wrap around its memory
(module
  (func $turn (param i32) (result i64) (call $at (i32.const 0xfffffff0) (i32.const 0x100))))
