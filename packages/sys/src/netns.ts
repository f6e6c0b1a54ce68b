import { readdir, stat } from 'node:fs/promises'
import { isErrno } from './errno.ts'
import { type ExecOptions, execOk } from './exec.ts'

const DIRECTORY = '/run/netns'
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The path by which the native helper and others name a namespace. */
export function netnsPath(name: string): string {
  if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is no name for a network namespace`)
  return `${DIRECTORY}/${name}`
}

/** Whether a namespace of that name exists. A name left over by a crash, without a namespace bound to it, does not count. */
export async function netnsExists(name: string): Promise<boolean> {
  try {
    // An unbound name is an ordinary empty file of the tmpfs: another device than the namespace file system.
    const [entry, directory] = await Promise.all([stat(netnsPath(name)), stat(DIRECTORY)])
    return entry.dev !== directory.dev
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    throw error
  }
}

/** Names of all namespaces. */
export async function listNetns(): Promise<readonly string[]> {
  try {
    return (await readdir(DIRECTORY)).filter((name) => NAME.test(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}

/** Makes the namespace exist, with its loopback up. */
export async function createNetns(name: string): Promise<void> {
  if (!(await netnsExists(name))) {
    await deleteNetns(name)
    await execOk(['ip', 'netns', 'add', name])
  }
  await execOk(['ip', '-n', name, 'link', 'set', 'dev', 'lo', 'up'])
}

/** Makes the namespace not exist. What still runs in it keeps it alive without a name. */
export async function deleteNetns(name: string): Promise<void> {
  try {
    await stat(netnsPath(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return
    throw error
  }
  await execOk(['ip', 'netns', 'delete', name])
}

/** Runs a command in the namespace; null is the one this process is in. */
export async function runIn(
  netns: string | null,
  argv: readonly [string, ...string[]],
  options?: ExecOptions,
): Promise<string> {
  // Not `ip netns exec`: that mounts a fresh /sys, which hides the control groups.
  return execOk(netns === null ? argv : ['nsenter', `--net=${netnsPath(netns)}`, '--', ...argv], options)
}
