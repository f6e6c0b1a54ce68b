import { execOk } from './exec.ts'
import { netnsPath, runIn } from './netns.ts'

/** A network interface by name, in a namespace by name; null is the namespace of this process. */
export interface LinkName {
  readonly netns: string | null
  readonly name: string
}

/** An interface in the output of `ip -json -details link`, as far as it is used here. */
export interface Link {
  readonly name: string
  readonly index: number
  readonly mac: string
  readonly up: boolean
  readonly mtu: number
  /** `veth`, `macvlan`, `vlan`, `bridge`; null for physical ones. */
  readonly kind: string | null
}

const LINK_NAME = /^[a-z][a-z0-9._-]{0,14}$/
const SYSCTL = /^net(\.[a-z0-9_*-]+)+$/

/** The interface; null if it does not exist. */
export async function findLink(link: LinkName): Promise<Link | null> {
  return (await listLinks(link.netns)).find((found) => found.name === link.name) ?? null
}

export async function listLinks(netns: string | null): Promise<readonly Link[]> {
  const rows = JSON.parse(await execOk(ip(netns, '-json', '-details', 'link', 'show'))) as readonly IpLink[]
  return rows.map((row) => ({
    name: row.ifname,
    index: row.ifindex,
    mac: row.address ?? '',
    up: row.flags.includes('UP'),
    mtu: row.mtu,
    kind: row.linkinfo?.info_kind ?? null,
  }))
}

/** Creates a veth pair if necessary and sets both ends up. If one end exists, so does the other. */
export async function ensureVeth(one: LinkName, other: LinkName): Promise<void> {
  checkNames(one, other)
  // If one end is in this process's namespace, the pair is created there: that namespace has no name by which it could
  // be the target.
  const [near, far] = one.netns === null ? [one, other] : [other, one]
  if ((await findLink(near)) === null) {
    const target = far.netns === null ? [] : ['netns', far.netns]
    await execOk(ip(near.netns, 'link', 'add', 'name', near.name, 'type', 'veth', 'peer', 'name', far.name, ...target))
  }
  await setUp(one)
  await setUp(other)
}

/** Creates a macvlan (mode bridge) on `parent`, which is in the namespace of this process. */
export async function ensureMacvlan(link: LinkName, parent: string): Promise<void> {
  await ensureOver(link, parent, ['macvlan', 'mode', 'bridge'])
}

/** Creates an 802.1Q sub-interface of `parent`, which is in the namespace of this process. */
export async function ensureVlan(link: LinkName, parent: string, id: number): Promise<void> {
  if (!Number.isInteger(id) || id < 1 || id > 4094) throw new RangeError(`VLAN ${id} is not from 1 to 4094`)
  await ensureOver(link, parent, ['vlan', 'id', String(id)])
}

/** Removes the interface, if it exists. */
export async function deleteLink(link: LinkName): Promise<void> {
  if ((await findLink(link)) !== null) await execOk(ip(link.netns, 'link', 'delete', 'dev', link.name))
}

export async function setUp(link: LinkName): Promise<void> {
  await execOk(ip(link.netns, 'link', 'set', 'dev', link.name, 'up'))
}

/** Sets kernel parameters below `net.` in a namespace. */
export async function setSysctls(
  netns: string | null,
  values: Readonly<Record<string, string | number>>,
): Promise<void> {
  const settings = Object.entries(values).map(([name, value]) => {
    if (!SYSCTL.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a network parameter`)
    return `${name}=${value}`
  })
  if (settings.length > 0) await runIn(netns, ['sysctl', '-q', '-w', ...settings])
}

interface IpLink {
  readonly ifname: string
  readonly ifindex: number
  readonly address?: string
  readonly flags: readonly string[]
  readonly mtu: number
  readonly linkinfo?: { readonly info_kind?: string }
}

async function ensureOver(link: LinkName, parent: string, type: readonly string[]): Promise<void> {
  checkNames(link, { netns: null, name: parent })
  if ((await findLink(link)) === null) {
    const at = link.netns === null ? [] : ['netns', link.netns]
    // With `name` and `dev`, since a bare `a` or `s` would be read as a keyword.
    await execOk(['ip', 'link', 'add', 'link', parent, 'name', link.name, ...at, 'type', ...type])
  }
  await setUp(link)
}

function checkNames(...links: readonly LinkName[]): void {
  for (const { name } of links)
    if (!LINK_NAME.test(name))
      throw new RangeError(`${JSON.stringify(name)} is not a valid name of a network interface`)
}

function ip(netns: string | null, ...args: readonly string[]): readonly [string, ...string[]] {
  if (netns === null) return ['ip', ...args]
  netnsPath(netns)
  return ['ip', '-n', netns, ...args]
}
