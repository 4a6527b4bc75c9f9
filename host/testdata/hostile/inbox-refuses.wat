;; refuses every batch
(module
  (func (export "turncore_inbox") (param i32) (result i32) (i32.const 0)))
