// Readers tells what Multus and the NAD client library make of text that a user wrote.
//
// It reads one JSON question a line on standard input and writes one JSON answer a line:
//
//	{"kind":"selection","namespace":"team-a","annotation":"roce@rdma0"} -> {"elements":[…]}
//	{"kind":"nad","nad":{"metadata":{…},"spec":{"config":"…"}}}         -> {"network":{…}}
//
// What they refuse is {"error":"…"}; what makes them panic is {"error":"…","panic":true}.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/containernetworking/cni/libcni"
	nad "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/apis/k8s.cni.cncf.io/v1"
	nadutils "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/k8sclient"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/logging"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

type question struct {
	Kind       string                          `json:"kind"`
	Namespace  string                          `json:"namespace"`
	Annotation string                          `json:"annotation"`
	NAD        nad.NetworkAttachmentDefinition `json:"nad"`
}

type answer struct {
	Elements []*types.NetworkSelectionElement `json:"elements,omitempty"`
	Network  *network                         `json:"network,omitempty"`
	Error    string                           `json:"error,omitempty"`
	Panic    bool                             `json:"panic,omitempty"`
}

// network is a NAD's configuration as Multus hands it on to the plugins.
type network struct {
	Name       string   `json:"name"`
	CNIVersion string   `json:"cniVersion"`
	IsList     bool     `json:"isList"`
	Plugins    []plugin `json:"plugins"`
}

type plugin struct {
	Type     string            `json:"type"`
	IPAMType string            `json:"ipamType"`
	Config   json.RawMessage   `json:"config"`
	Fields   *governing        `json:"fields,omitempty"`
	Refused  map[string]string `json:"refused,omitempty"`
}

// governing are the keys on which isolation depends, as Go decodes them into a plugin's own
// struct: letter case is folded and the last of several spellings wins.
type governing struct {
	Master              json.RawMessage `json:"master,omitempty"`
	Link                json.RawMessage `json:"link,omitempty"`
	Device              json.RawMessage `json:"device,omitempty"`
	Mode                json.RawMessage `json:"mode,omitempty"`
	VLAN                json.RawMessage `json:"vlan,omitempty"`
	VlanID              json.RawMessage `json:"vlanId,omitempty"`
	VlanTrunk           json.RawMessage `json:"vlanTrunk,omitempty"`
	PKey                json.RawMessage `json:"pkey,omitempty"`
	IBKubernetesEnabled json.RawMessage `json:"ibKubernetesEnabled,omitempty"`
	DeviceID            json.RawMessage `json:"deviceID,omitempty"`
	PCIBusID            json.RawMessage `json:"pciBusID,omitempty"`
	SpoofChk            json.RawMessage `json:"spoofchk,omitempty"`
	Trust               json.RawMessage `json:"trust,omitempty"`
}

func main() {
	logging.SetLogStderr(false)
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(input io.Reader, output io.Writer) error {
	questions := bufio.NewReader(input)
	answers := json.NewEncoder(output)
	answers.SetEscapeHTML(false)
	for {
		line, err := questions.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := answers.Encode(reply(line)); err != nil {
			return err
		}
	}
}

func reply(line []byte) (said answer) {
	defer func() {
		if cause := recover(); cause != nil {
			said = answer{Error: fmt.Sprint(cause), Panic: true}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: "question: " + err.Error()}
	}
	switch asked.Kind {
	case "selection":
		return readSelection(asked.Namespace, asked.Annotation)
	case "nad":
		return readNAD(&asked.NAD)
	default:
		return answer{Error: fmt.Sprintf("question: unknown kind %q", asked.Kind)}
	}
}

func readSelection(namespace, annotation string) answer {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:   namespace,
		Annotations: map[string]string{networksAnnotation: annotation},
	}}
	elements, err := k8sclient.GetPodNetwork(pod)
	var none *k8sclient.NoK8sNetworkError
	if errors.As(err, &none) {
		return answer{}
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Elements: elements}
}

func readNAD(definition *nad.NetworkAttachmentDefinition) answer {
	config, err := nadutils.GetCNIConfig(definition, "/nonexistent")
	if err != nil {
		return answer{Error: err.Error()}
	}
	element := &types.NetworkSelectionElement{Name: definition.Name, Namespace: definition.Namespace}
	delegate, err := types.LoadDelegateNetConf(config, element, "", "")
	if err != nil {
		return answer{Error: err.Error()}
	}
	list, err := loadList(delegate)
	if err != nil {
		return answer{Error: err.Error()}
	}
	read := &network{Name: list.Name, CNIVersion: list.CNIVersion, IsList: delegate.ConfListPlugin}
	for _, each := range list.Plugins {
		read.Plugins = append(read.Plugins, readPlugin(each))
	}
	return answer{Network: read}
}

// loadList loads the delegate with libcni, by the call that Multus makes at CNI ADD.
func loadList(delegate *types.DelegateNetConf) (*libcni.NetworkConfigList, error) {
	if delegate.ConfListPlugin {
		return libcni.NetworkConfFromBytes(delegate.Bytes)
	}
	//nolint:staticcheck // deprecated, and what Multus calls
	single, err := libcni.ConfFromBytes(delegate.Bytes)
	if err != nil {
		return nil, err
	}
	return &libcni.NetworkConfigList{
		Name:       single.Network.Name,
		CNIVersion: single.Network.CNIVersion,
		Plugins:    []*libcni.PluginConfig{single},
	}, nil
}

func readPlugin(loaded *libcni.PluginConfig) plugin {
	read := plugin{
		Type:     loaded.Network.Type,
		IPAMType: loaded.Network.IPAM.Type,
		Config:   loaded.Bytes,
		Fields:   &governing{},
	}
	if err := json.Unmarshal(loaded.Bytes, read.Fields); err != nil {
		read.Fields, read.Refused = nil, map[string]string{"fields": err.Error()}
	}
	return read
}
