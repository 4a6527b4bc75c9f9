;; calls itself twice, 60 levels deep
(module
  (func $tree (param $depth i32) (result i64)
    (if (i32.eqz (local.get $depth)) (then (return (i64.const 1))))
    (i64.add
      (call $tree (i32.sub (local.get $depth) (i32.const 1)))
      (call $tree (i32.sub (local.get $depth) (i32.const 1)))))
  (func $answer (param $op i32) (result i64)
    (return (call $tree (i32.const 60)))
    (i64.const 0)))
