import type { BgpPeerSpec } from '@spout/custom-resources'
import { asNumber } from '@spout/model'
import { AddressSyntaxError, formatIp, parseIp } from '@spout/net'
import { type Converted, madeOf } from '../convert.ts'
import { BadManifests, shown } from '../manifest.ts'
import { type Note, noteOf } from '../source.ts'
import { isOn, type Program } from './program.ts'

const GROUP = 'kube-vip-bgp'

/** A router, and the variables that name it. */
interface Router {
  readonly address: string
  readonly as: string
  readonly hasPassword: boolean
  readonly isFar: boolean
  readonly variable: string
}

/** `192.0.2.1:64512`, then perhaps a password, then perhaps whether it is several hops away. IPv6 is in brackets. */
const ENTRY = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)(?::([^:]*))?(?::(true|false))?$/

/** The node group of a kube-vip that speaks BGP, and its routers. @throws BadManifests */
export function bgpObjects(program: Program): readonly Converted[] {
  const { manifest } = program
  const routers = routersOf(program)
  const notes: Note[] = [
    noteOf(program, 'bgp_enable', 'a node of Spout is in one group, and all nodes of this one speak BGP'),
  ]
  if (routers.length === 0) notes.push(noteOf(program, 'bgp_peers', 'names no router: make a BgpPeer for each'))
  const localASN = asOf(program, 'bgp_as', program.env.get('bgp_as') ?? '')
  return [
    madeOf('NodeGroup', GROUP, { announcer: 'bgp', bgp: { localASN } }, [{ manifest }], notes),
    ...routers.map((router, index) => peerOf(program, router, index)),
  ]
}

function routersOf(program: Program): readonly Router[] {
  const { env, manifest } = program
  const listed = env.get('bgp_peers')
  if (listed !== undefined)
    return listed.split(',').map((text) => {
      const [, six, four, as = '', password = '', far] = ENTRY.exec(text.trim()) ?? []
      const address = six ?? four
      // What is refused may have a password in it.
      if (address === undefined)
        throw new BadManifests([`${whereOf({ manifest })}: bgp_peers: an entry is not like 192.0.2.1:64512`])
      return { address, as, hasPassword: password !== '', isFar: far === 'true', variable: 'bgp_peers' }
    })
  const address = env.get('bgp_peeraddress')
  if (address === undefined) return []
  const isFar = isOn(program, 'bgp_multihop')
  const [as, hasPassword] = [env.get('bgp_peeras') ?? '', env.has('bgp_peerpass')]
  return [{ address, as, hasPassword, isFar, variable: 'bgp_peeraddress' }]
}

function peerOf(program: Program, { address, as, hasPassword, isFar, variable }: Router, index: number): Converted {
  const notes = [noteOf(program, variable, 'BFD is off: say spec.bfd if the router has it')]
  if (hasPassword)
    notes.push(
      noteOf(
        program,
        variable,
        'the password is not carried over: make a template with it through the native API (spout bgp-peer create --template) and name it in spec.template',
      ),
    )
  if (isFar) notes.push(noteOf(program, variable, 'several hops become 255: set spec.hops to what the way has'))
  const spec: BgpPeerSpec = {
    peerAddress: addressOf(program, variable, address),
    peerASN: asOf(program, variable, as),
    ...(isFar ? { hops: 255 } : {}),
    ...timesOf(program, notes),
    bfd: { profile: 'none' },
    nodeGroups: [GROUP],
  }
  return madeOf('BgpPeer', `kube-vip-${index + 1}`, spec, [program], notes)
}

function timesOf(program: Program, notes: Note[]): Pick<BgpPeerSpec, 'holdTimeSeconds' | 'keepaliveTimeSeconds'> {
  const seconds = (name: string): number | undefined => {
    const text = program.env.get(name)
    if (text === undefined || /^[0-9]{1,5}$/.test(text)) return text === undefined ? undefined : Number(text)
    notes.push(noteOf(program, name, `${shown(text)} is no whole number of seconds: left out`))
    return undefined
  }
  const [hold, keepalive] = [seconds('bgp_hold_time'), seconds('bgp_keepalive_interval')]
  if (hold === undefined || hold < 3) {
    notes.push(noteOf(program, 'bgp_hold_time', 'is not said, or too short: 9 s here'))
    return {}
  }
  const fits = keepalive !== undefined && keepalive >= 1 && 3 * keepalive <= hold
  if (keepalive !== undefined && !fits)
    notes.push(noteOf(program, 'bgp_keepalive_interval', 'is more than a third of the hold time: a third is taken'))
  return { holdTimeSeconds: hold, keepaliveTimeSeconds: fits ? keepalive : Math.floor(hold / 3) }
}

const whereOf = ({ manifest: { where, kind, name } }: Pick<Program, 'manifest'>): string => `${where} (${kind} ${name})`

function asOf(program: Program, name: string, text: string): number {
  const result = asNumber.safeParse(/^[0-9]+$/.test(text) ? Number(text) : null)
  if (result.success) return result.data
  throw new BadManifests([`${whereOf(program)}: ${name}: ${shown(text)} is no AS number that a router may have`])
}

function addressOf(program: Program, name: string, text: string): string {
  try {
    return formatIp(parseIp(text))
  } catch (error) {
    if (!(error instanceof AddressSyntaxError)) throw error
    throw new BadManifests([`${whereOf(program)}: ${name}: ${error.message}`])
  }
}
