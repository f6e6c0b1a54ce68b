import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { probeCgroups } from '@spout/sys'

/**
 * Runs programs that stand for other machines: they get the processor time that the machine under test leaves. Idle
 * priority alone does not do that. The kernel compares control groups first, and by `sched_autogroup` each session is
 * one: a process of idle priority then has the same weight as all proxies together. So the group itself is idle
 * (`cpu.idle`).
 */
export class OtherMachines implements Disposable {
  /** Command line prefix for a program. The program ends with the benchmark. */
  readonly prefix: readonly string[]
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
    const enter = 'echo $$ > "$0" && exec setpriv --pdeathsig KILL chrt --idle 0 "$@"'
    this.prefix = ['sh', '-c', enter, path.join(directory, 'cgroup.procs')]
  }

  /** @throws Error where the machine has no controller `cpu` */
  static async create(): Promise<OtherMachines> {
    const layout = await probeCgroups()
    const root = layout?.roots.cpu
    if (root === undefined) throw new Error('the benchmark needs the control group controller "cpu"')
    if (layout?.version === 2) writeFileSync(path.join(root, 'cgroup.subtree_control'), '+cpu')
    const directory = path.join(root, `spout-bench-${process.pid}`)
    mkdirSync(directory)
    writeFileSync(path.join(directory, 'cpu.idle'), '1')
    return new OtherMachines(directory)
  }

  /** To be called when all programs have ended. */
  [Symbol.dispose](): void {
    rmdirSync(this.#directory)
  }
}
