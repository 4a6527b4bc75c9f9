;; says frames outside of its memory
(module
  (func $turn (param i32) (result i64) (call $at (i32.const 0x1ffff0) (i32.const 17))))
