;; divides and takes roots for ever
(module
  (func $answer (param $op i32) (result i64) (local $x f64)
    (loop $l
      (repeat 8 (local.set $x (f64.sqrt (f64.div (local.get $x) (f64.convert_i32_u (local.get $op))))))
      (br $l))
    (i64.const 0)))
