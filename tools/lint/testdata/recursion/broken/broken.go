package broken

var x int = ""
