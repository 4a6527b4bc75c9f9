;; has 100 functions of 50,000 locals
(module
  (repeat 100 (func (repeat 50000 (local i64)))))
