;; calls another function that calls back
(module
  (func $other (param i32) (result i64) (i64.add (i64.const 1) (call $answer (local.get 0))))
  (func $answer (param $op i32) (result i64)
    (return (call $other (local.get $op)))
    (i64.const 0)))
