// Recorder stands in for CNI plugins that need hardware which is not here.
//
// Installed under the name of a type (sriov, ib-sriov, …) it writes what it was called with to a
// file in $RDMA_CNI_RECORD_DIR, refuses what the real plugin would refuse for want of a device,
// and else makes an interface of the requested name, so that the pod looks as it should.
// As whereabouts or nv-ipam it hands out addresses by host-local.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"
	"github.com/containernetworking/plugins/pkg/ipam"
	"github.com/containernetworking/plugins/pkg/ns"
	"github.com/vishvananda/netlink"
)

const recordDirVariable = "RDMA_CNI_RECORD_DIR"

// config is what the stand-in itself reads of the configuration; all of it is recorded.
type config struct {
	types.NetConf
	DeviceID string `json:"deviceID"`
	PCIBusID string `json:"pciBusID"`
	Device   string `json:"device"`
	HWAddr   string `json:"hwaddr"`
	IPAM     struct {
		Type     string       `json:"type"`
		Range    string       `json:"range"`
		Ranges   []rangeEntry `json:"ipRanges"`
		PoolName string       `json:"poolName"`
	} `json:"ipam"`
}

type rangeEntry struct {
	Range string `json:"range"`
}

type record struct {
	Type        string          `json:"type"`
	Command     string          `json:"command"`
	ContainerID string          `json:"containerID"`
	Netns       string          `json:"netns"`
	IfName      string          `json:"ifName"`
	Args        string          `json:"args"`
	Config      json.RawMessage `json:"config"`
}

func main() {
	skel.PluginMainFuncs(
		skel.CNIFuncs{Add: add, Del: del, Check: check, Status: status},
		version.All,
		"records what it is called with",
	)
}

func add(args *skel.CmdArgs) error {
	if err := remember("ADD", args); err != nil {
		return err
	}
	conf, err := load(args)
	if err != nil {
		return err
	}
	if isIPAM() {
		result, err := ipam.ExecAdd("host-local", conf.hostLocal())
		if err != nil {
			return err
		}
		return types.PrintResult(result, conf.CNIVersion)
	}
	if err := conf.requireDevice(); err != nil {
		return err
	}
	if conf.PrevResult != nil {
		return types.PrintResult(conf.PrevResult, conf.CNIVersion)
	}
	return attach(args, conf)
}

func del(args *skel.CmdArgs) error {
	if err := remember("DEL", args); err != nil {
		return err
	}
	conf, err := load(args)
	if err != nil {
		return err
	}
	if isIPAM() {
		return ipam.ExecDel("host-local", conf.hostLocal())
	}
	if conf.IPAM.Type != "" {
		if err := ipam.ExecDel(conf.IPAM.Type, args.StdinData); err != nil {
			return err
		}
	}
	return detach(args)
}

func check(*skel.CmdArgs) error { return nil }

func status(*skel.CmdArgs) error { return nil }

func ownType() string { return filepath.Base(os.Args[0]) }

func isIPAM() bool { return ownType() == "whereabouts" || ownType() == "nv-ipam" }

// remember writes the call to a file that appears whole, named so that files sort by time.
func remember(command string, args *skel.CmdArgs) error {
	folder := os.Getenv(recordDirVariable)
	if folder == "" {
		return nil
	}
	text, err := json.Marshal(record{
		Type:        ownType(),
		Command:     command,
		ContainerID: args.ContainerID,
		Netns:       args.Netns,
		IfName:      args.IfName,
		Args:        args.Args,
		Config:      args.StdinData,
	})
	if err != nil {
		return fmt.Errorf("recording the call: %w", err)
	}
	path := filepath.Join(folder, fmt.Sprintf("%020d-%d.json", time.Now().UnixNano(), os.Getpid()))
	if err := os.WriteFile(path+".part", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

func load(args *skel.CmdArgs) (*config, error) {
	conf := &config{}
	if err := json.Unmarshal(args.StdinData, conf); err != nil {
		return nil, fmt.Errorf("failed to load netconf: %w", err)
	}
	if err := version.ParsePrevResult(&conf.NetConf); err != nil {
		return nil, fmt.Errorf("failed to parse prevResult: %w", err)
	}
	return conf, nil
}

// requireDevice fails as sriov-cni, ib-sriov-cni and host-device do when Multus found no device.
func (conf *config) requireDevice() error {
	switch ownType() {
	case "sriov", "ib-sriov":
		if conf.DeviceID == "" {
			return errors.New("VF pci addr is required")
		}
	case "host-device":
		if conf.Device == "" && conf.HWAddr == "" && conf.PCIBusID == "" {
			return errors.New(`specify either "device", "hwaddr", "kernelpath" or "pciBusID"`)
		}
	}
	return nil
}

// attach makes the interface and gives it the addresses of the configured IPAM.
func attach(args *skel.CmdArgs, conf *config) error {
	result := &current.Result{CNIVersion: current.ImplementedSpecVersion}
	if conf.IPAM.Type != "" {
		allocated, err := ipam.ExecAdd(conf.IPAM.Type, args.StdinData)
		if err != nil {
			return err
		}
		if result, err = current.NewResultFromResult(allocated); err != nil {
			return err
		}
	}
	result.Interfaces = []*current.Interface{{Name: args.IfName, Sandbox: args.Netns}}
	for _, address := range result.IPs {
		address.Interface = current.Int(0)
	}
	err := ns.WithNetNSPath(args.Netns, func(ns.NetNS) error {
		// An empty bridge: a kernel without InfiniBand, VFs or dummy devices still has it.
		made := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: args.IfName}}
		if err := netlink.LinkAdd(made); err != nil {
			return fmt.Errorf("failed to make %s: %w", args.IfName, err)
		}
		link, err := netlink.LinkByName(args.IfName)
		if err != nil {
			return err
		}
		result.Interfaces[0].Mac = link.Attrs().HardwareAddr.String()
		return ipam.ConfigureIface(args.IfName, result)
	})
	if err != nil {
		return err
	}
	return types.PrintResult(result, conf.CNIVersion)
}

func detach(args *skel.CmdArgs) error {
	if args.Netns == "" {
		return nil
	}
	err := ns.WithNetNSPath(args.Netns, func(ns.NetNS) error {
		link, err := netlink.LinkByName(args.IfName)
		if err != nil {
			return nil // gone already, as DEL must accept
		}
		return netlink.LinkDel(link)
	})
	var gone ns.NSPathNotExistErr
	if errors.As(err, &gone) {
		return nil
	}
	return err
}

// hostLocal translates whereabouts' ranges, or nv-ipam's pool, into a host-local configuration.
// The network's name is that of the range: networks that share a range share its addresses.
func (conf *config) hostLocal() []byte {
	ranges := []string{}
	for _, entry := range conf.IPAM.Ranges {
		ranges = append(ranges, entry.Range)
	}
	if conf.IPAM.Range != "" {
		ranges = append(ranges, conf.IPAM.Range)
	}
	if conf.IPAM.PoolName != "" {
		ranges = append(ranges, poolRange(conf.IPAM.PoolName))
	}
	sets := [][]map[string]string{}
	for _, text := range ranges {
		sets = append(sets, []map[string]string{subnet(text)})
	}
	unsafe := regexp.MustCompile(`[^A-Za-z0-9.-]`)
	text, _ := json.Marshal(map[string]any{ // strings and maps of them: cannot fail
		"cniVersion": conf.CNIVersion,
		"name":       ownType() + "-" + unsafe.ReplaceAllString(strings.Join(ranges, "-"), "_"),
		"type":       conf.Type,
		"ipam":       map[string]any{"type": "host-local", "ranges": sets},
	})
	return text
}

// subnet reads "10.40.0.0/16" or "10.40.0.10-10.40.0.20/16".
func subnet(text string) map[string]string {
	first, last, isSpan := strings.Cut(text, "-")
	if !isSpan {
		return map[string]string{"subnet": masked(text)}
	}
	address, length, _ := strings.Cut(last, "/")
	return map[string]string{
		"subnet":     masked(address + "/" + length),
		"rangeStart": first,
		"rangeEnd":   address,
	}
}

func masked(text string) string {
	if _, network, err := net.ParseCIDR(text); err == nil {
		return network.String()
	}
	return text // which host-local refuses, with a message
}

// poolRange makes up a range for a pool whose real one is a resource of nv-ipam's controller.
func poolRange(name string) string {
	digest := fnv.New32a()
	digest.Write([]byte(name))
	sum := digest.Sum32()
	return fmt.Sprintf("10.%d.%d.0/24", 200+sum%50, sum>>8&0xff)
}
