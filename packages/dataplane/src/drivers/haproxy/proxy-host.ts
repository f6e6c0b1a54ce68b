import {
  Cgroup,
  type CgroupLayout,
  type CgroupLimits,
  type CpuThrottling,
  cpuThrottling,
  isErrno,
  type MemoryUse,
  memoryUse,
  probeCgroups,
  runIn,
  type TimeSlice,
} from '@spout/sys'
import type { ProxyPlace } from './proxy-place.ts'

/** What the driver asks of the machine: a process in a namespace, and bounds on what it may use. */
export interface ProxyHost {
  /**
   * Runs a command in the place's namespace to its end. It may leave a daemon behind.
   * @throws Error with what it wrote to standard error, when it failed
   */
  run(place: ProxyPlace, argv: readonly [string, ...string[]]): Promise<void>
  /** Puts a process into the control group of this name, made if absent, and has it take turns with those of others. */
  confine(name: string, pid: number): Promise<void>
  /** Takes the control group away; its processes are gone. */
  release(name: string): Promise<void>
}

/**
 * What all processes of one domain may use together: the running one and those that it replaced. One has a single thread,
 * so only where replaced ones are busy beside it do they meet the bound on processor time; below it, groups of one parent
 * have equal weight.
 */
export const DEFAULT_LIMITS: CgroupLimits = { memoryBytes: 256 * 1024 * 1024, pids: 16, cpus: 1 }

/**
 * In microseconds. The scheduler lets a busy proxy go on for 1.4 ms (two processors; more with more) while another
 * tenant's waits: with this its requests are in between at once.
 */
export const TIME_SLICE_US = 100

type SetTimeSlice = (request: TimeSlice) => Promise<void>

/** This machine. Where it has no control groups, processes are unbounded. */
export class SystemHost implements ProxyHost {
  readonly #layout: CgroupLayout | null
  readonly #parent: string
  readonly #limits: CgroupLimits
  readonly #timeSlice: SetTimeSlice

  private constructor(layout: CgroupLayout | null, parent: string, limits: CgroupLimits, timeSlice: SetTimeSlice) {
    this.#layout = layout
    this.#parent = parent
    this.#limits = limits
    this.#timeSlice = timeSlice
  }

  /**
   * @param parent control group above those of the domains, such as `spout`
   * @param timeSlice left out, proxies have the kernel's
   */
  static async probe(
    parent: string,
    limits: CgroupLimits = DEFAULT_LIMITS,
    timeSlice: SetTimeSlice = async () => {},
  ): Promise<SystemHost> {
    return new SystemHost(await probeCgroups(), parent, limits, timeSlice)
  }

  async run({ namespace }: ProxyPlace, argv: readonly [string, ...string[]]): Promise<void> {
    await runIn(namespace, argv)
  }

  async confine(name: string, pid: number): Promise<void> {
    await (await this.#group(name))?.add(pid)
    await this.#timeSlice({ pid, us: TIME_SLICE_US })
  }

  /** What the processes of this name were held up; null while there are none, or where nothing bounds them. */
  async throttling(name: string): Promise<CpuThrottling | null> {
    return this.#layout && cpuThrottling(this.#layout, `${this.#parent}/${name}`)
  }

  /** What the processes of this name hold; null while there are none, or where nothing bounds them. */
  async memory(name: string): Promise<MemoryUse | null> {
    return this.#layout && memoryUse(this.#layout, `${this.#parent}/${name}`)
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
