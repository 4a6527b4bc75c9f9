;; declares 1,000 tables
(module
  (repeat 1000 (table 200000 funcref)))
