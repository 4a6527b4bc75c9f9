;; spins in turncore_abi
(module
  (func (export "turncore_abi") (result i32) (loop $l (br $l)) (i32.const 0)))
