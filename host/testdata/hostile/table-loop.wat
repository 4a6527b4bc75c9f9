;; copies and fills its table for ever
(module
  (table 100000 funcref)
  (func $answer (param $op i32) (result i64)
    (loop $l
      (table.copy (i32.const 0) (i32.const 1) (i32.const 99999))
      (table.fill (i32.const 0) (ref.null) (i32.const 100000))
      (br $l))
    (i64.const 0)))
