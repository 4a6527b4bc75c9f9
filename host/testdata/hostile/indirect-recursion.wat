;; calls itself through its table
(module
  (table 1 funcref)
  (elem (i32.const 0) $answer)
  (func $answer (param $op i32) (result i64)
    (return (call_indirect (param i32) (result i64) (local.get $op) (i32.const 0)))
    (i64.const 0)))
