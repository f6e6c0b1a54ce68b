import { readdirSync, readFileSync } from 'node:fs'
import { instanceOf, isAlive, type Lab, type ProcessId, run, startTicks } from '@spout/testkit'

/** Namespaces of the domains on a node. */
export const domainNamespaces = (lab: Lab, node: string): readonly string[] =>
  readdirSync('/run/netns').filter((name) => name.startsWith(`${instanceOf(lab, node)}-d`))

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return ''
  }
}

const processId = (pid: number): ProcessId => ({ pid, startTicks: startTicks(pid) ?? '' })

/** HAProxy processes in a node's domains. */
export async function proxiesOf(lab: Lab, node: string): Promise<readonly ProcessId[]> {
  const found: ProcessId[] = []
  for (const namespace of domainNamespaces(lab, node)) {
    const { stdout } = await run(['ip', 'netns', 'pids', namespace])
    const pids = stdout.split('\n').filter(Boolean).map(Number)
    found.push(...pids.filter((pid) => commandOf(pid) === 'haproxy').map(processId))
  }
  return found.filter(isAlive)
}

export function agentOf(lab: Lab, node: string): ProcessId {
  const agent = lab.process(`agent-${node}`)
  if (agent === null) throw new Error(`no agent runs on ${node}`)
  return agent
}

/** The native helper of a node's agent, null while there is none. */
export function helperOf(lab: Lab, node: string): ProcessId | null {
  const { pid } = agentOf(lab, node)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const helper = children.find((child) => commandOf(child) === 'spout-helper')
  return helper === undefined ? null : processId(helper)
}

/** Processes whose names begin so in a node's fabric-facing namespace: `keepalived`, `spout-mover`, `bird`. */
export async function daemonsOf(lab: Lab, node: string, names: readonly string[]): Promise<readonly ProcessId[]> {
  const { stdout } = await run(['ip', 'netns', 'pids', lab.namespace(node)])
  const pids = stdout.split('\n').filter(Boolean).map(Number)
  return pids
    .filter((pid) => names.some((name) => commandOf(pid).startsWith(name)))
    .map(processId)
    .filter(isAlive)
}
