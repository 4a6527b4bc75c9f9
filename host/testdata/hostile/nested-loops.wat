;; has 8,001 loops in one another
(module
  (func (repeat 8001 loop) (repeat 8001 end)))
