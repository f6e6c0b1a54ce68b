import { readdir, stat } from 'node:fs/promises'
import { isErrno } from './errno.ts'
import { type ExecOptions, execOk } from './exec.ts'

const DIRECTORY = '/run/netns'
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** The path by which the native helper and others refer to a namespace. */
export function netnsPath(name: string): string {
  if (!NAME.test(name)) throw new RangeError(`${JSON.stringify(name)} is not a valid name of a network namespace`)
  return `${DIRECTORY}/${name}`
}

/** Whether a namespace of that name exists. A name that a crash left without a bound namespace does not count. */
export async function netnsExists(name: string): Promise<boolean> {
  try {
    // An unbound name is an ordinary empty file of the tmpfs, on another device than the namespace file system.
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

/** Creates the namespace if necessary and sets its loopback up. */
export async function createNetns(name: string): Promise<void> {
  if (!(await netnsExists(name))) {
    await deleteNetns(name)
    await execOk(['ip', 'netns', 'add', name])
  }
  await execOk(['ip', '-n', name, 'link', 'set', 'dev', 'lo', 'up'])
}

/** Removes the name of the namespace, if it exists. Processes in it keep it alive. */
export async function deleteNetns(name: string): Promise<void> {
  try {
    await stat(netnsPath(name))
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return
    throw error
  }
  await execOk(['ip', 'netns', 'delete', name])
}

/** Runs a command in the namespace; null is this process's own. */
export async function runIn(
  netns: string | null,
  argv: readonly [string, ...string[]],
  options?: ExecOptions,
): Promise<string> {
  // Not `ip netns exec`, which mounts a fresh /sys that hides the control groups.
  return execOk(netns === null ? argv : ['nsenter', `--net=${netnsPath(netns)}`, '--', ...argv], options)
}
