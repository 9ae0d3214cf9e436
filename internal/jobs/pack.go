package jobs

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The names in the folder of a job.
const (
	documentName = "job.json"
	partsName    = "parts"
	workName     = "work" // what Open unpacks
)

// DocumentPath returns the path of the document in a job's folder.
func DocumentPath(folder string) string { return filepath.Join(folder, documentName) }

// PartPath returns the path of a part in a job's folder.
func PartPath(folder, sha256 string) string { return filepath.Join(folder, partsName, sha256) }

// A Packer writes a job into a folder: first its parts, then the document.
type Packer struct {
	folder string
	parts  []Part
}

// NewPacker returns one for the folder, which must be there.
func NewPacker(folder string) (*Packer, error) {
	return &Packer{folder: folder}, os.MkdirAll(filepath.Join(folder, partsName), 0o755)
}

// File adds the file at path and returns its digest.
func (p *Packer) File(path string) (digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return p.add(func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// Folder adds what the tests in a package's folder may read: its files, and all below
// testdata. What is neither file nor folder is left out.
func (p *Packer) Folder(dir string) (digest string, err error) {
	return p.add(func(w io.Writer) error {
		t := tar.NewWriter(w)
		return errors.Join(archive(t, dir), t.Close())
	})
}

// archive writes the files of a package, in an order and with a head that depend on their
// names and contents only.
func archive(t *tar.Writer, dir string) error {
	files, bytes := 0, int64(0)
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			if name != "." && name != "testdata" && !strings.HasPrefix(name, "testdata/") {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if files, bytes = files+1, bytes+info.Size(); files > mostFiles || bytes > MostPart {
			return fmt.Errorf("%s has more test data than can be sent: %d files of %d bytes are the most", dir, mostFiles, int64(MostPart))
		}
		return archiveFile(t, path, name, info)
	})
}

// archiveFile writes one file.
func archiveFile(t *tar.Writer, path, name string, info fs.FileInfo) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: info.Size(), Typeflag: tar.TypeReg, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}

// add adds a part that write writes.
func (p *Packer) add(write func(io.Writer) error) (digest string, err error) {
	temp, err := os.CreateTemp(filepath.Join(p.folder, partsName), "new-")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name()) // it is called otherwise by then, if all went well
	sum := sha256.New()
	counted := &counter{w: io.MultiWriter(temp, sum)}
	if err := errors.Join(write(counted), temp.Chmod(0o755), temp.Close()); err != nil {
		return "", err
	}
	digest = hex.EncodeToString(sum.Sum(nil))
	if !slices.ContainsFunc(p.parts, func(o Part) bool { return o.SHA256 == digest }) {
		p.parts = append(p.parts, Part{SHA256: digest, Size: counted.n})
	}
	return digest, os.Rename(temp.Name(), PartPath(p.folder, digest))
}

// Parts returns what was added, by digest.
func (p *Packer) Parts() []Part {
	return slices.SortedFunc(slices.Values(p.parts), func(a, b Part) int { return strings.Compare(a.SHA256, b.SHA256) })
}

// Finish writes the document of j, which gets the parts that were added, and returns the
// job's name.
func (p *Packer) Finish(j *Job) (id string, err error) {
	j.Format, j.Parts = Format, p.Parts()
	document, err := j.Encode()
	if err != nil {
		return "", err
	}
	return ID(document), os.WriteFile(DocumentPath(p.folder), document, 0o644)
}

// A counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
