import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DomainEntry, VrrpSettings } from '@spout/model/node-state'
import { deleteNetns, NativeHelper } from '@spout/sys'
import { VrrpAnnouncer } from '../../announcers/vrrp/vrrp-announcer.ts'
import type { Announcement } from '../../contracts/announcer.ts'
import type { DomainConfig } from '../../domain/domain-config.ts'
import { DomainSet } from '../../domain/domain-set.ts'
import type { Arrangement } from '../arrangement.ts'
import { HELPER_PATH, silent } from '../lab-node.ts'

export const MOVER_PATH = fileURLToPath(new URL('../../../../../native/build/spout-mover', import.meta.url))

const never = new AbortController().signal

/** A node of the arrangement with a VRRP announcer whose daemons outlive it, as an agent would compose it. */
export class VrrpNode {
  readonly place: string
  readonly directory: string
  readonly config: DomainConfig
  /** Of the announcers that are started from now on; tests of other things want none. */
  dampMs = 0
  keepalivedPath: string | undefined
  readonly #arrangement: Arrangement
  #helper: NativeHelper | null = null
  #announcer: VrrpAnnouncer | null = null

  constructor(arrangement: Arrangement, place: string, fabricInterface = 'fab0') {
    this.#arrangement = arrangement
    this.place = place
    this.directory = mkdtempSync(join(tmpdir(), 'spout-vrrp-'))
    const rootNamespace = arrangement.namespace(place)
    const instance = arrangement.instanceOf(place)
    this.config = { instance, fabricInterface, segments: { red: 'red0', blue: 'blue0' }, rootNamespace }
  }

  get announcer(): VrrpAnnouncer {
    if (this.#announcer === null) throw new Error(`no agent runs on ${this.place}`)
    return this.#announcer
  }

  /** A new agent; the one before is dropped as it stood. */
  startAgent(): Promise<VrrpAnnouncer> {
    return this.startAgentIn(this.directory)
  }

  /** With the directory of another. */
  async startAgentIn(directory: string): Promise<VrrpAnnouncer> {
    await this.dropAgent()
    this.#helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
    const { config, dampMs, keepalivedPath } = this
    const parts = { config, helper: this.#helper, log: silent, directory, moverPath: MOVER_PATH }
    const options = { ...parts, dampMs, keepalivedPath }
    this.#announcer = new VrrpAnnouncer(options)
    return this.#announcer
  }

  /** The death of the agent: nothing it started ends. */
  async dropAgent(): Promise<void> {
    await this.#announcer?.close()
    await this.#helper?.close()
    this.#announcer = null
    this.#helper = null
  }

  async addDomain(domain: DomainEntry): Promise<void> {
    const domains = new DomainSet({ config: this.config, helper: this.#helper!, log: silent, leftoversGraceMs: 0 })
    await domains.adopt([])
    await domains.apply({ put: [domain], remove: [] }, never)
  }

  /** What this node answers for on its interface: addresses, and IPv6 ones that it is a proxy for, as the kernel has them. */
  async addresses(scope: Announcement['scope'] = 'fabric'): Promise<readonly string[]> {
    const inside = scope === 'fabric' ? '' : `nsenter --net=/run/netns/${this.config.instance}-d1 `
    const dev = scope === 'fabric' ? this.config.fabricInterface : 'segment'
    const text = await this.#arrangement.run(this.place, `${inside}ip -json address show dev ${dev}`)
    const proxied = await this.#arrangement.run(this.place, `${inside}ip -6 -json neighbour show proxy dev ${dev}`)
    const [link] = JSON.parse(text) as { addr_info: { local: string }[] }[]
    const neighbours = JSON.parse(proxied || '[]') as { dst: string }[]
    return [...(link?.addr_info ?? []).map(({ local }) => local), ...neighbours.map(({ dst }) => dst)]
  }

  /** The end of a test: nothing of it is left. */
  async end(domains: readonly number[] = []): Promise<void> {
    if (this.#announcer === null) await this.startAgent()
    await this.announcer.configure(null, never)
    await this.dropAgent()
    for (const number of domains) await deleteNetns(`${this.config.instance}-d${number}`)
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Settings of one of two nodes, each the first of one shard; patient, because tests share the machine with others. */
export function pairSettings(node: 1 | 2, fields: Partial<VrrpSettings> = {}): VrrpSettings {
  return {
    source: `10.9.0.${node}`,
    peers: [`10.9.0.${3 - node}`],
    advertMs: 20,
    missedAdverts: 25,
    shards: [
      { number: 1, routerId: 61, priority: node === 1 ? 254 : 200 },
      { number: 2, routerId: 62, priority: node === 1 ? 200 : 254 },
    ],
    yield: false,
    ...fields,
  }
}
