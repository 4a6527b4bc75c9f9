;; reads and writes its table for ever
(module
  (table 1000 funcref)
  (func $answer (param $op i32) (result i64)
    (loop $l (repeat 100 (table.set (i32.const 7) (table.get (i32.const 8)))) (br $l))
    (i64.const 0)))
