import { readdirSync } from 'node:fs'
import type { Lab } from '../lab/lab.ts'
import { run } from '../lab/run.ts'
import type { SystemAccess } from './access.ts'
import { instanceOf, startAgent } from './system.ts'

const linksOf = (lab: Lab, node: string): readonly string[] =>
  lab.places.find(({ name }) => name === node)?.links.map(({ name }) => name) ?? []

/** Everything of a node stops at once: its cables are dead and no process of it, nor of its domains, is left. */
export async function powerOff(lab: Lab, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'cut')))
  const own = [lab.namespace(node), ...domainsOf(lab, node)]
  // Again until none is left: one that is being started may start another.
  for (let left = await pidsOf(own); left.length > 0; left = await pidsOf(own)) for (const pid of left) kill(pid)
}

/**
 * The node starts again as it was left: addresses, namespaces and files of before are still there, which is more than
 * a machine would find and so harder to clean up.
 */
export async function powerOn(lab: Lab, access: SystemAccess, node: string): Promise<void> {
  await Promise.all(linksOf(lab, node).map((link) => lab.cable(node, link, 'mended')))
  await startAgent(lab, access, node)
}

const domainsOf = (lab: Lab, node: string): readonly string[] =>
  readdirSync('/run/netns').filter((name) => name.startsWith(`${instanceOf(lab, node)}-`))

async function pidsOf(namespaces: readonly string[]): Promise<readonly number[]> {
  const lists = await Promise.all(namespaces.map((name) => run(['ip', 'netns', 'pids', name])))
  return lists.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean).map(Number))
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in between.
  }
}
