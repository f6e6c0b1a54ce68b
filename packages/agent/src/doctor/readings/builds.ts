import { release } from 'node:os'
import { exec } from '@spout/sys'
import type { NodePlace } from '../place.ts'

/** What the programs of the node say of their version; empty for one that does not run. */
export interface BuildsReading {
  readonly kernel: string
  readonly haproxy: string
  /** Null where the node's group needs none. */
  readonly keepalived: string | null
  readonly bird: string | null
}

export async function readBuilds({ programs, group }: NodePlace): Promise<BuildsReading> {
  const said = async (program: string, argument: string): Promise<string> => {
    // keepalived and BIRD print it on standard error.
    const result = await exec([program, argument]).catch(() => null)
    return result === null ? '' : `${result.stdout}${result.stderr}`
  }
  const [haproxy, keepalived, bird] = await Promise.all([
    said(programs.haproxy, '-v'),
    group?.vrrp ? said(programs.keepalived, '--version') : null,
    group?.bgp ? said(programs.bird, '--version') : null,
  ])
  return { kernel: release(), haproxy, keepalived, bird }
}
