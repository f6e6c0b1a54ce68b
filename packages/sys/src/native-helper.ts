import { systemClock } from '@spout/runtime/clock'
import { Mutex } from '@spout/runtime/mutex'
import { HelperChannel, type Reply } from './helper-channel.ts'
import type { Log } from './log.ts'
import {
  type AddrChanges,
  type AddressClaim,
  type Announce,
  type ArpProbe,
  type ArpProbeResult,
  type Connect,
  type ConnectResult,
  type ConntrackCount,
  type ConntrackDelete,
  type Defend,
  HelperError,
  HelperLost,
  type HelperStats,
  type InNetns,
  type LinkAddress,
  type LinkRef,
  type NftBatch,
  type NftCount,
  type NftCounters,
  type NftGeneration,
  type NftGet,
  type NftTableRef,
  type NftText,
  type Ping,
  type PingResult,
  type Route,
  type RouteChanges,
  type RouteTableRef,
  type Sctp,
  type SctpResult,
  type TimeSlice,
  type Traffic,
  type Udp,
  type UdpResult,
} from './native-protocol.ts'
import { nftBatchLines } from './nft-batch-lines.ts'
import { Supervisor } from './supervisor.ts'

const PROTOCOL_VERSION = 1

export interface NativeHelperOptions {
  /** The executable. */
  readonly path: string
  readonly log: Log
  /**
   * Maximum of `connect`, `ping`, `udp`, `sctp` and `arp-probe` requests at the helper at a time; others wait. Default
   * 4096.
   */
  readonly maxProbes?: number
}

/**
 * The native helper as typed calls. Owns the child process. When it dies, calls in progress, and calls before it is
 * back, reject with `HelperLost`. It is restarted, and the listeners of `onRestart` are called.
 *
 * Every method rejects with `HelperError` if the helper or the kernel refuses, and with `HelperLost` if the helper is
 * gone. Calls for one namespace are executed in order.
 */
export class NativeHelper {
  readonly #options: NativeHelperOptions
  readonly #listeners = new Set<() => void | Promise<void>>()
  readonly #claimListeners = new Set<(claim: AddressClaim) => void>()
  readonly #supervisor: Supervisor
  #channel: HelperChannel | null = null
  #closed = false

  private constructor(options: NativeHelperOptions) {
    this.#options = options
    this.#supervisor = new Supervisor({
      name: 'native helper',
      log: options.log,
      clock: systemClock,
      mutex: new Mutex(),
      start: () => this.#reopen(),
    })
  }

  /** Starts the helper and checks its protocol version. Rejects if it cannot be started. */
  static async start(options: NativeHelperOptions): Promise<NativeHelper> {
    const helper = new NativeHelper(options)
    await helper.#open()
    return helper
  }

  /** The helper's process id; null while it is not running. */
  get pid(): number | null {
    return this.#channel?.pid ?? null
  }

  /** Calls the listener whenever a new helper process has replaced a dead one. @returns a function that unsubscribes */
  onRestart(listener: () => void | Promise<void>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends the helper. Calls in progress reject with `HelperLost`. */
  async close(): Promise<void> {
    this.#closed = true
    this.#supervisor.close()
    await this.#channel?.close()
  }

  /**
   * Runs nft commands as one transaction. Only for skeletons: tables, chains, rules, empty maps. Never lists, resets or
   * redefines a loaded map, since libnftables would fetch every element.
   */
  async nftText(request: NftText): Promise<void> {
    await this.#call('nft-text', request)
  }

  /**
   * Changes elements, and before that tables if there is `text`, in one atomic transaction of any size. The error names
   * the refused change and record; neither if the text is refused.
   */
  async nftBatch(request: NftBatch): Promise<void> {
    await this.#running().batch(nftBatchLines(request))
  }

  /** One element's value (empty for a set), null if it does not exist. Never dumps. */
  async nftGet(request: NftGet): Promise<Uint8Array | null> {
    const reply = await this.#call('nft-get', { ...request, key: base64(request.key) })
    return reply.found === true ? bytes(reply.data) : null
  }

  /** Counters of elements, in the order of the keys; zeroes for a missing key. Never dumps. */
  async nftCounters({ keyBytes, keys, ...request }: NftCounters): Promise<readonly NftCount[]> {
    const reply = await this.#call('nft-counters', { ...request, key: keyBytes, elements: base64(keys) })
    const counts = new BigUint64Array(Uint8Array.from(bytes(reply.counters)).buffer)
    return Array.from({ length: counts.length / 2 }, (_, index) => ({
      packets: Number(counts[2 * index]),
      bytes: Number(counts[2 * index + 1]),
    }))
  }

  /** Whether the table exists, and its comment. */
  async nftGeneration(request: NftTableRef): Promise<NftGeneration> {
    const reply = await this.#call('nft-generation', request)
    return { exists: reply.exists === true, comment: (reply.comment as string | undefined) ?? null }
  }

  /**
   * Adds and deletes addresses. Tries every change; one that is already in effect is no error. See
   * `HelperError.refused`.
   */
  async addr(request: AddrChanges): Promise<void> {
    await this.#call('addr', request)
  }

  /** The addresses of an interface, of both families. */
  async addrList(request: LinkRef): Promise<readonly LinkAddress[]> {
    return (await this.#call('addr-list', request)).addresses as LinkAddress[]
  }

  /** The interface index. An interface that is created again under the same name has another one. */
  async linkIndex(request: LinkRef): Promise<number> {
    return (await this.#call('link', request)).link as number
  }

  /** Replaces and deletes routes. Tries every change; deleting a missing route is no error. */
  async route(request: RouteChanges): Promise<void> {
    await this.#call('route', request)
  }

  /** The routes of one table, of both families. */
  async routeList(request: RouteTableRef): Promise<readonly Route[]> {
    return (await this.#call('route-list', request)).routes as Route[]
  }

  /**
   * A change mark for the addresses, routes and interfaces of a namespace. While it stays the same, only this helper
   * has changed them, so they need not be listed. Its cost does not depend on their number. The kernel does not tell
   * who changed an IPv6 address, so such a change always counts as somebody else's.
   */
  async rtnlMark(request: InNetns): Promise<string> {
    return (await this.#call('rtnl-mark', request)).mark as string
  }

  /**
   * Sends gratuitous ARP and unsolicited NA. Resolves when the first round is sent. A later call for an address
   * replaces it.
   */
  async announce(request: Announce): Promise<void> {
    await this.#call('announce', request)
  }

  /**
   * Defends addresses: when another host on the segment claims one, announces it again, at most once in 10 s (RFC 5227
   * section 2.4), and calls the listeners of `onClaim`. Adding an address that is defended already changes nothing.
   */
  async defend(request: Defend): Promise<void> {
    await this.#call('defend', request)
  }

  /**
   * Calls the listener for each claim that was answered, at most 100 times a second and interface. A restarted helper
   * defends nothing. The listener must not throw. @returns a function that unsubscribes
   */
  onClaim(listener: (claim: AddressClaim) => void): () => void {
    this.#claimListeners.add(listener)
    return () => this.#claimListeners.delete(listener)
  }

  /** Whether another host on the segment answers for an address (RFC 5227 probe, RFC 4862 neighbour solicitation). */
  async arpProbe(request: ArpProbe): Promise<ArpProbeResult> {
    const reply = await this.#probe('arp-probe', request)
    return reply.answered === true ? { answered: true, mac: reply.mac as string } : { answered: false }
  }

  /** TCP connect, optionally with TLS and one exchange. A target that does not answer is a result and not an error. */
  async connect(request: Connect, signal?: AbortSignal): Promise<ConnectResult> {
    const send = request.send === undefined ? undefined : base64(request.send)
    const reply = await this.#probe('connect', { ...request, send }, signal)
    const durationMs = (reply.us as number) / 1000
    return reply.connected === true
      ? {
          connected: true,
          received: bytes(reply.received),
          end: reply.end as (ConnectResult & { connected: true })['end'],
          ...(reply.end === 'tls'
            ? { tls: { reason: reply.reason as string, alert: (reply.alert as number | undefined) ?? null } }
            : {}),
          durationMs,
        }
      : { connected: false, reason: reply.reason as string, durationMs }
  }

  /** Sends an ICMP or ICMPv6 echo request. @param signal cancels the probe; its result is ignored then. Also below */
  async ping(request: Ping, signal?: AbortSignal): Promise<PingResult> {
    const reply = await this.#probe('ping', request, signal)
    return reply.answered === true
      ? { answered: true, durationMs: (reply.us as number) / 1000 }
      : { answered: false, reason: reply.reason as string }
  }

  /** Sends an empty datagram: it is answered, refused, or nothing comes back. */
  async udp(request: Udp, signal?: AbortSignal): Promise<UdpResult> {
    const reply = await this.#probe('udp', request, signal)
    const durationMs = (reply.us as number) / 1000
    return reply.answered === true
      ? { answered: true, durationMs }
      : { answered: false, reason: reply.reason as string, durationMs }
  }

  /** Sends an INIT: whether the endpoint would accept an SCTP association. None is established. */
  async sctp(request: Sctp, signal?: AbortSignal): Promise<SctpResult> {
    const reply = await this.#probe('sctp', request, signal)
    const durationMs = (reply.us as number) / 1000
    return reply.accepted === true
      ? { accepted: true, durationMs }
      : {
          accepted: false,
          reason: reply.reason as string,
          cause: (reply.cause as number | undefined) ?? null,
          durationMs,
        }
  }

  /** Deletes flows of services, all of them or those of some members; resolves with their number. */
  async conntrackDelete(request: ConntrackDelete): Promise<number> {
    return (await this.#call('conntrack-delete', request)).deleted as number
  }

  /** The number of tracked flows in a namespace. Its cost does not depend on their number. */
  async conntrackCount(request: InNetns): Promise<ConntrackCount> {
    const { flows, most } = await this.#call('conntrack-count', request)
    return { flows: flows as number, most: most as number }
  }

  /** The traffic of an interface since it was created. */
  async traffic(request: LinkRef): Promise<Traffic> {
    const { packetsIn, bytesIn, packetsOut, bytesOut } = (await this.#call('traffic', request)) as Reply & Traffic
    return { packetsIn, bytesIn, packetsOut, bytesOut }
  }

  /** Sets the time slice of a process with one thread. Kernels before 6.12 accept it but ignore it. */
  async timeSlice(request: TimeSlice): Promise<void> {
    await this.#call('time-slice', request)
  }

  /** The helper's counters since it was started. */
  async stats(): Promise<HelperStats> {
    const { requests, netlinkMessages, transactions, probesInFlight } = (await this.#call('stats', {})) as Reply &
      HelperStats
    return { requests, netlinkMessages, transactions, probesInFlight }
  }

  #running(): HelperChannel {
    if (this.#channel === null) throw new HelperLost('the native helper is not running')
    return this.#channel
  }

  async #call(op: string, fields: object): Promise<Reply> {
    return this.#running().call(op, fields)
  }

  async #probe(op: string, fields: object, signal?: AbortSignal): Promise<Reply> {
    return this.#running().probe(op, fields, signal)
  }

  async #open(): Promise<void> {
    const channel = HelperChannel.spawn(
      this.#options.path,
      this.#options.log,
      this.#options.maxProbes ?? 4096,
      (event) => this.#tell(event),
    )
    try {
      const { version } = await channel.call('hello', {})
      if (version !== PROTOCOL_VERSION)
        throw new HelperError(`the native helper speaks protocol ${version}, not ${PROTOCOL_VERSION}`)
    } catch (error) {
      await channel.close()
      throw error
    }
    if (this.#closed) return channel.close()
    this.#channel = channel
    this.#supervisor.started()
    channel.onLost((reason) => {
      this.#channel = null
      this.#supervisor.lost({ reason })
    })
  }

  #tell({ event, ...fields }: Reply): void {
    if (event === 'claim') for (const listener of this.#claimListeners) listener(fields as unknown as AddressClaim)
  }

  async #reopen(): Promise<void> {
    await this.#open()
    if (this.#closed) return
    this.#options.log.info({ pid: this.pid }, 'the native helper was restarted')
    // One that hangs must not keep the next restart waiting.
    void this.#tellRestart()
  }

  async #tellRestart(): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener()
      } catch (error) {
        this.#options.log.warn({ error: String(error) }, 'a restart listener of the native helper failed')
      }
    }
  }
}

const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
const bytes = (text: unknown): Uint8Array => Buffer.from((text as string | undefined) ?? '', 'base64')
