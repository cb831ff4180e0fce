package node_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A hostPath is what its type says, and one that is not keeps the Pod from starting,
// in the words of upstream's kubelet.
func TestHostPathTypes(t *testing.T) {
	c := start(t)
	for name, test := range map[string]struct{ path, kind, want string }{
		"missing-directory": {"/data/none", "Directory", `MountVolume.SetUp failed for volume "host" : hostPath type check failed, /data/none is not a directory, unable to determine its type: path "/data/none" does not exist`},
		"missing-file":      {"/etc/none", "File", `MountVolume.SetUp failed for volume "host" : hostPath type check failed, /etc/none is not a file, unable to determine its type: path "/etc/none" does not exist`},
		"no-directory":      {"/etc/hosts", "DirectoryOrCreate", `MountVolume.SetUp failed for volume "host" : hostPath type check failed: /etc/hosts is not a directory, it's a File`},
		"no-file":           {"/etc", "File", `MountVolume.SetUp failed for volume "host" : hostPath type check failed: /etc is not a file, it's a Directory`},
		"no-parent":         {"/none/file", "FileOrCreate", `MountVolume.SetUp failed for volume "host" : open /none/file: no such file or directory`},
		"no-socket":         {"/etc/hosts", "Socket", `MountVolume.SetUp failed for volume "host" : hostPath type check failed: /etc/hosts is not a socket, it's a File`},
	} {
		c.create(`{metadata: {name: ` + name + `}, spec: {nodeName: node-1, volumes: [{name: host, hostPath: {path: ` + test.path + `, type: ` + test.kind + `}}], containers: [{name: main, image: busybox, volumeMounts: [{name: host, mountPath: /host}]}]}}`)
		c.pass("refused", time.Minute, func() bool { return strings.Contains(c.events(name), "FailedMount: "+test.want+"\n") })
	}
	c.create(`{metadata: {name: makes}, spec: {nodeName: node-1, restartPolicy: Never, volumes: [{name: dir, hostPath: {path: /data/new, type: DirectoryOrCreate}}, {name: file, hostPath: {path: /srv/new, type: FileOrCreate}}, {name: machine, hostPath: {path: /etc/machine-id, type: File}}, {name: nul, hostPath: {path: /dev/null, type: CharDevice}}],
		containers: [{name: main, image: busybox, command: [sh, -c, "echo made > /dir/f; stat -c '%F %a' /dir /file; wc -c < /machine; echo x > /null"], volumeMounts: [{name: dir, mountPath: /dir}, {name: file, mountPath: /file}, {name: machine, mountPath: /machine}, {name: nul, mountPath: /null}]}]}}`)
	c.pass("ended", time.Minute, c.phase("makes", v1.PodSucceeded))
	if got := c.logs("makes", ""); got != "directory 755\nregular empty file 644\n33\n" {
		t.Errorf("%q", got)
	}
}

// claim makes a PersistentVolume of 1 GiB of a path of the nodes, and a claim of the same name that is bound to it.
func (c *cluster) claim(name, path string) {
	c.Helper()
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}
	if _, err := c.client.CoreV1().PersistentVolumes().Create(c.Context(), &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PersistentVolumeSpec{
		StorageClassName: "manual", Capacity: size, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: path}}}}, metav1.CreateOptions{}); err != nil {
		c.Fatal(err)
	}
	class := "manual"
	claim, err := c.client.CoreV1().PersistentVolumeClaims("default").Create(c.Context(), &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.PersistentVolumeClaimSpec{
		StorageClassName: &class, VolumeName: name, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, Resources: v1.VolumeResourceRequirements{Requests: size}}}, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	claim.Status.Phase, claim.Status.Capacity = v1.ClaimBound, size // as the controller does that binds volumes
	if _, err := c.client.CoreV1().PersistentVolumeClaims("default").UpdateStatus(c.Context(), claim, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
}

// A PersistentVolume with a hostPath is that folder of the node.
func TestPersistentVolumeOfTheNode(t *testing.T) {
	c := start(t)
	c.create(`{metadata: {name: writer}, spec: {nodeName: node-1, restartPolicy: Never, volumes: [{name: host, hostPath: {path: /mnt/data}}], containers: [{name: main, image: busybox, command: [sh, -c, "echo kept > /host/index.html"], volumeMounts: [{name: host, mountPath: /host}]}]}}`)
	c.pass("written", time.Minute, c.phase("writer", v1.PodSucceeded))
	c.claim("task", "/mnt/data")
	c.create(`{metadata: {name: reader}, spec: {nodeName: node-1, restartPolicy: Never, volumes: [{name: data, persistentVolumeClaim: {claimName: task}}], containers: [{name: main, image: busybox, command: [cat, /data/index.html], volumeMounts: [{name: data, mountPath: /data}]}]}}`)
	c.pass("read", time.Minute, c.phase("reader", v1.PodSucceeded))
	if got := c.logs("reader", ""); got != "kept\n" {
		t.Errorf("%q", got)
	}
}

// A driver that nobody has installed cannot mount anything, nor can one that is disabled.
func TestUnknownDriver(t *testing.T) {
	c := start(t)
	for _, test := range []struct{ name, source, want string }{
		{"inline", `csi: {driver: inline.storage.kubernetes.io}`, `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name inline.storage.kubernetes.io not found in the list of registered CSI drivers`},
		{"git", `gitRepo: {repository: "https://example.com/x.git"}`, "git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`"},
	} {
		c.create(`{metadata: {name: ` + test.name + `}, spec: {volumes: [{name: data, ` + test.source + `}], containers: [{name: main, image: busybox, volumeMounts: [{name: data, mountPath: /data}]}]}}`)
		c.pass("refused", time.Minute, func() bool {
			return strings.Contains(c.events(test.name), `FailedMount: MountVolume.SetUp failed for volume "data" : `+test.want+"\n")
		})
		if !c.waiting(test.name, "ContainerCreating")() {
			t.Errorf("%s: %s", test.name, describe(c.get(test.name)))
		}
	}
}

// Secrets, the downward API and projected volumes are kept in memory, ConfigMaps on the node's disk.
func TestProjectedVolumesInMemory(t *testing.T) {
	c := start(t)
	if _, err := c.client.CoreV1().Secrets("default").Create(c.Context(), &v1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"key": "value"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.create(`{metadata: {name: p}, spec: {nodeName: node-1, restartPolicy: Never, volumes: [{name: secret, secret: {secretName: s}}, {name: map, configMap: {name: kube-root-ca.crt}}, {name: own, downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}],
		containers: [{name: main, image: busybox, resources: {limits: {memory: 64Mi}}, volumeMounts: [{name: secret, mountPath: /s}, {name: secret, mountPath: /key, subPath: key}, {name: map, mountPath: /m}, {name: own, mountPath: /o}],
			command: [sh, -c, "ls -ld /m /s | cut -c 1-10; df -h /s | tail -1; mount | grep -E ' /(s|key|m|o|var/run/.*) '; cat /s/key /key"]}]}}`)
	c.pass("ended", time.Minute, c.phase("p", v1.PodSucceeded))
	const inMemory = "tmpfs on %s type tmpfs (ro,relatime,size=65536k)\n"
	want := "drwxrwxrwx\ndrwxrwxrwt\ntmpfs                    64.0M         0     64.0M   0% /s\n" +
		fmt.Sprintf(inMemory+inMemory, "/s", "/key") + "/dev/vda1 on /m type ext4 (ro,relatime)\n" + fmt.Sprintf(inMemory+inMemory, "/o", "/var/run/secrets/kubernetes.io/serviceaccount") + "valuevalue"
	if got := c.logs("p", ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Variables come from a file that an init container has written.
func TestVariablesOfAFile(t *testing.T) {
	c := start(t)
	pod := func(name, text, key string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, volumes: [{name: config, emptyDir: {}}], initContainers: [{name: setup, image: busybox, command: [sh, -c, ` + text + `], volumeMounts: [{name: config, mountPath: /config}]}],
			containers: [{name: main, image: busybox, command: [sh, -c, 'echo "$ADDRESS"'], env: [{name: ADDRESS, valueFrom: {fileKeyRef: {volumeName: config, path: config.env, key: ` + key + `}}}]}]}}`)
	}
	pod("good", `"printf \"# of the database\\n\\nOTHER='x' # y\\nDB_ADDRESS='two\\nlines'\\n\" > /config/config.env"`, "DB_ADDRESS")
	c.pass("ended", time.Minute, c.phase("good", v1.PodSucceeded))
	if got := c.logs("good", ""); got != "two\nlines\n" {
		t.Errorf("%q", got)
	}
	for name, text := range map[string]string{"unquoted": `"echo A=b > /config/config.env"`, "no-file": `"true"`, "spaces": `"echo \"A = 'b'\" > /config/config.env"`} {
		pod(name, text, "A")
		c.pass("refused", time.Minute, c.waiting(name, "CreateContainerConfigError"))
	}
	pod("no-key", `"echo \"B='b'\" > /config/config.env"`, "A")
	c.pass("refused", time.Minute, func() bool {
		return strings.Contains(c.events("no-key"), `environment variable key "A" not found in file "config.env"`)
	})
}

// A projected volume has the certificates of a ClusterTrustBundle, and a Pod waits for one.
func TestTrustBundles(t *testing.T) {
	c := start(t)
	pod := func(name, source string) {
		c.create(`{metadata: {name: ` + name + `}, spec: {restartPolicy: Never, volumes: [{name: trust, projected: {sources: [{clusterTrustBundle: {` + source + `}}]}}], containers: [{name: main, image: busybox, command: [head, -1, /trust/roots.pem], volumeMounts: [{name: trust, mountPath: /trust}]}]}}`)
	}
	pod("waits", `name: roots, path: roots.pem`)
	c.pass("refused", time.Minute, func() bool { return strings.Contains(c.events("waits"), "FailedMount") })
	root := authority(t)
	if _, err := c.client.CertificatesV1().ClusterTrustBundles().Create(context.Background(), &certificatesv1.ClusterTrustBundle{ObjectMeta: metav1.ObjectMeta{Name: "roots"}, Spec: certificatesv1.ClusterTrustBundleSpec{TrustBundle: root}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.pass("begun", 5*time.Minute, c.phase("waits", v1.PodSucceeded))
	if got := c.logs("waits", ""); got != "-----BEGIN CERTIFICATE-----\n" {
		t.Errorf("%q", got)
	}
	pod("optional", `name: none, path: roots.pem, optional: true`)
	c.pass("ended", time.Minute, c.phase("optional", v1.PodSucceeded))
}

// authority returns a certificate of an authority, as PEM.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
