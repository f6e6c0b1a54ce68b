import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { KubernetesCluster, Lab, type SystemAccess } from '@spout/testkit'
import { ROOT, UsageError } from './verb.ts'

/** What `up` starts. */
export type UpKind = 'whole' | 'bare' | 'kubernetes'

/** What `up` leaves behind for the other verbs. */
export interface DevState {
  readonly labId: string
  /** Of the lab: ids are given again, directories are not. */
  readonly directory: string
  readonly kind: UpKind
  readonly access: SystemAccess
}

/** A test names a file of its own, and leaves what a person has up alone. */
const FILE = process.env['SPOUT_DEV_STATE'] ?? path.join(ROOT, 'build', 'dev.json')

/** What is up; null also when its lab is gone and another one has its id. */
export function readState(): DevState | null {
  try {
    const state = JSON.parse(readFileSync(FILE, 'utf8')) as DevState
    return Lab.open(state.labId)?.directory === state.directory ? state : null
  } catch {
    return null
  }
}

export function writeState({ id: labId, directory }: Lab, kind: UpKind, access: SystemAccess): void {
  const state: DevState = { labId, directory, kind, access }
  mkdirSync(path.dirname(FILE), { recursive: true })
  // It holds passwords of the lab.
  writeFileSync(FILE, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
}

export const removeState = (): void => rmSync(FILE, { force: true })

/** What is up. */
export interface Up {
  readonly state: DevState
  readonly lab: Lab
  /** Null when there is none. */
  readonly cluster: KubernetesCluster | null
}

/** The system that is up. @throws UsageError when there is none */
export function requireUp(): Up {
  const state = readState()
  const lab = state && Lab.open(state.labId)
  if (!state || !lab) throw new UsageError('nothing is up: run ./dev up first')
  return { state, lab, cluster: KubernetesCluster.open(lab) }
}
