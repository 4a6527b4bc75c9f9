;; asks for all of the 65,536 pages at once, for ever
(module
  (func $answer (param $op i32) (result i64)
    (loop $l (drop (memory.grow (i32.const 65535))) (br $l))
    (i64.const 0)))
