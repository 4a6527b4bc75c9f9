;; has 200,001 functions besides
(module
  (repeat 200001 (func)))
