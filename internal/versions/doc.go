// Package versions lays out versions of a Go module on the disk, so that they can
// be built and measured beside one another:
//
//  1. [Open] makes a [Workspace] for a working directory: a temporary folder for what
//     is laid out. What an earlier one that was killed has left behind in the
//     same repository is cleared away.
//  2. [Workspace.Lay] lays a version out as a [Tree]: the work tree as it is, a folder
//     as it is, a git revision in a worktree of its own, a module of the module
//     cache as a copy.
//  3. [Workspace.Close] removes it all. The repository's list of worktrees is then as
//     it was found.
//
// What a version's go.mod or a go.work says of folders outside of it, by
// relative paths, would lead elsewhere from another place. So it is made to lead
// where it led; what lies inside the version is that version's own.
//
// Rejected: git archive instead of a worktree, which leaves out what
// .gitattributes marks as export-ignore, mostly tests and their data; a clone,
// which has none of the repository's own settings, such as filters for large
// files; stashing and checking out in place, which moves files under the user's
// editor and is not undone by a kill.
package versions
