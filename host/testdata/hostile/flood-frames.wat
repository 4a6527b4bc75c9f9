;; says more than 262,144 frames at once
(module
  (memory (export "memory") 100)
  (func $turn (param $op i32) (result i64) (local $to i32)
    (local.set $to (i32.const 0x200000))
    (loop $l
      (memory.copy (local.get $to) (i32.const 0x2000) (i32.const size:frames))
      (local.set $to (i32.add (local.get $to) (i32.const size:frames)))
      (br_if $l (i32.lt_u (local.get $to) (i32.const 0x5f0000))))
    (call $at (i32.const 0x200000) (i32.sub (local.get $to) (i32.const 0x200000)))))
