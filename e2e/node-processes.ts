import { readFileSync } from 'node:fs'
import { domainNamespaces, isAlive, type Lab, type ProcessId, pidsIn, programOf, startTicks } from '@spout/testkit'

const processId = (pid: number): ProcessId => ({ pid, startTicks: startTicks(pid) ?? '' })
const alive = (pids: readonly number[]): readonly ProcessId[] => pids.map(processId).filter(isAlive)

/** HAProxy processes in a node's domains. */
export async function proxiesOf(lab: Lab, node: string): Promise<readonly ProcessId[]> {
  const pids = (await Promise.all(domainNamespaces(lab, node).map(pidsIn))).flat()
  return alive(pids.filter((pid) => programOf(pid) === 'haproxy'))
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
  const helper = children.find((child) => programOf(child) === 'spout-helper')
  return helper === undefined ? null : processId(helper)
}

/** Processes with these name prefixes in a node's fabric-facing namespace: `keepalived`, `spout-mover`, `bird`. */
export async function daemonsOf(lab: Lab, node: string, names: readonly string[]): Promise<readonly ProcessId[]> {
  const pids = await pidsIn(lab.namespace(node))
  return alive(pids.filter((pid) => names.some((name) => programOf(pid).startsWith(name))))
}

/** Processor seconds used by a process, by the kernel's clock ticks (`man 5 proc_pid_stat`). */
export function processorSeconds({ pid }: ProcessId): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
