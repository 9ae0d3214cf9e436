// Package errgroup is golang.org/x/sync/errgroup for the references of package
// workloads, and nothing at all on boards.
//
// Boards run no references, but what a package imports they carry all the same:
// errgroup imports package fmt, and with that come reflect and the tables of package
// unicode, which TinyGo 0.41 keeps in 67 KB of RAM. That is more than there is.
// So the import is made here, in a file that TinyGo does not compile.
package errgroup
