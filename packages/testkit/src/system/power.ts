import type { Lab } from '../lab/lab.ts'
import { killPid } from '../lab/namespace-processes.ts'
import type { SystemAccess } from './access.ts'
import { processesOf } from './node-processes.ts'
import { startAgent } from './system.ts'

const linksOf = (lab: Lab, node: string): readonly string[] =>
  lab.places.find(({ name }) => name === node)?.links.map(({ name }) => name) ?? []

/** Everything of a node stops at once: its cables are dead and no process of it, nor of its domains, is left. */
export async function powerOff(lab: Lab, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'cut')))
  // Again until none is left: one that is being started may start another.
  for (let left = await processesOf(lab, node); left.length > 0; left = await processesOf(lab, node))
    for (const pid of left) killPid(pid)
}

/**
 * The node starts again as it was left: addresses, namespaces and files of before are still there, which is more than
 * a machine would find and so harder to clean up.
 */
export async function powerOn(lab: Lab, access: SystemAccess, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'mended')))
  await startAgent(lab, access, node)
}
