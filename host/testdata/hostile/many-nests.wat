;; has ten functions of 8,000 blocks
(module
  (repeat 10 (func (repeat 8000 block) (repeat 8000 end))))
