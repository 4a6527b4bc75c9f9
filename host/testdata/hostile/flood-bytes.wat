;; says more than 48 MiB at once
(module
  (memory (export "memory") 32)
  (func $turn (param $op i32) (result i64)
    (drop (memory.grow (i32.const 900)))
    (call $at (i32.const 0x200000) (i32.const 50331649))))
