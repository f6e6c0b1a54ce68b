import { fileURLToPath } from 'node:url'
import { test } from 'vitest'
import { execOk } from './exec.ts'

const NATIVE = fileURLToPath(new URL('../../../native/', import.meta.url))

test('units of the native programs, with sanitizers', async () => {
  await execOk(['flock', `${NATIVE}Makefile`, 'make', '-s', '-C', NATIVE, 'unit'], { timeoutMs: 110_000 })
})
