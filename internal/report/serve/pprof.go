package serve

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/why"
)

// maxProfile bounds profiles in bytes, compressed.
const maxProfile = 64 << 20

// shownPages are those of pprof's pages that need nothing but the profile. The
// others are left out: source and disasm read whatever files a profile names,
// saveconfig and deleteconfig write the user's settings, by GET.
var shownPages = map[string]bool{
	"/": true, "/top": true, "/graph": true, "/peek": true, "/flamegraph": true, "/flamegraph2": true, "/flamegraphold": true, "/download": true,
}

// profilePolicy is the Content-Security-Policy of pprof's pages, whose scripts and
// styles are in them. They cannot load or send anything.
const profilePolicy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// profile shows a page of pprof: of the profile <path>.pb.gz among the
// explanations of a results file, at <path>.pb.gz/<page>.
func (s *server) profile(w http.ResponseWriter, r *http.Request, results, what string) error {
	name, page, ok := strings.Cut(what, ".pb.gz")
	name += ".pb.gz"
	if !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return refusal{http.StatusNotFound, "There is no such profile."}
	}
	if page == "" {
		http.Redirect(w, r, path.Base(name)+"/", http.StatusMovedPermanently)
		return nil
	}
	handlers, err := s.mount(path.Join(filepath.ToSlash(why.Folder(filepath.FromSlash(results))), name))
	if err != nil {
		return err
	}
	h := handlers[page]
	switch {
	case h == nil:
		return errNoPage
	case !shownPages[page]:
		return refusal{http.StatusForbidden, "This page of pprof reads or writes files besides the profile, so it is not served. Download the profile and use go tool pprof -http=: on it."}
	}
	w.Header().Set("Content-Security-Policy", profilePolicy)
	h.ServeHTTP(w, r)
	return nil
}

// mount returns pprof's pages of a profile.
func (s *server) mount(name string) (map[string]http.Handler, error) {
	f, err := s.read(name, maxProfile)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.profiles.get(name, f.stamp, func() (handlers map[string]http.Handler, err error) {
		p, err := why.ParseProfile(bytes.NewReader(f.data))
		if err != nil {
			return nil, fmt.Errorf("%s is no profile: %w", path.Base(name), err)
		}
		err = driver.PProf(&driver.Options{
			Flagset: flags{flag.NewFlagSet("pprof", flag.ContinueOnError)}, Fetch: fetched{p}, Sym: nothing{}, Obj: nothing{}, UI: nothing{},
			HTTPServer: func(args *driver.HTTPServerArgs) error {
				handlers = args.Handlers
				return nil
			},
		})
		return handlers, err
	})
}

// flags are pprof's command line: to serve, to whom we mount it, and to look for no
// binaries.
type flags struct{ *flag.FlagSet }

func (flags) StringList(string, string, string) *[]*string { return new([]*string) }

func (flags) ExtraUsage() string { return "" }

func (flags) AddExtraUsage(string) {}

// Parse implements [driver.FlagSet]. The port is not opened: HTTPServer does not listen.
func (f flags) Parse(func()) []string {
	_ = f.FlagSet.Parse([]string{"-http=localhost:1", "-no_browser", "-symbolize=none", "profile"}) // all of them are pprof's
	return f.Args()
}

// fetched is a profile that is there already.
type fetched struct{ p *profile.Profile }

// Fetch implements [driver.Fetcher]. Without a source pprof keeps no copy.
func (f fetched) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

// nothing stands for what pprof would open, ask or print.
type nothing struct{}

var errNothing = errors.New("not here")

func (nothing) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

func (nothing) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNothing
}

func (nothing) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) { return nil, errNothing }

func (nothing) ReadLine(string) (string, error) { return "", io.EOF }

func (nothing) Print(...any) {}

func (nothing) PrintErr(...any) {}

func (nothing) IsTerminal() bool { return false }

func (nothing) WantBrowser() bool { return false }

func (nothing) SetAutoComplete(func(string) string) {}
