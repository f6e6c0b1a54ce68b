import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { KubernetesCluster, Lab, type SystemAccess } from '@spout/testkit'
import { ROOT, UsageError } from './verb.ts'

/** The variants of `up`. */
export type UpKind = 'whole' | 'bare' | 'kubernetes'

/** What `up` records for the other verbs. */
export interface DevState {
  readonly labId: string
  /** Directory of the lab: lab ids are reused, directories are not. */
  readonly directory: string
  readonly kind: UpKind
  readonly access: SystemAccess
}

/** A test names a file of its own, so that it does not touch a person's lab. */
const FILE = process.env['SPOUT_DEV_STATE'] ?? path.join(ROOT, 'build', 'dev.json')

/** The recorded lab; null also when it is gone and another one has its id. */
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
  // It contains the lab's passwords.
  writeFileSync(FILE, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
}

export const removeState = (): void => rmSync(FILE, { force: true })

/** The running system. */
export interface Up {
  readonly state: DevState
  readonly lab: Lab
  /** Null when there is none. */
  readonly cluster: KubernetesCluster | null
}

/** The running system. @throws UsageError when there is none */
export function requireUp(): Up {
  const state = readState()
  const lab = state && Lab.open(state.labId)
  if (!state || !lab) throw new UsageError('nothing is up: run ./dev up first')
  return { state, lab, cluster: KubernetesCluster.open(lab) }
}
