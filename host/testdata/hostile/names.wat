;; has a section of 100,000 names that lie, and spins
(module
  (custom "\04name" "\01\ff\ff\ff\ff\0f" (repeat 100000 "\ff\ff\ff\ff\0f"))
  (func $turn (param i32) (result i64) (loop $l (br $l)) (i64.const 0)))
