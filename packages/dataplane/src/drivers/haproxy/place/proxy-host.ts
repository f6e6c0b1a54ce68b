import type { DedicatedProxy } from '@spout/model'
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

/** The machine as the driver uses it: processes in a namespace, and limits on their resources. */
export interface ProxyHost {
  /**
   * Runs a command in the place's namespace to its end. It may leave a daemon behind.
   * @param descriptors it has these from 3 on
   * @throws Error with its standard error if it failed
   */
  run(place: ProxyPlace, argv: readonly [string, ...string[]], descriptors: readonly number[]): Promise<void>
  /** Moves a process into the control group of its place, which is created if absent, and sets its time slice. */
  confine(place: Pick<ProxyPlace, 'name' | 'dedicated'>, pid: number): Promise<void>
  /** Removes the control group, whose processes have ended. */
  release(name: string): Promise<void>
}

/**
 * Limits for all processes of one proxy together, the running one and replaced ones. Each has a single thread, so they
 * reach the processor limit only if replaced processes are busy too. Below it, groups of one parent have equal weight.
 */
export const DEFAULT_LIMITS: CgroupLimits = { memoryBytes: 256 * 1024 * 1024, pids: 16, cpus: 1 }

/**
 * In microseconds. By default the scheduler lets a busy proxy run for 1.4 ms (with two processors; longer with more)
 * while another tenant's proxy waits. With this slice the other one's requests run at once.
 */
export const TIME_SLICE_US = 100

type SetTimeSlice = (request: TimeSlice) => Promise<void>

/** The real machine. Without control groups, processes have no limits. */
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
   * @param timeSlice if absent, proxies keep the kernel's default
   */
  static async probe(
    parent: string,
    limits: CgroupLimits = DEFAULT_LIMITS,
    timeSlice: SetTimeSlice = async () => {},
  ): Promise<SystemHost> {
    return new SystemHost(await probeCgroups(), parent, limits, timeSlice)
  }

  async run(
    { namespace }: ProxyPlace,
    argv: readonly [string, ...string[]],
    descriptors: readonly number[],
  ): Promise<void> {
    await runIn(namespace, argv, { descriptors })
  }

  async confine({ name, dedicated }: Pick<ProxyPlace, 'name' | 'dedicated'>, pid: number): Promise<void> {
    await (await this.#group(name, { ...this.#limits, ...ownLimits(dedicated?.limits) }))?.add(pid)
    await this.#timeSlice({ pid, us: TIME_SLICE_US })
  }

  /** Throttling of the processes of this name; null if there are none or they have no limit. */
  async throttling(name: string): Promise<CpuThrottling | null> {
    return this.#layout && cpuThrottling(this.#layout, `${this.#parent}/${name}`)
  }

  /** Memory of the processes of this name; null if there are none or they have no limit. */
  async memory(name: string): Promise<MemoryUse | null> {
    return this.#layout && memoryUse(this.#layout, `${this.#parent}/${name}`)
  }

  async release(name: string): Promise<void> {
    try {
      await (await this.#group(name, {}))?.remove()
    } catch (error) {
      // The kernel has not removed its last process yet. An empty group costs nothing and will be used again.
      if (!isErrno(error, 'EBUSY')) throw error
    }
  }

  async #group(name: string, limits: CgroupLimits): Promise<Cgroup | null> {
    return this.#layout && Cgroup.create(this.#layout, `${this.#parent}/${name}`, limits)
  }
}

const ownLimits = ({ memoryMegabytes, processors }: DedicatedProxy = {}): CgroupLimits => ({
  ...(memoryMegabytes === undefined ? {} : { memoryBytes: memoryMegabytes * 1024 * 1024 }),
  ...(processors === undefined ? {} : { cpus: processors }),
})
