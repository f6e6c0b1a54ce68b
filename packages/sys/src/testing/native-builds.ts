import { fileURLToPath } from 'node:url'
import { execOk } from '../exec.ts'

const NATIVE = fileURLToPath(new URL('../../../../native/', import.meta.url))

/** The helper as it is shipped. */
export const RELEASE = { name: 'release', path: `${NATIVE}build/spout-helper` } as const

/** With the address and undefined-behaviour sanitizers: the build that the suites run, since it finds more. */
export const SANITIZED = { name: 'sanitized', path: `${NATIVE}build/spout-helper-asan` } as const

/** For the few tests that show that the shipped build works too; the labs of other packages run that one. */
export const BUILDS = [RELEASE, SANITIZED] as const

/** Brings both builds up to date, one caller at a time. */
export async function buildHelper(): Promise<void> {
  await execOk(['flock', `${NATIVE}Makefile`, 'make', '-s', '-C', NATIVE, 'all', 'asan'], { timeoutMs: 110_000 })
}
