// Package serve shows results in a browser: the runs below a folder, the report
// of each, what a run that goes on knows so far, and the profiles behind
// explanations, in pprof's own pages.
//
//   - [Folder] listens until an interrupt (listen.go).
//   - [New] makes the handler; it reads, and never writes (serve.go).
//   - What a results file says of its run is read from as much of it as is there,
//     because a run that goes on appends to it (runs.go).
//   - Profiles are shown by github.com/google/pprof, less those of its pages that
//     would write files or read others than the profile (pprof.go).
//
// The pages are for the person at this machine. Whatever a results file holds,
// and whatever other page that person has open, they must not let it read a file
// outside of the folder, change anything, or run a script:
//
//   - Files are opened through an [os.Root], which no path and no link leads out
//     of, and only regular ones.
//   - Only GET and HEAD are answered, and only requests whose Host is an IP
//     address, localhost, or the name that was asked for. A page of another site
//     that has its name resolve to this machine (DNS rebinding) sends that name.
//   - Pages carry a Content-Security-Policy that lets in the script of a report, by its
//     hash, and one file of ours that polls; and on pages of pprof what is in them.
package serve
