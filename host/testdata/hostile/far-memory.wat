;; reads all over 16 MiB for ever
(module
  (func $answer (param $op i32) (result i64)
    (drop (memory.grow (i32.const 470)))
    (loop $l
      (local.set $op (i32.and (i32.add (i32.mul (local.get $op) (i32.const 1103515245)) (i32.add (i32.const 12345) (i32.load (local.get $op)))) (i32.const 0xfffffc)))
      (br $l))
    (i64.const 0)))
