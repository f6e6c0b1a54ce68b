import { access, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './errno.ts'

/** Limits of a group's processes; absent: unlimited. */
export interface CgroupLimits {
  readonly memoryBytes?: number
  /** Processes and threads. */
  readonly pids?: number
  /** CPU time in CPUs: 0.5 is half of one, 2 is two. */
  readonly cpus?: number
}

type Controller = 'memory' | 'pids' | 'cpu'

/** The layout of control groups on this machine. `roots` has the directory of each available controller. */
export interface CgroupLayout {
  readonly version: 1 | 2
  readonly roots: Readonly<Partial<Record<Controller, string>>>
}

const CONTROLLERS: readonly Controller[] = ['memory', 'pids', 'cpu']
const CPU_PERIOD_US = 100_000
const NAME = /^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/

/** Finds out the layout from the mounts; null if control groups cannot be used on this machine. */
export async function probeCgroups(mount = '/sys/fs/cgroup'): Promise<CgroupLayout | null> {
  const unified = await readOrNull(join(mount, 'cgroup.controllers'))
  if (unified !== null) {
    const offered = CONTROLLERS.filter((controller) => unified.split(/\s+/).includes(controller))
    return { version: 2, roots: Object.fromEntries(offered.map((controller) => [controller, mount])) }
  }
  const roots: Partial<Record<Controller, string>> = {}
  for (const controller of CONTROLLERS)
    if (await exists(join(mount, controller, 'cgroup.procs'))) roots[controller] = join(mount, controller)
  return Object.keys(roots).length === 0 ? null : { version: 1, roots }
}

/** A control group. Limits whose controller is not available are left out; see `unenforced`. */
export class Cgroup {
  readonly #layout: CgroupLayout
  readonly #name: string
  /** Limits that were requested and that this machine does not enforce. */
  readonly unenforced: readonly (keyof CgroupLimits)[]

  private constructor(layout: CgroupLayout, name: string, unenforced: readonly (keyof CgroupLimits)[]) {
    this.#layout = layout
    this.#name = name
    this.unenforced = unenforced
  }

  /** Creates the group if necessary and sets its limits. `name` may have parents: `spout/domain-7`. */
  static async create(layout: CgroupLayout, name: string, limits: CgroupLimits): Promise<Cgroup> {
    if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a valid name of a control group`)
    const settings = limitSettings(layout.version, limits)
    const unenforced = settings.filter(({ controller }) => layout.roots[controller] === undefined)
    const group = new Cgroup(
      layout,
      name,
      unenforced.map(({ limit }) => limit),
    )
    if (layout.version === 2) await delegate(layout, name)
    for (const directory of group.#directories()) await mkdir(directory, { recursive: true })
    for (const { controller, file, value } of settings) {
      const root = layout.roots[controller]
      if (root !== undefined) await writeFile(join(root, name, file), value)
    }
    return group
  }

  /** Moves a process into the group. Its later child processes belong to it too. */
  async add(pid: number): Promise<void> {
    for (const directory of this.#directories()) await writeFile(join(directory, 'cgroup.procs'), String(pid))
  }

  async pids(): Promise<readonly number[]> {
    const [directory] = this.#directories()
    const text = directory === undefined ? null : await readOrNull(join(directory, 'cgroup.procs'))
    return (text ?? '').split('\n').filter(Boolean).map(Number)
  }

  /** Removes the group, which must be empty. It may be absent. */
  async remove(): Promise<void> {
    for (const directory of this.#directories())
      await rmdir(directory).catch((error: unknown) => {
        if (!isErrno(error, 'ENOENT')) throw error
      })
  }

  #directories(): readonly string[] {
    return [...new Set(Object.values(this.#layout.roots))].map((root) => join(root, this.#name))
  }
}

/** Throttling of a group: the periods in which its processes wanted more processor time than their limit. */
export interface CpuThrottling {
  /** Periods in which they were runnable. */
  readonly periods: number
  readonly throttled: number
}

/** The throttling of the group of this name; null if the group does not exist or has no limit. */
export async function cpuThrottling({ roots }: CgroupLayout, name: string): Promise<CpuThrottling | null> {
  const text = roots.cpu === undefined ? null : await readOrNull(join(roots.cpu, name, 'cpu.stat'))
  return text === null ? null : readThrottling(text)
}

/** @param text of `cpu.stat`, which both versions have */
export function readThrottling(text: string): CpuThrottling | null {
  const of = (name: string) => new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
  const [periods, throttled] = [of('nr_periods'), of('nr_throttled')]
  return periods === undefined || throttled === undefined
    ? null
    : { periods: Number(periods), throttled: Number(throttled) }
}

interface LimitSetting {
  readonly limit: keyof CgroupLimits
  readonly controller: Controller
  readonly file: string
  readonly value: string
}

/** The files to write for these limits. */
export function limitSettings(version: 1 | 2, limits: CgroupLimits): readonly LimitSetting[] {
  const settings: LimitSetting[] = []
  const { memoryBytes, pids, cpus } = limits
  if (memoryBytes !== undefined) {
    const file = version === 2 ? 'memory.max' : 'memory.limit_in_bytes'
    settings.push({ limit: 'memoryBytes', controller: 'memory', file, value: String(memoryBytes) })
  }
  if (pids !== undefined) settings.push({ limit: 'pids', controller: 'pids', file: 'pids.max', value: String(pids) })
  if (cpus !== undefined) {
    const quota = String(Math.round(cpus * CPU_PERIOD_US))
    settings.push(
      version === 2
        ? { limit: 'cpus', controller: 'cpu', file: 'cpu.max', value: `${quota} ${CPU_PERIOD_US}` }
        : { limit: 'cpus', controller: 'cpu', file: 'cpu.cfs_quota_us', value: quota },
    )
  }
  return settings
}

/** In version 2 a group has a controller only if each of its parents enables it. */
async function delegate(layout: CgroupLayout, name: string): Promise<void> {
  const [root] = Object.values(layout.roots)
  if (root === undefined) return
  const controllers = Object.keys(layout.roots).map((controller) => `+${controller}`)
  let directory = root
  for (const part of name.split('/')) {
    await mkdir(directory, { recursive: true })
    await writeFile(join(directory, 'cgroup.subtree_control'), controllers.join(' '))
    directory = join(directory, part)
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null
    throw error
  }
}
