;; has a function of 100,000 parameters
(module
  (func (param (repeat 100000 i32))))
