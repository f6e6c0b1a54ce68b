import { readdirSync } from 'node:fs'
import type { Lab } from '../lab/lab.ts'
import { pidsIn } from '../lab/namespace-processes.ts'
import { instanceOf } from './system.ts'

/** Namespaces of the domains on a node. */
export const domainNamespaces = (lab: Lab, node: string): readonly string[] =>
  readdirSync('/run/netns').filter((name) => name.startsWith(`${instanceOf(lab, node)}-d`))

/** Every process of a node, those in its domains included. */
export async function processesOf(lab: Lab, node: string): Promise<readonly number[]> {
  const found = await Promise.all([lab.namespace(node), ...domainNamespaces(lab, node)].map(pidsIn))
  return found.flat()
}
