module example.com/job

go 1.26
