import { attach, type Conversion, type Converted, madeOf } from '../convert.ts'
import { BadManifests, type Manifest, shown } from '../manifest.ts'
import { allOf, isUnset } from '../parsed.ts'
import { type Note, noteOf } from '../source.ts'
import { bgpObjects } from './bgp.ts'
import { hasPools, poolObjects } from './pools.ts'
import { isOn, type Program, programOf } from './program.ts'

const NO_LEASE = 'no equivalent: the nodes settle among themselves who answers, also without the API server'
const NO_EQUIVALENT = 'no equivalent: left out'
const INTERFACE = 'is a setting of the agents: fabric.interface (fabricInterface of the chart)'

/** What is lost of a setting, or what it means here. Those that are read elsewhere, or are of the API server's address, are null. */
const SETTINGS: Readonly<Record<string, string | null>> = {
  ...{ vip_arp: null, bgp_enable: null, svc_enable: null, cp_enable: null, vip_nodename: null, vip_loglevel: null },
  ...{ address: null, vip_address: null, port: null, cp_namespace: null, cp_detect: null, kubernetes_addr: null },
  ...{ lb_enable: null, lb_port: null, lb_fwdmethod: null },
  ...{ bgp_as: null, bgp_peers: null, bgp_peeraddress: null, bgp_peeras: null, bgp_peerpass: null, bgp_multihop: null },
  ...{ bgp_hold_time: null, bgp_keepalive_interval: null },
  ...{ vip_interface: INTERFACE, vip_servicesinterface: INTERFACE },
  ...{ vip_leaderelection: NO_LEASE, vip_leasename: NO_LEASE, vip_leaseduration: NO_LEASE },
  ...{ vip_renewdeadline: NO_LEASE, vip_retryperiod: NO_LEASE, svc_election: NO_LEASE, svc_leasename: NO_LEASE },
  vip_cidr: 'no equivalent: each address is announced alone',
  vip_subnet: 'no equivalent: each address is announced alone',
  svc_namespace: 'is services.namespaces of the connector',
  lb_class_only: 'set services.className of the connector to the class, and services.isDefault to false',
  lb_class_name: 'is services.className of the connector',
  bgp_routerid: 'no equivalent: it is made from the address of the node',
  bgp_routerinterface: 'no equivalent: it is made from the address of the node',
  bgp_sourceif: 'no equivalent: a node speaks from its address on the fabric',
  bgp_sourceip: 'no equivalent: a node speaks from its address on the fabric',
  enable_service_security: 'always so: only the ports of Services are open',
  enable_node_labeling: 'no equivalent: spout vip list shows who has an address',
  prometheus_server: 'is metrics.listen of the agents',
}

/** What annotations of Services say to kube-vip; they mean nothing here. */
const ANNOTATION = 'kube-vip.io/'
const ANNOTATIONS: Readonly<Record<string, string>> = {
  loadbalancerIPs:
    'is not read: the Service keeps the address of its status, and asks for it later if you name it in spout.dev/load-balancer-ips',
  serviceInterface: INTERFACE,
}

/**
 * Converts the settings of kube-vip (a DaemonSet or static pods) to a node group and BGP peers, and the ConfigMap of its
 * cloud provider to pools. What Services say to kube-vip becomes notes: they keep their addresses.
 * @throws BadManifests for what kube-vip would not accept either
 */
export function convertKubeVip(manifests: readonly Manifest[]): Conversion {
  const maps = manifests.filter(hasPools)
  const services = manifests.filter(({ apiVersion, kind }) => apiVersion === 'v1' && kind === 'Service')
  const programs = allOf(manifests, programOf).filter((program) => program !== null)
  const known = new Set([...maps, ...services, ...programs.map(({ manifest }) => manifest)])
  const pools = allOf(maps, poolObjects)
  const groups = groupsOf(programs)
  const notes = [
    ...pools.flatMap((one) => one.notes),
    ...programs.flatMap(notesOfProgram),
    ...services.flatMap(notesOfService),
    ...manifests
      .filter((manifest) => !known.has(manifest))
      .map((manifest) => noteOf({ manifest }, null, 'is no configuration of kube-vip: left out')),
  ]
  return attach([...distinct(pools.flatMap((one) => one.objects)), ...groups], notes)
}

/** Static pods of several machines say the same: the first one counts. */
function groupsOf(programs: readonly Program[]): readonly Converted[] {
  const serving = programs.filter((program) => isOn(program, 'svc_enable'))
  const speaking = serving.find((program) => isOn(program, 'bgp_enable'))
  const answering = serving.find((program) => isOn(program, 'vip_arp'))
  const becomes = 'ARP becomes VRRP: the nodes of the group settle among themselves who answers'
  return [
    ...(answering === undefined
      ? []
      : [
          madeOf(
            'NodeGroup',
            'kube-vip-arp',
            { announcer: 'vrrp' },
            [answering],
            [noteOf(answering, 'vip_arp', becomes)],
          ),
        ]),
    ...(speaking === undefined ? [] : bgpObjects(speaking)),
  ]
}

function distinct(pools: readonly Converted[]): readonly Converted[] {
  const twins = pools.filter(({ object }, index) => {
    const { name } = object.metadata
    return pools.findIndex((other) => other.object.metadata.name === name) !== index
  })
  if (twins.length === 0) return pools
  throw new BadManifests(
    twins.map(({ object, from }) => `${from.join(', ')}: there is a pool ${object.metadata.name} already`),
  )
}

function notesOfProgram(program: Program): readonly Note[] {
  const notes: Note[] = []
  const note = (name: string, text: string) => notes.push(noteOf(program, name, text))
  if (!isOn(program, 'svc_enable')) note('svc_enable', 'is not on: this one serves no Services')
  else if (!isOn(program, 'vip_arp') && !isOn(program, 'bgp_enable'))
    note('svc_enable', 'neither vip_arp nor bgp_enable is on: its way of announcing has no equivalent')
  if (isOn(program, 'cp_enable'))
    note('cp_enable', 'the address of the API server is no Service: keep kube-vip for it, with svc_enable "false"')
  for (const [name, value] of program.env)
    if (!isUnset(value) && value !== 'false') {
      const said = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : NO_EQUIVALENT
      if (said != null) note(shown(name), said)
    }
  return notes
}

const notesOfService = (manifest: Manifest): readonly Note[] =>
  Object.keys(manifest.annotations)
    .filter((key) => key.startsWith(ANNOTATION))
    .map((key) => {
      const name = key.slice(ANNOTATION.length)
      const said = Object.hasOwn(ANNOTATIONS, name) ? ANNOTATIONS[name] : undefined
      return noteOf({ manifest }, `metadata.annotations[${shown(key)}]`, said ?? NO_EQUIVALENT)
    })
