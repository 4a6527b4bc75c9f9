;; spins in its start function
(module
  (func $s (loop $l (br $l)))
  (start $s))
