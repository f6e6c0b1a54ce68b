import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../domain/run.ts'
import { type FlowsState, parseFlowsState } from '../../flows/flows-state.ts'
import type { Arrangement } from '../arrangement.ts'
import { sanitizerFindings, sanitizerOptions } from '../sanitizer-findings.ts'
import { startServers } from '../server-process.ts'

const NATIVE = path.resolve(import.meta.dirname, '../../../../../native')

/** What clients connect to and what members see, on whichever node answers for both. */
export const VIP = '10.9.0.100'
export const VIP6 = 'fd09::100'
export const SHARED = '10.0.0.50'
export const SHARED6 = 'fd01::50'
export const PORT = 7300
export const KEY = 'a5'.repeat(32)

const MIRROR = `
import socket, sys
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind((sys.argv[1], int(sys.argv[2])))
print('ready')
while True:
    data, sender = echo.recvfrom(2048)
    echo.sendto(data, sender)
`

const rulesTo = (member4: string, member6: string): string => `
table inet lab {
  chain prerouting {
    type nat hook prerouting priority dstnat
    ip daddr ${VIP} meta l4proto { tcp, udp } th dport 80 ct mark set 7 dnat ip to ${member4}:8080
    ip6 daddr ${VIP6} meta l4proto { tcp, udp } th dport 80 ct mark set 7 dnat ip6 to [${member6}]:8080
  }
  chain postrouting {
    type nat hook postrouting priority srcnat
    ct status dnat oifname "red0" ip daddr 10.0.0.0/24 snat ip to ${SHARED}
    ct status dnat oifname "red0" ip6 daddr fd01::/64 snat ip6 to ${SHARED6}
  }
}`

/**
 * A node of the arrangement that translates by itself, and the program under test in it. New flows of each node go to
 * another member, so whoever reaches the member of the other node does so by what was replicated.
 */
export class FlowNode implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(tmpdir(), `spt${process.pid}-flows-`))
  readonly place: string
  readonly #lab: Arrangement
  readonly #program: string
  readonly #last: number
  #child: ChildProcess | null = null

  private constructor(lab: Arrangement, last: number, program: string) {
    this.#lab = lab
    this.#last = last
    this.place = `node${last}`
    this.#program = path.join(NATIVE, 'build', program)
  }

  static async create(lab: Arrangement, last: 1 | 2, program: string): Promise<FlowNode> {
    const node = new FlowNode(lab, last, program)
    const inside = ['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']
    await node.exec(...inside, 'net.ipv6.conf.all.accept_dad=0')
    await node.ip(`address replace 10.0.0.25${last}/24 dev red0`, `address replace fd01::25${last}/64 dev red0 nodad`)
    // A link that was down has lost its IPv6 addresses.
    await node.ip(`address replace fd09::${last}/64 dev fab0 nodad`)
    await node.nft('flush ruleset', rulesTo(`10.0.0.1${last}`, `fd01::1${last}`))
    const liberal = ['nf_conntrack_tcp_be_liberal=1', 'nf_conntrack_tcp_timeout_time_wait=1']
    const short = ['nf_conntrack_tcp_timeout_close=1', 'nf_conntrack_tcp_timeout_last_ack=1']
    await node.exec('sysctl', '-qw', ...[...liberal, ...short].map((word) => `net.netfilter.${word}`))
    await node.exec('conntrack', '-F')
    return node
  }

  exec(...words: readonly string[]): Promise<string> {
    return run('ip', ['netns', 'exec', this.#lab.namespace(this.place), ...words])
  }

  async ip(...lines: readonly string[]): Promise<void> {
    await run('ip', ['-n', this.#lab.namespace(this.place), '-batch', '-'], lines.join('\n'))
  }

  async nft(...lines: readonly string[]): Promise<void> {
    await run('ip', ['netns', 'exec', this.#lab.namespace(this.place), 'nft', '-f', '-'], lines.join('\n'))
  }

  configure(lines: readonly string[] = this.lines()): void {
    const file = path.join(this.directory, 'config')
    writeFileSync(`${file}.new`, `${lines.join('\n')}\n`)
    renameSync(`${file}.new`, file)
  }

  lines(more: readonly string[] = []): readonly string[] {
    return [
      `listen 10.9.0.${this.#last} ${PORT}`,
      `peer 10.9.0.${3 - this.#last} ${PORT}`,
      `key ${KEY}`,
      ...more,
      `domain 7 /run/netns/${this.#lab.namespace(this.place)} ${SHARED} ${SHARED6}`,
    ]
  }

  /** Starts the program and waits for its first account. */
  async start(): Promise<void> {
    const before = this.state()?.pid
    const env = { ...process.env, ...sanitizerOptions(this.directory) }
    const words = ['netns', 'exec', this.#lab.namespace(this.place), this.#program, this.directory]
    this.#child = spawn('ip', words, { stdio: 'inherit', env })
    await until(
      () => (this.state()?.pid ?? before) !== before,
      () => `${this.#program} says nothing`,
    )
  }

  state(): FlowsState | null {
    try {
      return parseFlowsState(readFileSync(path.join(this.directory, 'state.json'), 'utf8'))
    } catch {
      return null
    }
  }

  counts(): { readonly local: number; readonly remote: number } {
    const { local, remote } = this.state()?.domains[0] ?? { local: -1, remote: -1 }
    return { local, remote }
  }

  async knows(counts: { readonly local: number; readonly remote: number }, withinMs = 10_000): Promise<void> {
    await until(
      () => this.counts().local === counts.local && this.counts().remote === counts.remote,
      () => `${this.place} knows ${JSON.stringify(this.state()?.domains)}, not ${JSON.stringify(counts)}`,
      withinMs,
    )
  }

  /** Ends the program so that it can say nothing more; `SIGTERM` lets it. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }

  /** `SIGSTOP` freezes the program, `SIGCONT` has it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.state()!.pid, signal)
  }

  /** Lets no datagram of the replication in; the next call with false does again. */
  async mute(isMute: boolean): Promise<void> {
    const table = 'inet mute'
    const drop = `table ${table} { chain in { type filter hook input priority 0; udp dport ${PORT} drop; }; }`
    await this.nft(`add table ${table}`, `delete table ${table}`, ...(isMute ? [drop] : []))
  }

  /** Sends every datagram of the replication back to who sent it, in place of the program, until it is disposed of. */
  async mirror(): Promise<AsyncDisposable> {
    const words = ['netns', 'exec', this.#lab.namespace(this.place), 'python3', '-uc', MIRROR]
    const child = await startServers(['ip', ...words, `10.9.0.${this.#last}`, `${PORT}`])
    const ended = new Promise((resolve) => child.once('exit', resolve))
    return {
      [Symbol.asyncDispose]: async () => {
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  /** Answers for the addresses, and for nobody else's. */
  async own(): Promise<void> {
    await this.ip(
      `address replace ${VIP}/32 dev fab0`,
      `address replace ${VIP6}/128 dev fab0 nodad`,
      `address replace ${SHARED}/32 dev red0`,
      `address replace ${SHARED6}/128 dev red0 nodad`,
    )
    // In place of gratuitous ARP and unsolicited NA, which are another's to test.
    for (const place of ['client', 'red1', 'red2'])
      await run('ip', ['-n', this.#lab.namespace(place), 'neighbour', 'flush', 'all'])
  }

  /** Answers for the addresses no more. */
  async letGo(): Promise<void> {
    await this.ip(
      `address delete ${VIP}/32 dev fab0`,
      `address delete ${VIP6}/128 dev fab0`,
      `address delete ${SHARED}/32 dev red0`,
      `address delete ${SHARED6}/128 dev red0`,
    )
  }

  /** The node is gone, without a word. */
  async die(): Promise<void> {
    await this.stop()
    await this.ip('link set dev fab0 down', 'link set dev red0 down')
  }

  /** Entries of connection tracking with the shared address, as `conntrack -L` prints them. */
  async entries(): Promise<readonly string[]> {
    const families = await Promise.all(['ipv4', 'ipv6'].map((family) => this.exec('conntrack', '-L', '-f', family)))
    return families.flatMap((text) => text.split('\n')).filter((line) => /dst=(10\.0\.0\.50|fd01::50) /.test(line))
  }

  /** In how many seconds its established connections expire. */
  async lifetimes(): Promise<readonly number[]> {
    return (await this.entries()).flatMap((line) => {
      const seconds = /^tcp\s+6 (\d+) ESTABLISHED/.exec(line)?.[1]
      return seconds === undefined ? [] : [Number(seconds)]
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGTERM')
    const said = sanitizerFindings(this.directory)
    rmSync(this.directory, { recursive: true, force: true })
    await this.nft('flush ruleset')
    await this.exec('conntrack', '-F')
    await this.ip('link set dev fab0 up', 'link set dev red0 up', 'address flush dev red0')
    for (const address of [VIP, VIP6]) await this.ip(`address delete ${address} dev fab0`).catch(() => undefined)
    if (said !== '') throw new Error(said)
  }
}

async function until(isSo: () => boolean, what: () => string, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(what())
    await sleep(20)
  }
}
