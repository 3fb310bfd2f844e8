module quern.dev

go 1.26
