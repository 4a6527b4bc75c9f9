;; has a function of a megabyte
(module
  (func (repeat 350000 (drop (i32.const 1)))))
