// Package jobs has plans that travel: what is to be measured on another machine, with all
// that is needed for it, so that the other machine builds nothing and looks nothing up.
//
//  1. A [Job] is the plan, what the results say of the code, and which parts it needs: test
//     binaries in all layouts, programs, and the folders in which tests run. It is a JSON
//     document, and the SHA-256 of that is the job's name ([ID]).
//     A job for a board has images in place of a plan ([Board]): a board is asked for its cases
//     where it is connected.
//  2. A part is a file that is known by its SHA-256. [Packer] writes a job and its parts into
//     a folder, which is what a sender sends.
//  3. [Decode] reads a job of an unknown sender: it is bounded, and what does not fit
//     together is an error. [Open] checks the parts in a folder against their digests and
//     unpacks folders, which cannot reach out of where they are unpacked.
//
// A job says nothing of the machine, so that one job is measured on several. Who may send one
// is not asked here: package fleet signs jobs.
package jobs
