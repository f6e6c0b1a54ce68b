/** The anchor of a section of docs/runbook.md, as code hosts make it of the heading. */
const section = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')

const SECTIONS: Readonly<Record<string, string>> = {
  NoOwner: section('Nobody owns a shard'),
  TwoOwners: section('Two nodes own a shard'),
  NodeDisconnected: section('A node is disconnected'),
  WaitingForNode: section('A node is disconnected'),
  NoFabricAddress: section('A node has no fabric address'),
  FabricAddressLost: section('A node lost its fabric address'),
  FabricAddressTaken: section('A node does not fit its group'),
  FabricAddressRefused: section('A node does not fit its group'),
  FabricFamilyDiffers: section('A node does not fit its group'),
  GroupTooLarge: section('A node does not fit its group'),
  AddressClaimed: section('Somebody claims an address of a node'),
  GroupRefused: section('A node refuses its settings'),
  DrainWaits: section('A drain does not end'),
  NoBgpPeer: section('A BGP peer is left out'),
  PeerIncomplete: section('A BGP peer is left out'),
  PeerTwice: section('A BGP peer is left out'),
  BgpSessionDown: section('A BGP session is down'),
  FlowPeerSilent: section("Nodes do not hear of each other's flows"),
  FlowsNotReplicated: section("Nodes do not hear of each other's flows"),
  FlowsMissed: section('An address came without its flows'),
  KernelRefused: section('A node cannot do an entry'),
  ProxyUnavailable: section('A node cannot do an entry'),
  AnnounceFailed: section('A node does not announce'),
  WithdrawFailed: section('A node does not announce'),
  NoNodeAvailable: section('No node can take a load balancer'),
  FeatureUnavailable: section('No node can take a load balancer'),
  NoPoolNumber: section('No node can take a load balancer'),
  WaitingForPlan: section('Nothing is planned'),
  OverShare: section('A network wants more than its share'),
  MembersDown: section('Members are down'),
  AllMembersDown: section('Members are down'),
  Exhausted: section('A pool of addresses runs out'),
}

/** The anchor of the runbook's section about a code; null where there is none. */
export const runbookOf = (code: string): string | null => SECTIONS[code] ?? null
