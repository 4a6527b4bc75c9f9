;; has 50,000 conditions one behind the other
(module
  (func (param i32) (repeat 50000 (if (local.get 0) (then nop)))))
