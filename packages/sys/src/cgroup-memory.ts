import { join } from 'node:path'
import { readFileOrNull } from './atomic-file.ts'
import type { CgroupLayout } from './cgroup.ts'

/** What the processes of a group hold of the memory that they may have. */
export interface MemoryUse {
  /** Without pages of files that are not in use: the kernel takes those back before it ends a process. */
  readonly usedBytes: number
  readonly limitBytes: number
  /** Processes that the kernel ended for want of memory since the group was made. */
  readonly oomKills: number
}

interface MemoryFiles {
  readonly used: string
  readonly limit: string
  /** Its file, and the name of the line in it. */
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

/** What the group of this name uses; null when there is none, or nothing bounds its memory. */
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
  // Unbounded is `max` in version 2, and more than any machine has in version 1.
  if (!usedText || !Number.isSafeInteger(limitBytes)) return null
  return {
    usedBytes: Math.max(0, Number(usedText) - lineOf(statText, unusedFiles[1])),
    limitBytes,
    oomKills: lineOf(killsText, oomKills[1]),
  }
}

/** The number in the line `<name> <number>`; 0 where there is none. */
const lineOf = (text = '', name: string): number => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
