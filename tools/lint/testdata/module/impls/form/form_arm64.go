package form // want `a build constraint: make the other variant another implementation`
