import { type ChildProcess, spawn } from 'node:child_process'
import readline from 'node:readline'
import { netnsPath, runIn } from '@spout/sys'

const BUCKETS = 128
/** A bucket moves to a new next hop only after it was idle so long: a flow that goes on stays. */
const IDLE_S = 60
const FIRST_ID = 1_000
/** Below the metrics of everything that a routing daemon would write. */
const METRIC = 16

interface Group {
  readonly id: number
  hops: readonly string[]
}

/**
 * Mirrors the routes of one kernel table into the main one by resilient next-hop groups: of a next hop that leaves only
 * its own buckets move. One group a prefix, changed in place. What a switch does in hardware.
 */
export class ResilientGroups {
  readonly #namespace: string
  readonly #table: number
  readonly #monitor: ChildProcess
  readonly #groups = new Map<string, Group>()
  /** Ids of single next hops, by `GATEWAY DEVICE`. */
  readonly #hops = new Map<string, number>()
  #nextId = FIRST_ID
  #pending = new Map<string, readonly string[]>()
  #working: Promise<void> | null = null

  private constructor(namespace: string, table: number, monitor: ChildProcess) {
    this.#namespace = namespace
    this.#table = table
    this.#monitor = monitor
  }

  /** Begins with what the table holds from now on: start it before the routing daemon. */
  static async start(namespace: string, table: number): Promise<ResilientGroups> {
    // `stdbuf`: every line at once.
    const argv = [`--net=${netnsPath(namespace)}`, '--', 'stdbuf', '-oL', 'ip', '-oneline', 'monitor', 'route']
    const monitor = spawn('nsenter', argv, { stdio: ['ignore', 'pipe', 'ignore'] })
    const groups = new ResilientGroups(namespace, table, monitor)
    readline.createInterface({ input: monitor.stdout }).on('line', (line) => groups.#hear(line))
    await groups.#untilListening()
    return groups
  }

  async stop(): Promise<void> {
    if (this.#monitor.exitCode === null && this.#monitor.signalCode === null) {
      const ended = new Promise((resolve) => this.#monitor.once('exit', resolve))
      this.#monitor.kill('SIGKILL')
      await ended
    }
    await this.#working
  }

  /** The monitor is heard once it tells of a route that we make for it. */
  async #untilListening(): Promise<void> {
    const heard = Promise.withResolvers<void>()
    const listen = readline.createInterface({ input: this.#monitor.stdout! })
    listen.on('line', () => heard.resolve())
    const probe = ['blackhole', '192.0.0.8/32', 'table', String(this.#table)]
    while (!(await Promise.race([heard.promise.then(() => true), new Promise((no) => setTimeout(no, 20, false))]))) {
      await runIn(this.#namespace, ['ip', 'route', 'replace', ...probe])
      await runIn(this.#namespace, ['ip', 'route', 'delete', ...probe])
    }
  }

  /** `[Deleted] PREFIX [via A dev D] table N ... [\ nexthop via A dev D weight 1]…` */
  #hear(line: string): void {
    const found = /^(Deleted )?(\S+) .*\btable (\d+)\b/.exec(line)
    if (found === null || Number(found[3]) !== this.#table) return
    const prefix = found[2] ?? ''
    const hops = Array.from(line.matchAll(/via (?:inet6 )?(\S+) dev (\S+)/g), ([, via, dev]) => `${via} ${dev}`)
    if (hops.length === 0 && found[1] === undefined) return
    this.#pending.set(prefix, found[1] === undefined ? hops.toSorted() : [])
    this.#working ??= this.#work().finally(() => {
      this.#working = null
    })
  }

  async #work(): Promise<void> {
    while (this.#pending.size > 0) {
      const changes = this.#pending
      this.#pending = new Map()
      const lines = [...changes].flatMap(([prefix, hops]) => this.#lines(prefix, hops))
      if (lines.length > 0)
        await runIn(this.#namespace, ['ip', '-force', '-batch', '-'], { input: `${lines.join('\n')}\n` }).catch(
          () => '',
        )
    }
  }

  #lines(prefix: string, hops: readonly string[]): readonly string[] {
    const known = this.#groups.get(prefix)
    if (hops.length === 0) {
      if (known === undefined) return []
      this.#groups.delete(prefix)
      return [`route delete ${prefix} metric ${METRIC} table main`, `nexthop delete id ${known.id}`]
    }
    if (known !== undefined && known.hops.join() === hops.join()) return []
    const made: string[] = []
    const ids = hops.map((hop) => {
      const id = this.#hops.get(hop)
      if (id !== undefined) return id
      const [via, dev] = hop.split(' ')
      const next = this.#nextId++
      this.#hops.set(hop, next)
      made.push(`nexthop replace id ${next} via ${via} dev ${dev}`)
      return next
    })
    const members = `group ${ids.join('/')} type resilient buckets ${BUCKETS} idle_timer ${IDLE_S}`
    if (known !== undefined) {
      known.hops = hops
      return [...made, `nexthop replace id ${known.id} ${members}`]
    }
    const group = { id: this.#nextId++, hops }
    this.#groups.set(prefix, group)
    return [
      ...made,
      `nexthop replace id ${group.id} ${members}`,
      `route replace ${prefix} nhid ${group.id} metric ${METRIC} table main`,
    ]
  }
}
