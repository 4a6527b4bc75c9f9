;; asks for pages for ever, and writes to each
(module
  (func $answer (param $op i32) (result i64)
    (loop $l
      (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then (br $l)))
      (i32.store (i32.sub (i32.shl (memory.size) (i32.const 16)) (i32.const 4)) (i32.const 1))
      (br $l))
    (i64.const 0)))
