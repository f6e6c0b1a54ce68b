import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'

/** A process of this machine. */
export interface MachineProcess {
  readonly pid: number
  /** Name of its program's file. */
  readonly program: string
  readonly commandLine: string
  /** The network namespace that it is in, as the kernel identifies it. */
  readonly network: string
  /** The unit of systemd that it belongs to; null for none. */
  readonly unit: string | null
}

/** All processes whose program can be read. Those that end meanwhile are left out. */
export async function machineProcesses(): Promise<readonly MachineProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[1-9]/.test(name))
  return (await Promise.all(pids.map(processOf))).flat()
}

async function processOf(pid: string): Promise<readonly MachineProcess[]> {
  const at = `/proc/${pid}`
  try {
    const [program, network, commandLine, groups] = await Promise.all([
      readlink(`${at}/exe`),
      readlink(`${at}/ns/net`),
      readFile(`${at}/cmdline`, 'utf8'),
      readFile(`${at}/cgroup`, 'utf8'),
    ])
    const unit = /\/([\w@:.\\-]+\.service)(?:\/|$)/m.exec(groups)?.[1] ?? null
    const text = commandLine.replaceAll('\0', ' ').trim()
    // A program that was replaced on disk while it runs.
    return [
      { pid: Number(pid), program: basename(program.replace(/ \(deleted\)$/, '')), commandLine: text, network, unit },
    ]
  } catch {
    return []
  }
}

/** How an administrator ends it for good. */
export const endOf = ({ pid, unit }: Pick<MachineProcess, 'pid' | 'unit'>): string =>
  unit === null ? `kill ${pid}` : `systemctl disable --now ${unit.replace(/\.service$/, '')}`
