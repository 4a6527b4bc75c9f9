;; spins through a branch table
(module
  (func $answer (param $op i32) (result i64)
    (loop $l (br_table $l 0 $l $l (i32.const 7)))
    (i64.const 0)))
