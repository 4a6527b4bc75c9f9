;; does not greet
(module
  (func $answer (param i32) (result i64) (i64.const 0)))
