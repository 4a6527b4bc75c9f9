;; It says the frames that the table names, and nothing else.
(module)
