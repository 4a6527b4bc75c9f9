;; spins in _initialize
(module
  (func (export "_initialize") (loop $l (br $l))))
