import { programOf } from '@spout/testkit'
import { descendants, ownCpuSeconds } from './processes.ts'

/** Processor time of an agent and its children, in seconds. Proxies are no children of it. */
export interface AgentCpu {
  /** The agent with its helper. */
  readonly agent: number
  readonly helper: number
  /** The rest, such as keepalived and the mover. */
  readonly daemons: number
}

const HELPER = 'spout-helper'

/** Processor time of an agent and its children since they started. @throws Error when it has no helper */
export function agentCpu(pid: number): AgentCpu {
  const children = descendants(pid)
  const found = children.find((child) => programOf(child) === HELPER)
  if (found === undefined) throw new Error(`the agent has no ${HELPER}`)
  const helper = ownCpuSeconds(found)
  const daemons = children.filter((child) => child !== found).reduce((sum, child) => sum + ownCpuSeconds(child), 0)
  return { agent: ownCpuSeconds(pid) + helper, helper, daemons }
}
