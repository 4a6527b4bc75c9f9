;; has a section of tags
(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\0d\03\01\00\00")
