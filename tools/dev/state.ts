import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Lab, type SystemAccess } from '@spout/testkit'
import { ROOT, UsageError } from './verb.ts'

/** What `up` leaves behind for the other verbs. */
export interface DevState {
  readonly labId: string
  readonly bare: boolean
  readonly access: SystemAccess
}

const FILE = path.join(ROOT, 'build', 'dev.json')

export function readState(): DevState | null {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as DevState
  } catch {
    return null
  }
}

export function writeState(state: DevState): void {
  mkdirSync(path.dirname(FILE), { recursive: true })
  // It holds passwords of the lab.
  writeFileSync(FILE, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
}

export const removeState = (): void => rmSync(FILE, { force: true })

/** The system that is up. @throws UsageError when there is none */
export function requireUp(): { readonly state: DevState; readonly lab: Lab } {
  const state = readState()
  const lab = state && Lab.open(state.labId)
  if (!state || !lab) throw new UsageError('nothing is up: run ./dev up first')
  return { state, lab }
}
