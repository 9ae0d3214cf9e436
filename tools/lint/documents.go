package lint

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	mdFence     = regexp.MustCompile("^ *(```|~~~)")
	mdSpan      = regexp.MustCompile("`([^`]+)`")
	mdLink      = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)`)
	mdHeading   = regexp.MustCompile(`^#{1,6} +(.*?) *#*$`)
	mdItem      = regexp.MustCompile("(?m)^- `([^`]+)` – ") // what an item of a list is about
	makeCommand = regexp.MustCompile(`(?:^|[\s(;&|])make +([a-z][a-z0-9-]*)`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	benchrun    = regexp.MustCompile(`(?:^|[\s(;&|/])benchrun +([a-z][a-z-]*)`)
	published   = regexp.MustCompile(`go (?:get|install)[^#\n]* github\.com/dynolab/dyno`)
	slugDrop    = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	requireLine = regexp.MustCompile(`(?m)^(?:\t|require )(\S+) v\S+$`) // with a comment // indirect it does not match
	toolLine    = regexp.MustCompile(`(?m)^(?:\t|tool )([^\s()]+)$`)
)

// glossary is the page that every other page of docs/ links.
const glossary = "docs/glossary.md"

// Documents returns what the Markdown files of a tree tell a reader to type or to open
// and is not there: links within the tree, targets of the Makefile, commands of benchrun,
// and a published module.
func Documents(fsys fs.FS) ([]Violation, error) {
	makefile, err := fs.ReadFile(fsys, "Makefile")
	if err != nil {
		return nil, err
	}
	targets := submatches(makeTarget, string(makefile))
	commands, err := benchrunCommands(fsys)
	if err != nil {
		return nil, err
	}
	var found []Violation
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// Reports below results/ are derived and have tests of their own.
			if name == "bin" || name == "results" || path.Base(name) == "testdata" || name != "." && path.Base(name)[0] == '.' {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" {
			return nil
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if path.Dir(name) == "docs" && name != glossary && !strings.Contains(string(data), "]("+path.Base(glossary)+")") {
			found = append(found, Violation{Where: name, What: "no link to " + glossary + ": a reader needs the words"})
		}
		inCode := false
		for i, line := range strings.Split(string(data), "\n") {
			bad := func(format string, args ...any) {
				found = append(found, Violation{Where: name + ":" + strconv.Itoa(i+1), What: fmt.Sprintf(format, args...)})
			}
			if mdFence.MatchString(line) {
				inCode = !inCode
				continue
			}
			code := line
			if !inCode {
				code = strings.Join(submatches(mdSpan, line), "\n")
				for _, link := range submatches(mdLink, mdSpan.ReplaceAllString(line, "")) {
					if err := checkLink(fsys, name, link); err != nil {
						bad("%v", err)
					}
				}
			}
			for _, target := range submatches(makeCommand, code) {
				if !slices.Contains(targets, target) {
					bad("the Makefile has no target %q", target)
				}
			}
			for _, command := range submatches(benchrun, code) {
				if !slices.Contains(commands, command) {
					bad("benchrun has no command %q, it has %q", command, commands)
				}
			}
			if published.MatchString(line) {
				bad("nothing is published under the module path: tell readers to work from a checkout")
			}
		}
		return nil
	})
	return found, err
}

// benchrunCommands returns the names of benchrun's commands: the first words of their help
// texts, and those that cobra adds.
func benchrunCommands(fsys fs.FS) ([]string, error) {
	names, err := fs.Glob(fsys, "cmd/benchrun/help/*.txt")
	if err != nil {
		return nil, err
	}
	commands := []string{"help", "completion"}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		commands = append(commands, strings.Fields(string(text))[0])
	}
	return slices.DeleteFunc(commands, func(s string) bool { return s == "benchrun" }), nil
}

// checkLink says what is wrong with a link in the document doc, if anything.
// Links to other sites are not followed.
func checkLink(fsys fs.FS, doc, link string) error {
	u, err := url.Parse(link)
	if err != nil {
		return err
	}
	if u.IsAbs() {
		return nil
	}
	target := doc
	if u.Path != "" {
		target = path.Join(path.Dir(doc), u.Path)
	}
	if _, err := fs.Stat(fsys, target); err != nil {
		return fmt.Errorf("the link %s leads to %s, which does not exist", link, target)
	}
	if u.Fragment == "" || path.Ext(target) != ".md" {
		return nil
	}
	data, err := fs.ReadFile(fsys, target)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if m := mdHeading.FindStringSubmatch(strings.TrimSpace(line)); m != nil && slug(m[1]) == u.Fragment {
			return nil
		}
	}
	return fmt.Errorf("the link %s leads to no heading of %s", link, target)
}

// slug is the fragment under which GitHub shows a heading.
func slug(heading string) string {
	return strings.ReplaceAll(slugDrop.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// Dependencies compares docs/dependencies.md with the go.mod files: every direct
// dependency has a row that says what it is for, and no row is left of one that went.
func Dependencies(fsys fs.FS) ([]Violation, error) {
	const page = "docs/dependencies.md"
	text, err := fs.ReadFile(fsys, page)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, file := range []string{"go.mod", "actor/natslink/go.mod", "actor/protocodec/go.mod", "fleet/go.mod", "peers/go.mod", "tools/go.mod"} {
		goMod, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, err
		}
		_, section, _ := strings.Cut(string(text), "\n## "+file+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		want, got := submatches(requireLine, string(goMod)), submatches(mdItem, section)
		if file == "tools/go.mod" {
			want = append(want, submatches(toolLine, string(goMod))...)
		}
		want = slices.DeleteFunc(want, func(m string) bool { return strings.Contains(string(goMod), "replace "+m+" ") }) // our own
		for _, m := range want {
			if !slices.Contains(got, m) {
				found = append(found, Violation{Where: page, What: "no line for " + m + " of " + file + ": say what it is for"})
			}
		}
		for _, m := range got {
			if !slices.Contains(want, m) {
				found = append(found, Violation{Where: page, What: m + " is not a direct dependency in " + file + ": remove the line"})
			}
		}
	}
	return found, nil
}

// submatches returns what the first group of a pattern matches.
func submatches(re *regexp.Regexp, s string) []string {
	var all []string
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		all = append(all, m[1])
	}
	return all
}
