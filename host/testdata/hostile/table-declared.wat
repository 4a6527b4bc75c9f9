;; declares a table of 4 billion entries
(module
  (table 4294967295 funcref))
