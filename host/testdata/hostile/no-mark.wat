;; returns before it has read
(module
  (func (export "turncore_step") (param i32) (result i64) (i64.const 0)))
