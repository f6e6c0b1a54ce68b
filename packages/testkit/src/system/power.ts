import type { Lab } from '../lab/lab.ts'
import { killPid } from '../lab/namespace-processes.ts'
import type { SystemAccess } from './access.ts'
import { processesOf } from './node-processes.ts'
import { startAgent } from './system.ts'

const linksOf = (lab: Lab, node: string): readonly string[] =>
  lab.places.find(({ name }) => name === node)?.links.map(({ name }) => name) ?? []

/** Stops everything of a node at once: its cables are dead, and no process of it or its domains is left. */
export async function powerOff(lab: Lab, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'cut')))
  // Repeated until none is left: a process that is starting may start another.
  for (let left = await processesOf(lab, node); left.length > 0; left = await processesOf(lab, node))
    for (const pid of left) killPid(pid)
}

/**
 * Starts the node again as it was left: its old addresses, namespaces and files are still there. A real machine would
 * find less, so this is the harder clean-up.
 */
export async function powerOn(lab: Lab, access: SystemAccess, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'mended')))
  await startAgent(lab, access, node)
}
