package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/targets"
	"github.com/dynolab/dyno/internal/why"
)

// Options say how results are served. The zero value is the default.
type Options struct {
	// Host is a name that requests may have in their Host header, besides IP
	// addresses and localhost; empty for none.
	Host string

	// Card judges a run by targets; nil if there are none. Data is what its file
	// holds.
	Card func(c *compare.Comparison, d *compare.Data) (*targets.Scorecard, error)

	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// maxResults bounds the results files that are read, in bytes. A run of a day has
// some 10 MB.
const maxResults = 128 << 20

// New returns a handler that shows the results below root. It is for several
// goroutines, and root must stay open as long as it is used.
func New(root *os.Root, o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &server{root: root, o: o, pages: make(map[string]rendered), profiles: make(map[string]mounted)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /live.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		http.ServeContent(w, r, "live.js", time.Time{}, strings.NewReader(liveScript))
	})
	mux.HandleFunc("GET /run/", s.run)
	return s.guard(mux)
}

type server struct {
	root *os.Root
	o    Options

	mu       sync.Mutex // one page is made at a time: that may take a processor for a second
	pages    map[string]rendered
	profiles map[string]mounted
}

// rendered is the report of a file that had this stamp.
type rendered struct {
	stamp string
	page  []byte
}

// maxCached bounds how many reports, and how many profiles, are kept in memory.
const maxCached = 16

// pagePolicy is the Content-Security-Policy of our own pages.
var pagePolicy = report.Policy() + "; script-src 'self'; connect-src 'self'; frame-ancestors 'none'"

// guard lets through what may be answered, and says in headers what pages may do.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			s.fail(w, http.StatusMethodNotAllowed, "Nothing here can be changed.")
			return
		}
		if !s.mayBe(r.Host) {
			s.fail(w, http.StatusMisdirectedRequest, fmt.Sprintf("This is not %s. Use the address that benchrun serve has printed.", r.Host))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// mayBe reports whether a Host header is one that a page of another site cannot
// have.
func (s *server) mayBe(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return strings.EqualFold(name, "localhost") || s.o.Host != "" && strings.EqualFold(name, s.o.Host)
}

// run answers for everything below one results file: /run/<path>.bench/<what>.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	name, what, ok := splitRun(strings.TrimPrefix(r.URL.Path, "/run/"))
	if !ok {
		s.fail(w, http.StatusNotFound, "There is no such page.")
		return
	}
	if what == "" && !strings.HasSuffix(r.URL.Path, "/") {
		// Links on the page are relative to it.
		http.Redirect(w, r, path.Base(name)+"/", http.StatusMovedPermanently)
		return
	}
	switch profile, isProfile := strings.CutPrefix(what, "profile/"); {
	case what == "":
		s.report(w, r, name)
	case what == "live":
		s.live(w, r, name)
	case what == "live/part":
		s.livePart(w, r, name)
	case what == "results.txt":
		s.file(w, r, name)
	case isProfile:
		s.profile(w, r, name, profile)
	default:
		s.fail(w, http.StatusNotFound, "There is no such page.")
	}
}

// extension is that of results files.
const extension = ".bench"

// splitRun splits "machine/run.bench/live" after the results file. Its name is one
// that [fs.ValidPath] takes: it leads nowhere else.
func splitRun(p string) (name, what string, ok bool) {
	i := strings.Index(p+"/", extension+"/")
	if i < 0 {
		return "", "", false
	}
	name = p[:i+len(extension)]
	what = strings.TrimPrefix(p[len(name):], "/")
	return name, what, fs.ValidPath(name)
}

// read returns what a regular file below root holds, and a stamp that changes with
// it.
func (s *server) read(name string, limit int64) (data []byte, stamp string, modified time.Time, err error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	// Opening a pipe would wait for somebody to write to it.
	if !info.Mode().IsRegular() {
		return nil, "", time.Time{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := s.root.Open(name)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, "", time.Time{}, err
	}
	if int64(len(data)) > limit {
		return nil, "", time.Time{}, fmt.Errorf("%s has more than %d MB", name, limit>>20)
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:16]), info.ModTime(), nil
}

// refuse answers for a file that could not be read.
func (s *server) refuse(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		s.fail(w, http.StatusNotFound, "There is no such file.")
		return
	}
	// A path that leads out of the folder, a file that may not be read, one that is too large.
	s.fail(w, http.StatusForbidden, err.Error())
}

// report shows the report of a results file.
func (s *server) report(w http.ResponseWriter, r *http.Request, name string) {
	data, stamp, _, err := s.read(name, maxResults)
	if err != nil {
		s.refuse(w, err)
		return
	}
	x, folder, problems, whyErr := why.ReadFS(s.root.FS(), name)
	if x != nil {
		stamp += " " + fmt.Sprint(len(x.Cells)) + s.stampOf(why.Folder(name)+"/why.json")
	}
	calibrations, _ := fs.Glob(s.beside(name), calibrate.CalibrationPrefix+"*.json") // the pattern is well-formed
	for _, n := range calibrations {
		stamp += " " + n + s.stampOf(path.Join(path.Dir(name), n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page, ok := s.pages[name]
	if !ok || page.stamp != stamp {
		d := compare.Of(record.Read(name, data))
		c, err := s.compare(name, d)
		if err != nil {
			s.fail(w, http.StatusUnprocessableEntity, "There is no report of this file: "+err.Error())
			return
		}
		c.Warnings = append(c.Warnings, problems...)
		if whyErr != nil && !errors.Is(whyErr, why.ErrNone) {
			c.Warnings = append(c.Warnings, "what explains the differences cannot be read: "+whyErr.Error())
		}
		extra := report.Extra{
			Title: "Comparison of " + strings.TrimSuffix(path.Base(name), extension), Why: x, Folder: folder, Profiles: "profile/",
			Home: []report.Link{{Href: "/", Name: "All runs"}, {Href: "live", Name: "Progress"}, {Href: "results.txt", Name: "Results as text"}},
		}
		if s.o.Card != nil {
			if extra.Card, err = s.o.Card(c, d); err != nil {
				c.Warnings = append(c.Warnings, "the targets cannot be judged: "+err.Error())
			}
		}
		var b bytes.Buffer
		if err := report.Comparison(c, report.Page, extra).HTML(&b); err != nil {
			s.fail(w, http.StatusInternalServerError, err.Error())
			return
		}
		if len(s.pages) >= maxCached {
			clear(s.pages)
		}
		page = rendered{stamp, b.Bytes()}
		s.pages[name] = page
	}
	send(w, r, page.page)
}

// beside is the folder that a results file lies in, as what no path leads out of.
func (s *server) beside(name string) fs.FS {
	folder, err := fs.Sub(s.root.FS(), path.Dir(name))
	if err != nil {
		return s.root.FS() // not for a name that fs.ValidPath takes
	}
	return folder
}

// stampOf changes with a file, as far as its size and time do.
func (s *server) stampOf(name string) string {
	info, err := s.root.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// compare compares what a results file holds.
func (s *server) compare(name string, d *compare.Data) (*compare.Comparison, error) {
	c, err := d.Compare(compare.Options{})
	if err != nil {
		return nil, err
	}
	c.Calibrations = calibrate.CalibrationsIn(c.Files, func(string) fs.FS { return s.beside(name) })
	return c, nil
}

// file shows a results file as it is.
func (s *server) file(w http.ResponseWriter, r *http.Request, name string) {
	data, _, modified, err := s.read(name, maxResults)
	if err != nil {
		s.refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", modified, bytes.NewReader(data))
}

//go:embed html/pages.tmpl
var pagesTemplate string

//go:embed html/live.js
var liveScript string

var pages = template.Must(template.New("").Parse(pagesTemplate))

// A frame is what all pages have.
type frame struct {
	Title string
	Style template.CSS
	Body  any
}

// show sends a page of ours.
func (s *server) show(w http.ResponseWriter, r *http.Request, status int, name, title string, body any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, frame{title, report.Style(), body}); err != nil {
		http.Error(w, "this page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if status != http.StatusOK {
		w.WriteHeader(status)
		_, _ = w.Write(b.Bytes()) // to a reader who may have gone
		return
	}
	send(w, r, b.Bytes())
}

// send sends a page.
func send(w http.ResponseWriter, r *http.Request, page []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
}

// fail says what is wrong.
func (s *server) fail(w http.ResponseWriter, status int, why string) {
	s.show(w, nil, status, "error", fmt.Sprintf("%d %s", status, http.StatusText(status)), why)
}

// runURL is where a results file is shown.
func runURL(name string) string { return (&url.URL{Path: "/run/" + name + "/"}).String() }
