package jobs

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// An Opened is a job whose parts are all there.
type Opened struct {
	*Job
	ID string

	folder string
	dirs   map[string]string // of folders that are unpacked, by digest
	empty  string            // an empty folder
}

// Read reads the document in a job's folder.
func Read(folder string) (document []byte, j *Job, err error) {
	f, err := os.Open(DocumentPath(folder))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if document, err = io.ReadAll(io.LimitReader(f, MostDocument+1)); err != nil {
		return nil, nil, err
	}
	j, err = Decode(document)
	return document, j, err
}

// Open reads the job in a folder, checks all parts, and unpacks below the folder work what is
// packed. work is made; what another Open has left there is unpacked anew.
func Open(folder, work string) (*Opened, error) {
	document, j, err := Read(folder)
	if err != nil {
		return nil, err
	}
	for _, p := range j.Parts {
		if err := CheckPart(folder, p); err != nil {
			return nil, err
		}
	}
	work = filepath.Join(work, workName)
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	o := &Opened{Job: j, ID: ID(document), folder: folder, dirs: make(map[string]string), empty: filepath.Join(work, "empty")}
	if err := os.MkdirAll(o.empty, 0o755); err != nil {
		return nil, err
	}
	for _, b := range j.Binaries {
		if b.Folder == "" || o.dirs[b.Folder] != "" {
			continue
		}
		dir := filepath.Join(work, strconv.Itoa(len(o.dirs)))
		if err := Unpack(PartPath(folder, b.Folder), dir); err != nil {
			return nil, fmt.Errorf("the folder of %s: %w", b.Pkg, err)
		}
		o.dirs[b.Folder] = dir
	}
	return o, nil
}

// Image returns the path of a binary or program by its digest.
func (o *Opened) Image(digest string) string { return PartPath(o.folder, digest) }

// Dir returns the folder in which a binary runs, by the digest in Binary.Folder; that of ""
// is an empty one.
func (o *Opened) Dir(digest string) string {
	if digest == "" {
		return o.empty
	}
	return o.dirs[digest]
}

// CheckPart returns an error if a part is not in the job's folder as it should be.
func CheckPart(folder string, p Part) error {
	f, err := os.Open(PartPath(folder, p.SHA256))
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, p.Size+1))
	if err != nil {
		return err
	}
	if n != p.Size || hex.EncodeToString(sum.Sum(nil)) != p.SHA256 {
		return fmt.Errorf("part %s is not what its digest says: it was changed, or is not whole", p.SHA256)
	}
	return nil
}

// Unpack unpacks what [Packer.Folder] has packed. Anything else in an archive is an error:
// links, devices, and paths that lead elsewhere. dir must not be there.
func Unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir) // nothing in it is opened that lies elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(f)
	left := int64(MostPart)
	for files := 0; ; files++ {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("it cannot be unpacked: %w", err)
		case files >= mostFiles:
			return fmt.Errorf("it has more than %d files", mostFiles)
		case h.Typeflag != tar.TypeReg || h.Name == "." || !filepath.IsLocal(filepath.FromSlash(h.Name)) || path.Clean(h.Name) != h.Name:
			return fmt.Errorf("it has %.200q, which is not a file below it", h.Name)
		case h.Size > left:
			return fmt.Errorf("it has more than %d bytes", int64(MostPart))
		}
		left -= h.Size
		if err := unpackFile(root, t, h); err != nil {
			return err
		}
	}
}

// unpackFile writes one file.
func unpackFile(root *os.Root, t *tar.Reader, h *tar.Header) error {
	name := filepath.FromSlash(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if h.Mode&0o111 != 0 {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, t, h.Size)
	return errors.Join(err, f.Close())
}
