;; runs 20,000 instructions without a branch for ever
(module
  (func $answer (param $op i32) (result i64)
    (loop $l (repeat 10000 (drop (i32.const 1))) (br $l))
    (i64.const 0)))
