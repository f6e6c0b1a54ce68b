import { join } from 'node:path'
import { readFileOrNull } from './atomic-file.ts'
import type { CgroupLayout } from './cgroup.ts'

/** The memory of a group's processes, and its limit. */
export interface MemoryUse {
  /** Without inactive file pages, which the kernel reclaims before it kills a process. */
  readonly usedBytes: number
  readonly limitBytes: number
  /** Processes that the kernel killed for lack of memory since the group was created. */
  readonly oomKills: number
}

interface MemoryFiles {
  readonly used: string
  readonly limit: string
  /** The file, and the name of the line in it. */
  readonly unusedFiles: readonly [string, string]
  readonly oomKills: readonly [string, string]
}

/** `Documentation/admin-guide/cgroup-v1/memory.rst` and `cgroup-v2.rst` of the kernel. */
const FILES: Readonly<Record<CgroupLayout['version'], MemoryFiles>> = {
  1: {
    used: 'memory.usage_in_bytes',
    limit: 'memory.limit_in_bytes',
    unusedFiles: ['memory.stat', 'total_inactive_file'],
    oomKills: ['memory.oom_control', 'oom_kill'],
  },
  2: {
    used: 'memory.current',
    limit: 'memory.max',
    unusedFiles: ['memory.stat', 'inactive_file'],
    oomKills: ['memory.events', 'oom_kill'],
  },
}

/** The memory of the group of this name; null if the group does not exist or has no memory limit. */
export async function memoryUse({ version, roots }: CgroupLayout, name: string): Promise<MemoryUse | null> {
  if (roots.memory === undefined) return null
  const directory = join(roots.memory, name)
  const { used, limit, unusedFiles, oomKills } = FILES[version]
  const read = async (file: string): Promise<string> =>
    (await readFileOrNull(join(directory, file)))?.toString('utf8') ?? ''
  const [usedText, limitText, statText, killsText] = await Promise.all(
    [used, limit, unusedFiles[0], oomKills[0]].map(read),
  )
  const limitBytes = Number(limitText?.trim() || Number.NaN)
  // Unlimited is `max` in version 2, and more than any machine has in version 1.
  if (!usedText || !Number.isSafeInteger(limitBytes)) return null
  return {
    usedBytes: Math.max(0, Number(usedText) - lineOf(statText, unusedFiles[1])),
    limitBytes,
    oomKills: lineOf(killsText, oomKills[1]),
  }
}

/** The number in the line `<name> <number>`; 0 if there is none. */
const lineOf = (text = '', name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
