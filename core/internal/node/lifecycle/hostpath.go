package lifecycle

import (
	"fmt"
	"io/fs"
	"path"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// hostPath returns what a path of the node holds. What is missing is made as the type
// says, or a directory without one, as container runtimes do. The error is that of
// upstream's checks (pkg/volume/hostpath, checkTypeInternal).
func (p *Pod) hostPath(at string, kind *v1.HostPathType) (*container.File, error) {
	disk, host := p.cluster.Disk, p.Node.HostPath
	file, mode := disk.Find(host, at)
	check := func(expected string, ok bool) (*container.File, error) {
		switch {
		case file == nil:
			return nil, fmt.Errorf("hostPath type check failed, %s is not a %s, unable to determine its type: path %q does not exist", at, expected, at)
		case !ok:
			return nil, fmt.Errorf("hostPath type check failed: %s is not a %s, it's a %s", at, expected, typeOf(mode))
		}
		return file, nil
	}
	switch ptr.Deref(kind, v1.HostPathUnset) {
	case v1.HostPathDirectoryOrCreate:
		if file == nil {
			return disk.Sub(host, at), nil
		}
		return check("directory", mode.IsDir())
	case v1.HostPathDirectory:
		return check("directory", mode.IsDir())
	case v1.HostPathFileOrCreate:
		if file == nil {
			if parent, mode := disk.Find(host, path.Dir(at)); parent == nil || !mode.IsDir() {
				return nil, fmt.Errorf("open %s: no such file or directory", at)
			}
			return disk.MakeFile(host, at, 0o644)
		}
		return check("file", mode.IsRegular())
	case v1.HostPathFile:
		return check("file", mode.IsRegular())
	case v1.HostPathSocket:
		return check("socket", mode&fs.ModeSocket != 0)
	case v1.HostPathCharDev:
		return check("character device", mode&fs.ModeCharDevice != 0)
	case v1.HostPathBlockDev:
		return check("block device", mode&fs.ModeDevice != 0 && mode&fs.ModeCharDevice == 0)
	}
	if file == nil {
		file = disk.Sub(host, at)
	}
	return file, nil
}

// typeOf is what upstream calls a file of a mode.
func typeOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return string(v1.HostPathDirectory)
	case mode&fs.ModeCharDevice != 0:
		return string(v1.HostPathCharDev)
	case mode&fs.ModeDevice != 0:
		return string(v1.HostPathBlockDev)
	}
	return string(v1.HostPathFile)
}

// persistent returns what a PersistentVolume holds: a path of the node, or what is kept
// for it elsewhere, which a group can share.
func (p *Pod) persistent(obj *v1.Pod, name string) (*container.File, error) {
	pv, err := p.cluster.PersistentVolumes.Get(name)
	if err != nil {
		return nil, err
	}
	switch {
	case pv.Spec.HostPath != nil:
		return p.hostPath(pv.Spec.HostPath.Path, pv.Spec.HostPath.Type)
	case pv.Spec.Local != nil:
		file, _ := p.cluster.Disk.Find(p.Node.HostPath, pv.Spec.Local.Path)
		if file == nil {
			return nil, fmt.Errorf("path %q does not exist", pv.Spec.Local.Path)
		}
		return file, nil
	}
	root := p.cluster.Volume(name)
	if group := fsGroup(obj); group != nil {
		p.cluster.Disk.Share(root, *group, false)
	}
	return root, nil
}
