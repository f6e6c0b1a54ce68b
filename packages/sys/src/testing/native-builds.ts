import { fileURLToPath } from 'node:url'
import { execOk } from '../exec.ts'

const NATIVE = fileURLToPath(new URL('../../../../native/', import.meta.url))

/** The helper as it is shipped. */
export const RELEASE = { name: 'release', path: `${NATIVE}build/spout-helper` } as const

/** With the address and undefined-behaviour sanitizers. The suites run this build, since it finds more. */
export const SANITIZED = { name: 'sanitized', path: `${NATIVE}build/spout-helper-asan` } as const

/** For the few tests that check the shipped build. The labs of other packages run that one. */
export const BUILDS = [RELEASE, SANITIZED] as const

/** Builds both, one caller at a time. */
export async function buildHelper(): Promise<void> {
  await execOk(['flock', `${NATIVE}Makefile`, 'make', '-s', '-C', NATIVE, 'all', 'asan'], { timeoutMs: 110_000 })
}
