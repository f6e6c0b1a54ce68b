import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Lab, must, waitFor } from '@spout/testkit'
import type { Pair, PairNode } from './pair.ts'
import { addPeerNode } from './peer-node.ts'

export interface KeepalivedSpec {
  /** Name prefix of its nodes: at most 4 characters. */
  readonly prefix: string
  readonly name: string
  /** Null keeps keepalived's default: 1 s. */
  readonly advertMs: number | null
  readonly routerId: number
  /** Its nodes are 198.51.100.N and N + 1. */
  readonly index: number
  /** Held by one instance; the first is the one of the pair. */
  readonly vips: readonly string[]
}

/** Two nodes on which keepalived itself holds the addresses, configured as in its manual, without preemption. */
export class KeepalivedPair implements Pair {
  readonly name: string
  readonly vip: string
  readonly nodes: readonly PairNode[]
  readonly patienceMs: number
  readonly #lab: Lab
  readonly #spec: KeepalivedSpec
  #vips: readonly string[]

  private constructor(lab: Lab, spec: KeepalivedSpec, nodes: readonly PairNode[]) {
    this.name = spec.name
    this.vip = spec.vips[0] ?? ''
    this.nodes = nodes
    this.patienceMs = 5 * (spec.advertMs ?? 1000) + 1000 + 20 * spec.vips.length
    this.#lab = lab
    this.#spec = spec
    this.#vips = spec.vips
  }

  static async start(lab: Lab, spec: KeepalivedSpec): Promise<KeepalivedPair> {
    const nodes: PairNode[] = []
    for (const n of [0, 1])
      nodes.push(
        await addPeerNode(lab, {
          name: `${spec.prefix}${n + 1}`,
          index: spec.index + n,
          vips: spec.vips,
          daemons: ['keepalived'],
        }),
      )
    const pair = new KeepalivedPair(lab, spec, nodes)
    for (const node of nodes) await pair.#start(node)
    // The first one that was up: there is no preemption.
    await waitFor(() => nodes.some((node) => pair.#log(node).includes('Entering MASTER STATE')), {
      what: `${spec.name} to elect`,
    })
    return pair
  }

  async restore(node: PairNode): Promise<void> {
    if ((await node.daemons()).length > 0) {
      // Its cable was cut: it is back when it listens again.
      await waitFor(() => this.#sinceFault(node).includes('Entering BACKUP STATE'), {
        what: `${node.name} to listen`,
      })
      return
    }
    for (const vip of this.#vips.length > 16 ? [] : this.#vips)
      await this.#lab.run(node.name, ['ip', 'address', 'del', `${vip}/32`, 'dev', 'fab0'])
    if (this.#vips.length > 16)
      await this.#lab.run(node.name, [
        'ip',
        'address',
        'flush',
        'dev',
        'fab0',
        'label',
        'fab0',
        'scope',
        'global',
        'to',
        '100.64.0.0/10',
      ])
    await this.#start(node)
    await waitFor(() => this.#log(node).includes('Entering BACKUP STATE'), {
      what: `${node.name} to listen`,
    })
    await new Promise((resolve) => setTimeout(resolve, 1.2 * (this.#spec.advertMs ?? 1000)))
  }

  /** Stops keepalived on a node in good order: it tells the other one. */
  async stop(node: PairNode): Promise<void> {
    process.kill(Number(readFileSync(this.#file(node, 'pid'), 'utf8').trim()), 'SIGTERM')
    await waitFor(async () => (await node.daemons()).length === 0, { what: `${node.name} to stop` })
  }

  /** Writes another set of addresses and makes keepalived reload on a node. */
  async reload(node: PairNode, vips: readonly string[]): Promise<void> {
    this.#vips = vips
    writeFileSync(this.#file(node, 'conf'), this.#config(node))
    await must(['kill', '-HUP', readFileSync(this.#file(node, 'pid'), 'utf8').trim()])
  }

  async #start(node: PairNode): Promise<void> {
    writeFileSync(this.#file(node, 'conf'), this.#config(node))
    writeFileSync(this.#file(node, 'log'), '')
    // A killed one left its pid file, with which it would not start.
    for (const ending of ['pid', 'vrrp']) rmSync(this.#file(node, ending), { force: true })
    // Only to its log file: without a syslog daemon the C library writes to the machine's console, perhaps a serial
    // line.
    const argv = ['keepalived', '--dont-fork', '--vrrp', '--log-console', '--no-syslog']
    const files = ['-f', this.#file(node, 'conf'), '-p', this.#file(node, 'pid'), '-r', this.#file(node, 'vrrp')]
    await this.#lab.start(node.name, `${node.name}`, [...argv, ...files])
  }

  #config(node: PairNode): string {
    const { advertMs, routerId } = this.#spec
    const [first, ...others] = this.#vips.map((vip) => `    ${vip}/32 dev fab0`)
    return [
      'global_defs {',
      '  vrrp_version 3',
      '}',
      'vrrp_instance VI_1 {',
      '  state BACKUP',
      '  nopreempt',
      '  interface fab0',
      `  virtual_router_id ${routerId}`,
      `  priority ${node === this.nodes[0] ? 150 : 100}`,
      ...(advertMs === null ? [] : [`  advert_int ${advertMs / 1000}`]),
      '  virtual_ipaddress {',
      first,
      '  }',
      ...(others.length === 0 ? [] : ['  virtual_ipaddress_excluded {', ...others, '  }']),
      '}',
      '',
    ].join('\n')
  }

  #log(node: PairNode): string {
    return readFileSync(this.#file(node, 'log'), 'utf8')
  }

  /** Its log since it was last master. */
  #sinceFault(node: PairNode): string {
    const text = this.#log(node)
    return text.slice(Math.max(0, text.lastIndexOf('Entering FAULT STATE')))
  }

  #file(node: PairNode, ending: string): string {
    return path.join(this.#lab.directory, `${node.name}.${ending}`)
  }
}
