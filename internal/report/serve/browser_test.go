//go:build browser

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dynolab/dyno/internal/barepath"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
)

// needBrowser says why tests were skipped.
const needBrowser = "browser tests need Chromium or Chrome: install chromium"

var skipped atomic.Int64 // browser tests

func TestMain(m *testing.M) {
	code := m.Run()
	if err := theBrowser.close(); err != nil {
		fmt.Fprintln(os.Stderr, "ending the browser:", err)
		code = max(code, 1)
	}
	if n := skipped.Load(); n > 0 {
		fmt.Printf("SKIP: %d %s\n", n, needBrowser)
	}
	os.Exit(code)
}

// browserPath returns the browser of this machine; "" if it has none.
func browserPath() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// A browser is one process for all tests; each has a tab of its own.
type browser struct {
	once sync.Once
	ctx  context.Context
	err  error
	dir  string
}

var theBrowser browser

func (b *browser) start() {
	if b.dir, b.err = os.MkdirTemp("", "browser"); b.err != nil {
		return
	}
	o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browserPath()), chromedp.UserDataDir(b.dir), chromedp.DisableGPU)
	if os.Getuid() == 0 {
		o = append(o, chromedp.NoSandbox) // which root cannot have
	}
	ctx, _ := chromedp.NewExecAllocator(context.Background(), o...)
	b.ctx, _ = chromedp.NewContext(ctx)
	b.err = chromedp.Do(b.ctx)
}

// close ends the browser, and waits until it has.
func (b *browser) close() error {
	if b.dir == "" {
		return nil
	}
	defer os.RemoveAll(b.dir)
	if b.err != nil {
		return nil // the tests have told
	}
	ctx, cancel := context.WithTimeout(b.ctx, 20*time.Second)
	defer cancel()
	return chromedp.Cancel(ctx)
}

// TestBrowserNowhere: on a machine without a browser the tests of pages are skipped, and it
// is said how many and why.
func TestBrowserNowhere(t *testing.T) {
	path, err := barepath.Make(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBrowser", "-test.skip=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "PATH="+path)
	t.Setenv("PATH", path)
	if browserPath() != "" {
		t.Skip("this machine has a browser wherever PATH leads")
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`(?m)^SKIP: [1-9][0-9]* `+needBrowser+"$").Match(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A tab is a page that is looked at, with everything that its console says.
type tab struct {
	t   *testing.T
	ctx context.Context
}

// newTab opens a tab of a size, light or dark. The test is skipped if there is no
// browser.
func newTab(t *testing.T, width int64, scheme string) *tab {
	t.Helper()
	if browserPath() == "" {
		skipped.Add(1)
		t.Skip(needBrowser)
	}
	theBrowser.once.Do(theBrowser.start)
	if theBrowser.err != nil {
		t.Fatalf("starting the browser: %v", theBrowser.err)
	}
	ctx, cancel := chromedp.NewContext(theBrowser.ctx)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	b.do(
		chromedp.EmulateViewport(width, 800),
		chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
			return err
		}),
	)
	return b
}

// limit bounds what a single step of a test may take.
const limit = time.Minute

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	// The tab's first step must not have the timeout: it would end the tab.
	if err := chromedp.Do(b.ctx); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval evaluates an expression; of a promise, what it is fulfilled with.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, func(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return v
}

// open goes to a page and fails the test for everything that is wrong on its
// console. then is done before the console is read.
func (b *tab) open(address string, then func()) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	messages := chromedp.Console(ctx)
	b.do(chromedp.Navigate(address))
	if then != nil {
		then()
	}
	const end = "the test has read up to here"
	eval[chromedp.Void](b, "console.log("+quote(end)+")")
	for m, err := range messages {
		if err != nil {
			b.t.Fatal(err)
		}
		if m.Text == end {
			break
		}
		b.t.Errorf("%s: the console has %s (%s:%d)", address, m, m.URL, m.Line)
	}
}

// quote makes a string of JavaScript.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings can be marshalled
	}
	return string(b)
}

// A site is all kinds of pages: the report as a file, and those that are served.
type site struct {
	dir   string
	pages map[string]string // name to address
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir := folder(t)
	for _, path := range []string{"../../compare/testdata/compare/interleaved.bench", "../testdata/curves.bench", "../testdata/means.bench"} {
		data, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, filepath.Base(path)), data)
	}
	explain(t, filepath.Join(dir, "interleaved.bench"), "Group/workload=short-2", "ref-errgroup", "workstealing")
	server := httptest.NewServer(serving(t, dir, Options{}))
	t.Cleanup(server.Close)
	s := &site{dir: dir, pages: map[string]string{
		"list":          server.URL + "/",
		"served report": server.URL + "/run/interleaved.bench/",
		"progress":      server.URL + "/run/m/run.bench/live",
		"error":         server.URL + "/run/no.bench/",
	}}
	for _, name := range []string{"interleaved", "curves", "means"} {
		path := filepath.Join(dir, name+extension)
		c, err := compare.Compare([]string{path}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out := report.Path([]string{path}, "")
		if err := report.Write(c, nil, out); err != nil {
			t.Fatal(err)
		}
		s.pages["report of "+name] = (&url.URL{Scheme: "file", Path: filepath.ToSlash(report.HTMLPath(out))}).String()
	}
	return s
}

// No page says anything on the console: no script fails, nothing is blocked, nothing
// is missing.
func TestBrowserConsole(t *testing.T) {
	s := newSite(t)
	for name, address := range s.pages {
		if name == "error" {
			continue // whose status the console tells
		}
		t.Run(name, func(t *testing.T) { newTab(t, 1200, "light").open(address, nil) })
	}
}

// pprof's pages work under their policy.
func TestBrowserProfile(t *testing.T) {
	s := newSite(t)
	b := newTab(t, 1200, "light")
	at := s.pages["served report"] + "profile/a/cpu.pb.gz/"
	for _, page := range []string{"", "top", "peek?f=Spin"} {
		b.open(at+page, func() {
			if text := eval[string](b, "document.body.innerText"); !strings.Contains(text, "Spin") {
				t.Errorf("%q shows %.200q", page, text)
			}
		})
	}
	b.open(s.pages["served report"], func() {
		if to := eval[string](b, `[...document.querySelectorAll("a")].find((a) => a.href.includes("pb.gz")).href`); to != at {
			t.Errorf("the report leads to %q, want %q", to, at)
		}
	})
}

// A window of 360 pixels does not have to be scrolled sideways.
func TestBrowserNarrow(t *testing.T) {
	s := newSite(t)
	for name, address := range s.pages {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 360, "light")
			b.do(chromedp.Navigate(address))
			eval[chromedp.Void](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
			wide := eval[[]string](b, `[document.documentElement.scrollWidth > 360 ? "the page has " + document.documentElement.scrollWidth + " pixels" : ""].concat(
				[...document.querySelectorAll("body *")].filter((e) => !e.closest(".wide, svg, .skip, .hidden") && e.getBoundingClientRect().right > 360.5)
				.map((e) => e.outerHTML.slice(0, 100))).filter((s) => s)`)
			if len(wide) > 0 {
				t.Errorf("too wide: %q", wide[:min(5, len(wide))])
			}
			if visible := eval[int](b, `document.body.innerText.length`); visible < 20 {
				t.Errorf("%d characters are there", visible)
			}
		})
	}
}

// reportTab is a tab, so many pixels wide, with the report of a kept results file.
func reportTab(t *testing.T, kept string, width int64) *tab {
	t.Helper()
	path := filepath.Join("../../../results", filepath.FromSlash(kept))
	c, err := compare.Compare([]string{path}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := report.Path([]string{path}, folder(t))
	if err := report.Write(c, nil, out); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, width, "light")
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(report.HTMLPath(out))}).String()))
	return b
}

// The heat map of five designs fits a phone of 390 pixels: none of them has to be scrolled to. So
// do the ratios, whose names and reasons are not squeezed into columns.
func TestBrowserHeatMap(t *testing.T) {
	b := reportTab(t, "intel-xeon-2c-linux-amd64/20261122-022738-4f3837d0.bench", 390)
	shown := eval[[]int](b, `((e) => [e.querySelectorAll("thead th").length, e.scrollWidth - e.clientWidth])(document.querySelector(".wide:has(.heat)"))`)
	if want := []int{1 + 5, 0}; !slices.Equal(shown, want) {
		t.Errorf("columns, and pixels beyond the edge: %d, want %d", shown, want)
	}
	// A ratio with its verdict takes a line or two, and one more for each line of the reason.
	if high := eval[float64](b, `Math.max(...[...document.querySelectorAll(".answer > *, .answer tr")].filter((e) => e.localName !== "tbody").map((e) => e.getBoundingClientRect().height))`); high > 160 {
		t.Errorf("a row of the ratios is %v pixels high", high)
	}
}

// In a window of 1400 pixels what each design does stands to the right of the map, up to the edge.
func TestBrowserWide(t *testing.T) {
	b := reportTab(t, "intel-xeon-2c-linux-amd64/20261122-022738-4f3837d0.bench", 1400)
	at := eval[[]float64](b, `((says, map) => [says.left - map.right, says.right, says.top - map.top])(
		document.querySelector("ul.lead").getBoundingClientRect(), document.querySelector(".heat").getBoundingClientRect())`)
	if at[0] < 0 || at[1] < 1350 || at[2] > 20 {
		t.Errorf("sentences are %v pixels behind the map, up to %v, and begin %v below it", at[0], at[1], at[2])
	}
}

// On a phone the intervals of changes are visible, and a name of usual length is in one line.
func TestBrowserPair(t *testing.T) {
	b := reportTab(t, "intel-xeon-2c-linux-amd64/20261122-023338-ab-69d75370-4f3837d0.bench", 390)
	shown := eval[[]int](b, `((e) => [e.scrollWidth - e.clientWidth, Math.max(...[...e.querySelectorAll("tbody tr > :first-child")].map((e) => e.getBoundingClientRect().height)) > 36 ? 2 : 1])(document.querySelector(".wide:has(.pair)"))`)
	if want := []int{0, 1}; !slices.Equal(shown, want) {
		t.Errorf("pixels beyond the edge, and lines of a name: %d, want %d", shown, want)
	}
	// So are they in the table of each benchmark, and its heading breaks between words only.
	hidden := eval[int](b, `[...document.querySelectorAll(".detail")].filter((t) => {
		const i = [...t.querySelectorAll("thead th")].findIndex((e) => e.textContent === "95% interval");
		return i >= 0 && [...t.querySelectorAll("tr")].some((r) => r.cells[i]?.getBoundingClientRect().right > innerWidth);
	}).length`)
	words := eval[[]int](b, `((all) => [all.length, all.filter((e) => [...e.childNodes].some((n) => {
		if (n.nodeType !== Node.TEXT_NODE) return false;
		return [...n.data.matchAll(/[^ -]+/g)].some((m) => {
			const r = document.createRange();
			r.setStart(n, m.index), r.setEnd(n, m.index + m[0].length);
			return r.getClientRects().length > 1;
		});
	})).length])([...document.querySelectorAll("h3")])`)
	if hidden > 0 || words[0] == 0 || words[1] > 0 {
		t.Errorf("%d tables with an interval that is hidden; %d of %d headings break within a word", hidden, words[1], words[0])
	}
}

// Everything that can be clicked or scrolled is reached by Tab, in the order of the
// page, and shows that it is; and keys work it.
func TestBrowserKeyboard(t *testing.T) {
	s := newSite(t)
	const focusable = `[...document.querySelectorAll("a[href], summary, button, input, [tabindex='0']")].filter((e) => e.checkVisibility())`
	for name, address := range s.pages {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1000, "light")
			b.do(chromedp.Navigate(address))
			want := eval[int](b, `window.reached = [], window.all = `+focusable+`, document.addEventListener("focusin", (event) => {
				const e = event.target, s = getComputedStyle(e), r = e.getBoundingClientRect();
				const seen = s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.right > 0 && r.width > 0;
				reached.push(all.indexOf(e) + (seen ? "" : " unseen: " + e.outerHTML.slice(0, 80)));
			}), all.length`)
			if want == 0 {
				t.Fatal("there is nothing to reach")
			}
			b.do(chromedp.KeyEvent(strings.Repeat(kb.Tab, want)))
			reached := eval[[]string](b, "reached")
			for i := range want {
				if i >= len(reached) || reached[i] != strconv.Itoa(i) {
					t.Fatalf("of %d elements, Tab number %d reaches %q", want, i+1, reached[min(i, len(reached)):min(i+1, len(reached))])
				}
			}
		})
	}
	t.Run("keys work", func(t *testing.T) {
		b := newTab(t, 1000, "light")
		b.do(chromedp.Navigate(s.pages["report of interleaved"]))
		b.do(chromedp.KeyEvent(kb.Tab))
		b.do(chromedp.KeyEvent(kb.Enter))
		if hash := eval[string](b, "location.hash"); hash != "#answer" {
			t.Errorf("the first link leads to %q", hash)
		}
		eval[chromedp.Void](b, `document.querySelector("summary").focus()`)
		b.do(chromedp.KeyEvent(kb.Enter))
		if !eval[bool](b, `document.querySelector("details").open`) {
			t.Error("Enter does not open what is folded")
		}
	})
}

// contrast finds texts that have too little contrast to what is behind them, by the
// formula of WCAG 2.1, 1.4.3.
const contrast = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
	const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
	const bad = new Set();
	for (const e of document.querySelectorAll("body *")) {
		if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const s = getComputedStyle(e), svg = e.namespaceURI.endsWith("svg");
		if (e.localName === "title") continue;
		const a = light(parse(svg ? s.fill : s.color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.add(ratio.toFixed(2) + " " + e.outerHTML.slice(0, 80));
	}
	return [...bad];
})()`

// Pages follow what the reader has set, and can be read in both.
func TestBrowserLightAndDark(t *testing.T) {
	s := newSite(t)
	for name, address := range s.pages {
		t.Run(name, func(t *testing.T) {
			var papers []string
			for _, scheme := range []string{"light", "dark"} {
				b := newTab(t, 1000, scheme)
				b.do(chromedp.Navigate(address))
				papers = append(papers, eval[string](b, "getComputedStyle(document.body).backgroundColor"))
				if bad := eval[[]string](b, contrast); len(bad) > 0 {
					t.Errorf("%s: too little contrast: %q", scheme, bad[:min(5, len(bad))])
				}
			}
			if !slices.Equal(papers, []string{"rgb(255, 255, 255)", "rgb(20, 23, 27)"}) {
				t.Errorf("light and dark are %q", papers)
			}
		})
	}
}

// What is drawn has a text, and what is a table says what its columns are.
func TestBrowserNamesEverything(t *testing.T) {
	s := newSite(t)
	for name, address := range s.pages {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, 1000, "light")
			b.do(chromedp.Navigate(address))
			if bad := eval[[]string](b, `[
				...document.querySelectorAll("svg:not([aria-hidden='true']):not([aria-label])"), ...document.querySelectorAll("img:not([alt])"),
				...[...document.querySelectorAll("table")].filter((t) => !t.querySelector("th[scope]")),
				...[...document.querySelectorAll("a, summary, th[scope='row']")].filter((e) => !(e.innerText.trim() || e.getAttribute("aria-label") || !e.checkVisibility())),
				...document.querySelectorAll("[role='region']:not([aria-label])"),
			].map((e) => e.outerHTML.slice(0, 100))`); len(bad) > 0 {
				t.Errorf("without a name: %q", bad[:min(5, len(bad))])
			}
			if got := eval[[]int](b, `[document.querySelectorAll("h1").length, document.querySelectorAll("main").length, document.documentElement.lang === "en" ? 1 : 0, document.title ? 1 : 0]`); !slices.Equal(got, []int{1, 1, 1, 1}) {
				t.Errorf("headline, main part, language, title: %v", got)
			}
		})
	}
}

// The page of a run that goes on changes with it, without being loaded again, until the
// run is complete; and says when the run that would report it is gone.
func TestBrowserProgress(t *testing.T) {
	data := string(recordedRun(t))
	path := filepath.Join(t.TempDir(), "run.bench")
	half, _, _ := strings.Cut(data, "# end of block 4\n")
	write(t, path, []byte(half))
	h := serving(t, filepath.Dir(path), Options{})
	server := httptest.NewServer(h)
	defer server.Close()
	b := newTab(t, 800, "light")
	// until waits for a text on the page.
	until := func(text string) {
		t.Helper()
		eval[bool](b, `new Promise((done) => {
			const look = () => document.body.innerText.includes(`+quote(text)+`) && done(true);
			new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
			look();
		})`)
	}
	b.open(server.URL+"/run/run.bench/live", func() {
		eval[chromedp.Void](b, `window.kept = true`)
		until("goes on: 3 of 6 blocks")
		write(t, path, []byte(half+"# end of block 4\n"))
		until("goes on: 4 of 6 blocks")
		write(t, path, []byte(data))
		until("complete: 6 of 6 blocks")
		until("What it found")
		if !eval[bool](b, `window.kept === true`) {
			t.Error("the page was loaded again")
		}
	})

	write(t, path, []byte(half))
	b.do(chromedp.Navigate(server.URL + "/run/run.bench/live"))
	server.CloseClientConnections()
	server.Close()
	until("No news")
}
