package host

func Print() { println() }

func f() { type local int }

func g() { type local string }
