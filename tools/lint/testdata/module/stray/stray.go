package stray // without a rule
