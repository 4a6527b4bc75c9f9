;; fills its memory for ever
(module
  (func $answer (param $op i32) (result i64)
    (loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 0x100000)) (br $l))
    (i64.const 0)))
