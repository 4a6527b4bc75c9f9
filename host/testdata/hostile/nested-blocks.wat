;; has 100,000 blocks in one another
(module
  (func (repeat 100000 block) (repeat 100000 end)))
