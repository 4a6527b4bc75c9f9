;; calls itself in place of returning
(module
  (func $answer (param $op i32) (result i64)
    (return_call $answer (local.get $op))
    (i64.const 0)))
