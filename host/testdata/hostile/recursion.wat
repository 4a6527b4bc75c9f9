;; calls itself without end
(module
  (func $answer (param $op i32) (result i64)
    (return (call $answer (local.get $op)))
    (i64.const 0)))
