import { base64, bytes } from './helper-bytes.ts'
import type { Reply } from './helper-channel.ts'
import { HelperProcess, type NativeHelperOptions } from './helper-process.ts'
import type { ConntrackCount, ConntrackDelete } from './helper-protocol/conntrack.ts'
import type { InNetns } from './helper-protocol/in-netns.ts'
import type {
  AddrChanges,
  LinkAddress,
  LinkRef,
  Route,
  RouteChanges,
  RouteTableRef,
  Traffic,
} from './helper-protocol/interfaces.ts'
import type { AddressClaim, Announce, ArpProbe, ArpProbeResult, Defend } from './helper-protocol/neighbours.ts'
import type {
  NftBatch,
  NftCount,
  NftCounters,
  NftGeneration,
  NftGet,
  NftTableRef,
  NftText,
} from './helper-protocol/nftables.ts'
import type {
  Connect,
  ConnectResult,
  Ping,
  PingResult,
  Sctp,
  SctpResult,
  Udp,
  UdpResult,
} from './helper-protocol/probes.ts'
import type { ClockState, HelperStats, TimeSlice } from './helper-protocol/processes.ts'
import { arpProbeResult, connectResult, nftCounts, pingResult, sctpResult, udpResult } from './helper-results.ts'
import { nftBatchLines } from './nft-batch-lines.ts'

/**
 * The native helper as typed calls. Owns the child process. When it dies, calls in progress, and calls before it is
 * back, reject with `HelperLost`. It is restarted, and the listeners of `onRestart` are called.
 *
 * Every method rejects with `HelperError` if the helper or the kernel refuses, and with `HelperLost` if the helper is
 * gone. Calls for one namespace are executed in order.
 */
export class NativeHelper {
  readonly #process: HelperProcess
  readonly #claimListeners: Set<(claim: AddressClaim) => void>

  private constructor(process: HelperProcess, claimListeners: Set<(claim: AddressClaim) => void>) {
    this.#process = process
    this.#claimListeners = claimListeners
  }

  /** Starts the helper and checks its protocol version. Rejects if it cannot be started. */
  static async start(options: NativeHelperOptions): Promise<NativeHelper> {
    const listeners = new Set<(claim: AddressClaim) => void>()
    const process = await HelperProcess.start(options, ({ event, ...fields }) => {
      if (event === 'claim') for (const listener of listeners) listener(fields as unknown as AddressClaim)
    })
    return new NativeHelper(process, listeners)
  }

  /** The helper's process id; null while it is not running. */
  get pid(): number | null {
    return this.#process.pid
  }

  /** Calls the listener whenever a new helper process has replaced a dead one. @returns a function that unsubscribes */
  onRestart(listener: () => void | Promise<void>): () => void {
    return this.#process.onRestart(listener)
  }

  /** Ends the helper. Calls in progress reject with `HelperLost`. */
  close(): Promise<void> {
    return this.#process.close()
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
    await this.#process.channel.batch(nftBatchLines(request))
  }

  /** One element's value (empty for a set), null if it does not exist. Never dumps. */
  async nftGet(request: NftGet): Promise<Uint8Array | null> {
    const reply = await this.#call('nft-get', { ...request, key: base64(request.key) })
    return reply.found === true ? bytes(reply.data) : null
  }

  /** Counters of elements, in the order of the keys; zeroes for a missing key. Never dumps. */
  async nftCounters({ keyBytes, keys, ...request }: NftCounters): Promise<readonly NftCount[]> {
    return nftCounts(await this.#call('nft-counters', { ...request, key: keyBytes, elements: base64(keys) }))
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
    return arpProbeResult(await this.#probe('arp-probe', request))
  }

  /** TCP connect, optionally with TLS and one exchange. A target that does not answer is a result and not an error. */
  async connect(request: Connect, signal?: AbortSignal): Promise<ConnectResult> {
    const send = request.send === undefined ? undefined : base64(request.send)
    return connectResult(await this.#probe('connect', { ...request, send }, signal))
  }

  /** Sends an ICMP or ICMPv6 echo request. @param signal cancels the probe, here and in the other probes */
  async ping(request: Ping, signal?: AbortSignal): Promise<PingResult> {
    return pingResult(await this.#probe('ping', request, signal))
  }

  /** Sends an empty datagram: it is answered, refused, or nothing comes back. */
  async udp(request: Udp, signal?: AbortSignal): Promise<UdpResult> {
    return udpResult(await this.#probe('udp', request, signal))
  }

  /** Sends an INIT: whether the endpoint would accept an SCTP association. None is established. */
  async sctp(request: Sctp, signal?: AbortSignal): Promise<SctpResult> {
    return sctpResult(await this.#probe('sctp', request, signal))
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

  /** The state of the kernel's clock, which all namespaces share. */
  async clockState(): Promise<ClockState> {
    return { synchronised: (await this.#call('clock-state', {})).synchronised === true }
  }

  /** The helper's counters since it was started. */
  async stats(): Promise<HelperStats> {
    const { requests, netlinkMessages, transactions, probesInFlight } = (await this.#call('stats', {})) as Reply &
      HelperStats
    return { requests, netlinkMessages, transactions, probesInFlight }
  }

  async #call(op: string, fields: object): Promise<Reply> {
    return this.#process.channel.call(op, fields)
  }

  async #probe(op: string, fields: object, signal?: AbortSignal): Promise<Reply> {
    return this.#process.channel.probe(op, fields, signal)
  }
}
