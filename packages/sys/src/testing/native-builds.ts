import { fileURLToPath } from 'node:url'
import { execOk } from '../exec.ts'

const NATIVE = fileURLToPath(new URL('../../../../native/', import.meta.url))

/** The helper as it is shipped, and with the address and undefined-behaviour sanitizers. */
export const BUILDS = [
  { name: 'release', path: `${NATIVE}build/spout-helper` },
  { name: 'sanitized', path: `${NATIVE}build/spout-helper-asan` },
] as const

/** Brings both builds up to date, one caller at a time. */
export async function buildHelper(): Promise<void> {
  await execOk(['flock', `${NATIVE}Makefile`, 'make', '-s', '-C', NATIVE, 'all', 'asan'], { timeoutMs: 110_000 })
}
