import { basename } from 'node:path'
import { formatMac, type Ip, type Mac, parseIp } from '@spout/net'
import { TUNNELS } from '../../domain/domain-names.ts'
import { type Run, run } from '../../domain/run.ts'

/** A member behind routers, as the neighbour table of its tunnel has it. */
interface Neighbour {
  readonly address: string
  readonly dev: string
  readonly mac: string
}

/**
 * Neighbour entries that `fwd` uses in a domain's tunnels. Each member has a permanent neighbour, with a hardware
 * address computed from the member's own address, and a forwarding entry to it. The member's end of the tunnel has that
 * hardware address.
 */
export class TunnelNeighbours {
  readonly #namespace: string
  readonly #run: Run
  /** By address. */
  #there = new Map<string, Neighbour>()

  constructor(options: { readonly netns: string; readonly run?: Run }) {
    this.#namespace = basename(options.netns)
    this.#run = options.run ?? run
  }

  /** Takes over existing entries. */
  async adopt(): Promise<void> {
    this.#there = await this.#list()
  }

  /** Whether the added entries still exist. */
  async observe(): Promise<boolean> {
    if (this.#there.size === 0) return true
    const before = this.#there
    this.#there = await this.#list()
    return [...before.values()].every(({ address, mac }) => this.#there.get(address)?.mac === mac)
  }

  /** Adds the members. Their hardware addresses differ (`EndsOfTunnels`). */
  async add(addresses: Iterable<string>): Promise<void> {
    const missing = Array.from(new Set(addresses), neighbourOf).filter(({ address }) => !this.#there.has(address))
    await this.#change('replace', missing)
    for (const each of missing) this.#there.set(each.address, each)
  }

  /** Removes the entries of all other addresses. */
  async keepOnly(addresses: ReadonlySet<string>): Promise<void> {
    const extra = [...this.#there.values()].filter(({ address }) => !addresses.has(address))
    try {
      await this.#change('del', extra)
      for (const { address } of extra) this.#there.delete(address)
    } catch (error) {
      // If the tunnel is gone, so are they.
      this.#there = await this.#list()
      if (extra.some(({ address }) => this.#there.has(address))) throw error
    }
  }

  async #change(action: 'replace' | 'del', neighbours: readonly Neighbour[]): Promise<void> {
    if (neighbours.length === 0) return
    const where = neighbours.map(({ address, dev, mac }) => `fdb ${action} ${mac} dev ${dev} dst ${address}`)
    const who = neighbours.map(({ address, dev, mac }) =>
      action === 'del'
        ? `neigh del ${address} dev ${dev}`
        : `neigh replace ${address} lladdr ${mac} dev ${dev} nud permanent`,
    )
    await this.#run('bridge', ['-n', this.#namespace, '-batch', '-'], `${where.join('\n')}\n`)
    await this.#run('ip', ['-n', this.#namespace, '-batch', '-'], `${who.join('\n')}\n`)
  }

  /** Addresses that have both parts of a neighbour; none if the tunnel does not exist. */
  async #list(): Promise<Map<string, Neighbour>> {
    const found = new Map<string, Neighbour>()
    for (const dev of Object.values(TUNNELS)) {
      const at = ['-n', this.#namespace, '-j']
      const neighbours = await this.#read<KnownNeighbour>('ip', [
        ...at,
        'neigh',
        'show',
        'dev',
        dev,
        'nud',
        'permanent',
      ])
      const ends = await this.#read<KnownEnd>('bridge', [...at, 'fdb', 'show', 'dev', dev])
      const whole = new Set(ends.map(({ dst, mac }) => `${dst} ${mac}`))
      for (const { dst: address, lladdr: mac } of neighbours)
        if (whole.has(`${address} ${mac}`)) found.set(address, { address, dev, mac })
    }
    return found
  }

  async #read<Row>(program: string, args: readonly string[]): Promise<readonly Row[]> {
    const text = await this.#run(program, args).catch((error: unknown) => {
      if (/Cannot find device|does not exist/.test(String(error))) return ''
      throw error
    })
    return JSON.parse(text || '[]') as readonly Row[]
  }
}

/** Decides which tunnel ends may exist together: a frame is sent by its hardware address. */
export class EndsOfTunnels {
  readonly #holders = new Map<string, string>()

  /** Takes all of them, or none and returns why. */
  take(addresses: readonly string[]): string | null {
    const macs = addresses.map((address) => [tunnelMac(parseIp(address)), address] as const)
    const own = new Map(macs)
    for (const [mac, address] of macs) {
      const other = [this.#holders.get(mac), own.get(mac)].find((holder) => holder !== undefined && holder !== address)
      if (other !== undefined)
        return `members ${address} and ${other} end in the same 40 bits: only one can be reached by tunnel`
    }
    for (const [mac, address] of macs) this.#holders.set(mac, address)
    return null
  }
}

interface KnownNeighbour {
  readonly dst: string
  readonly lladdr: string
}

interface KnownEnd {
  readonly mac: string
  readonly dst?: string
}

const neighbourOf = (address: string): Neighbour => {
  const ip = parseIp(address)
  return { address, dev: TUNNELS[ip.version], mac: tunnelMac(ip) }
}

/** Locally administered: 02, then the last 40 bits of the member's address (for IPv4, 00 and the whole address). */
export const tunnelMac = ({ value }: Ip): string => formatMac(((0x02n << 40n) | (value & 0xff_ffff_ffffn)) as Mac)
