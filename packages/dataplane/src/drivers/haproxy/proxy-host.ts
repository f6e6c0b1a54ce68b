import { Cgroup, type CgroupLayout, type CgroupLimits, isErrno, probeCgroups, runIn } from '@spout/sys'

/** Where a domain's proxy runs. */
export interface ProxyPlace {
  /** Unique on the machine (`<instance>-d<number>`): names its directory and its control group. */
  readonly name: string
  /** Name of the network namespace; null for the agent's own. */
  readonly namespace: string | null
  /** Local addresses of the domain that VIP traffic is steered to; null where the family is not available. */
  readonly address4: string | null
  readonly address6: string | null
}

/** What the driver asks of the machine: a process in a namespace, and bounds on what it may use. */
export interface ProxyHost {
  /**
   * Runs a command in the place's namespace to its end. It may leave a daemon behind.
   * @throws Error with what it wrote to standard error, when it failed
   */
  run(place: ProxyPlace, argv: readonly [string, ...string[]]): Promise<void>
  /** Puts a process into the control group of this name, made if absent. */
  confine(name: string, pid: number): Promise<void>
  /** Takes the control group away; its processes are gone. */
  release(name: string): Promise<void>
}

/** What all processes of one domain may use together: the running one and those that it replaced. */
export const DEFAULT_LIMITS: CgroupLimits = { memoryBytes: 256 * 1024 * 1024, pids: 16 }

/** This machine. Where it has no control groups, processes are unbounded. */
export class SystemHost implements ProxyHost {
  readonly #layout: CgroupLayout | null
  readonly #parent: string
  readonly #limits: CgroupLimits

  private constructor(layout: CgroupLayout | null, parent: string, limits: CgroupLimits) {
    this.#layout = layout
    this.#parent = parent
    this.#limits = limits
  }

  /** @param parent control group above those of the domains, such as `spout` */
  static async probe(parent: string, limits: CgroupLimits = DEFAULT_LIMITS): Promise<SystemHost> {
    return new SystemHost(await probeCgroups(), parent, limits)
  }

  async run({ namespace }: ProxyPlace, argv: readonly [string, ...string[]]): Promise<void> {
    await runIn(namespace, argv)
  }

  async confine(name: string, pid: number): Promise<void> {
    await (await this.#group(name))?.add(pid)
  }

  async release(name: string): Promise<void> {
    try {
      await (await this.#group(name))?.remove()
    } catch (error) {
      // Nobody has taken note of its last process's end yet. An empty group costs nothing and will be used again.
      if (!isErrno(error, 'EBUSY')) throw error
    }
  }

  async #group(name: string): Promise<Cgroup | null> {
    return this.#layout && Cgroup.create(this.#layout, `${this.#parent}/${name}`, this.#limits)
  }
}
