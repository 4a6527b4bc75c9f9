;; has its inbox outside of its memory
(module
  (func (export "turncore_inbox") (param i32) (result i32) (i32.const 0x1fffff)))
