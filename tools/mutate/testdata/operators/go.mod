module operators

go 1.26
