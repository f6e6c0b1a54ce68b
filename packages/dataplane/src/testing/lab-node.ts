import { fileURLToPath } from 'node:url'
import { deleteNetns, type Log, NativeHelper } from '@spout/sys'
import { L2Announcer } from '../announcers/l2/l2-announcer.ts'
import type { DomainConfig } from '../domain/domain-config.ts'
import { DomainSet } from '../domain/domain-set.ts'
import type { Arrangement } from './arrangement.ts'
import { type FindProxyPort, PacketPath } from './packet-path.ts'

export const HELPER_PATH = fileURLToPath(new URL('../../../../native/build/spout-helper', import.meta.url))

export const silent: Log = { debug: () => {}, info: () => {}, warn: () => {} }

/** The data plane of one node of the arrangement, as an agent would compose it. */
export class LabNode {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly domains: DomainSet
  readonly driver: PacketPath
  readonly announcer: L2Announcer

  private constructor(
    config: DomainConfig,
    helper: NativeHelper,
    findProxyPort: FindProxyPort,
    leftoversGraceMs: number,
  ) {
    this.config = config
    this.helper = helper
    const options = { config, helper, log: silent, leftoversGraceMs }
    this.domains = new DomainSet(options)
    this.driver = new PacketPath({ ...options, findProxyPort })
    this.announcer = new L2Announcer(options)
  }

  /** An agent on `place`. Nothing is adopted yet. */
  static async start(
    arrangement: Arrangement,
    place: string,
    findProxyPort: FindProxyPort = () => null,
    leftoversGraceMs = 0,
    further: Partial<DomainConfig> = {},
  ): Promise<LabNode> {
    const helper = await NativeHelper.start({ path: HELPER_PATH, log: silent })
    const segments = { red: 'red0', blue: 'blue0' }
    const rootNamespace = arrangement.namespace(place)
    return new LabNode(
      { instance: arrangement.instanceOf(place), fabricInterface: 'fab0', segments, rootNamespace, ...further },
      helper,
      findProxyPort,
      leftoversGraceMs,
    )
  }

  /** What an agent's death leaves: everything in the kernel, nothing here. */
  async die(): Promise<void> {
    await this.helper.close()
  }

  /** The end of a test: the domains of these numbers go, whatever this process knows of them. */
  async end(domains: readonly number[]): Promise<void> {
    await this.die()
    for (const number of domains) await deleteNetns(`${this.config.instance}-d${number}`)
  }
}
