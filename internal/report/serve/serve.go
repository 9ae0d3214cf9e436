package serve

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/hostcheck"
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
	s := &server{root: root, o: o, pages: make(cache[[]byte]), outcomes: make(cache[string]), profiles: make(cache[map[string]http.Handler])}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", handled(s.index))
	mux.HandleFunc("GET /live.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "html/live.js") })
	mux.HandleFunc("GET /run/", handled(s.run))
	return s.guard(mux)
}

type server struct {
	root *os.Root
	o    Options

	mu       sync.Mutex // one page is made at a time: that may take a processor for a second
	pages    cache[[]byte]
	outcomes cache[string] // of runs, in a sentence
	profiles cache[map[string]http.Handler]
}

// A cache keeps what was made of files, as long as their stamps stay the same.
type cache[T any] map[string]stamped[T]

type stamped[T any] struct {
	stamp string
	value T
}

// maxCached bounds how many reports, and how many profiles, are kept in memory.
const maxCached = 16

func (c cache[T]) get(name, stamp string, make func() (T, error)) (T, error) {
	if have, ok := c[name]; ok && have.stamp == stamp {
		return have.value, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if len(c) >= maxCached {
		clear(c)
	}
	c[name] = stamped[T]{stamp, v}
	return v, nil
}

// A refusal is an error with the status that it is answered with.
type refusal struct {
	status int
	why    string
}

func (r refusal) Error() string { return r.why }

// handled answers with the error of a handler, if there is one.
func handled(handler func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handler(w, r); err != nil {
			refuse(w, err)
		}
	}
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, err error) {
	// A path that leads out of the folder, a file that may not be read, one that is too large.
	answer := refusal{http.StatusForbidden, err.Error()}
	if !errors.As(err, &answer) && errors.Is(err, fs.ErrNotExist) {
		answer = refusal{http.StatusNotFound, "There is no such file."}
	}
	page, err := render("error", fmt.Sprintf("%d %s", answer.status, http.StatusText(answer.status)), answer.why)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", htmlType)
	w.WriteHeader(answer.status)
	_, _ = w.Write(page) // to a reader who may have gone
}

// pagePolicy is the Content-Security-Policy of our own pages.
var pagePolicy = report.Policy("'self'") + "; connect-src 'self'; frame-ancestors 'none'"

// guard lets through what may be answered, and says in headers what pages may do.
func (s *server) guard(next http.Handler) http.Handler {
	return handled(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			return refusal{http.StatusMethodNotAllowed, "Nothing here can be changed."}
		}
		if !hostcheck.Allowed(r.Host, s.o.Host) {
			return refusal{http.StatusMisdirectedRequest, fmt.Sprintf("This is not %s. Use the address that benchrun serve has printed.", r.Host)}
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

var errNoPage = refusal{http.StatusNotFound, "There is no such page."}

// run answers for everything below one results file: /run/<path>.bench/<what>.
func (s *server) run(w http.ResponseWriter, r *http.Request) error {
	name, what, ok := splitRun(strings.TrimPrefix(r.URL.Path, "/run/"))
	if !ok {
		return errNoPage
	}
	if what == "" && !strings.HasSuffix(r.URL.Path, "/") {
		// Links on the page are relative to it.
		http.Redirect(w, r, path.Base(name)+"/", http.StatusMovedPermanently)
		return nil
	}
	if profile, ok := strings.CutPrefix(what, "profile/"); ok {
		return s.profile(w, r, name, profile)
	}
	switch what {
	case "":
		return s.report(w, r, name)
	case "live", "live/part":
		return s.live(w, r, name, what == "live/part")
	case "results.txt":
		f, err := s.read(name, maxResults)
		if err == nil {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			http.ServeContent(w, r, "", f.modified, bytes.NewReader(f.data))
		}
		return err
	}
	return errNoPage
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

// A file is what was read of one.
type file struct {
	data     []byte
	stamp    string // changes with the data
	modified time.Time
}

// read reads a regular file below root.
func (s *server) read(name string, limit int64) (f file, err error) {
	info, err := s.root.Stat(name)
	if err != nil {
		return f, err
	}
	// Opening a pipe would wait for a writer.
	if !info.Mode().IsRegular() {
		return f, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	opened, err := s.root.Open(name)
	if err != nil {
		return f, err
	}
	defer opened.Close()
	f.modified = info.ModTime()
	if f.data, err = io.ReadAll(io.LimitReader(opened, limit+1)); err != nil {
		return f, err
	}
	if int64(len(f.data)) > limit {
		return f, fmt.Errorf("%s has more than %d MB", name, limit>>20)
	}
	sum := sha256.Sum256(f.data)
	f.stamp = hex.EncodeToString(sum[:16])
	return f, nil
}

// report shows the report of a results file.
func (s *server) report(w http.ResponseWriter, r *http.Request, name string) error {
	f, err := s.read(name, maxResults)
	if err != nil {
		return err
	}
	x, problems, err := why.ReadFS(s.root.FS(), name)
	if err != nil && !errors.Is(err, why.ErrNone) {
		problems = append(problems, "what explains the differences cannot be read: "+err.Error())
	}
	if x != nil {
		f.stamp += fmt.Sprint(" ", len(x.Cells), s.stampOf(why.Folder(name)+"/why.json"))
	}
	calibrations, _ := fs.Glob(s.beside(name), calibrate.CalibrationPrefix+"*.json") // the pattern is well-formed
	for _, n := range calibrations {
		f.stamp += " " + n + s.stampOf(path.Join(path.Dir(name), n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	page, err := s.pages.get(name, f.stamp, func() ([]byte, error) {
		return s.reportPage(name, f.data, problems, report.Extra{
			Title: "Comparison of " + strings.TrimSuffix(path.Base(name), extension), Why: x, Profiles: "profile/",
			Home: []report.Link{{Href: "/", Name: "All runs"}, {Href: "live", Name: "Progress"}, {Href: "results.txt", Name: "Results as text"}},
		})
	})
	if err == nil {
		send(w, r, page)
	}
	return err
}

// reportPage makes the page with the report of a results file.
func (s *server) reportPage(name string, data []byte, problems []string, extra report.Extra) ([]byte, error) {
	d := compare.Of(record.Read(name, data))
	c, err := s.compare(name, d)
	if err != nil {
		return nil, refusal{http.StatusUnprocessableEntity, "There is no report of this file: " + err.Error()}
	}
	c.Warnings = append(c.Warnings, problems...)
	if s.o.Card != nil {
		if extra.Card, err = s.o.Card(c, d); err != nil {
			c.Warnings = append(c.Warnings, "the targets cannot be judged: "+err.Error())
		}
	}
	var b bytes.Buffer
	if err := report.Comparison(c, report.Page, extra).HTML(&b); err != nil {
		return nil, refusal{http.StatusInternalServerError, err.Error()}
	}
	return b.Bytes(), nil
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

//go:embed html
var files embed.FS

var pages = template.Must(template.ParseFS(files, "html/pages.tmpl"))

// render makes a page of ours.
func render(name, title string, body any) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, struct {
		Title string
		Style template.CSS
		Body  any
	}{title, report.Style(), body})
	if err != nil {
		return nil, refusal{http.StatusInternalServerError, "this page cannot be made: " + err.Error()}
	}
	return []byte(console.Printable(b.String())), nil
}

// show sends a page of ours.
func show(w http.ResponseWriter, r *http.Request, name, title string, body any) error {
	page, err := render(name, title, body)
	if err == nil {
		send(w, r, page)
	}
	return err
}

const htmlType = "text/html; charset=utf-8"

// send sends a page.
func send(w http.ResponseWriter, r *http.Request, page []byte) {
	w.Header().Set("Content-Type", htmlType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
}
