import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { run } from '@spout/testkit'
import { expect, it } from 'vitest'
import { checkLines, goldenOwners, runAtOnce, runCheck } from './checks.ts'
import { ROOT } from './verb.ts'

it('finds every test file that owns goldens, whatever its tests are called', () => {
  const owners = goldenOwners(ROOT)
  expect(owners).toContain('packages/dataplane/src/drivers/haproxy/render.test.ts')
  expect(owners).toContain('packages/intents/octavia/src/write-back/write-back.test.ts')
  expect(owners.every((file) => existsSync(path.join(ROOT, file)))).toBe(true)
})

it('a check fails with its program, and shows its output', async () => {
  const failed = await runCheck({ name: 'types', argv: ['sh', '-c', 'echo "a.ts: wrong" >&2; exit 3'] })
  expect(failed.ok).toBe(false)
  expect(checkLines({ ...failed, seconds: 1.23 })).toBe('FAIL  types (1.2 s)\na.ts: wrong\n')
  const passed = await runCheck({ name: 'types', argv: ['echo', 'much'] })
  expect(checkLines({ ...passed, seconds: 0 })).toBe('ok    types (0.0 s)\n')
})

it('checks that run at once are told in their order, each with its own result', async () => {
  const script = (name: string, text: string) => ({ name, argv: ['sh', '-c', text] })
  // The first one ends only when the second one has.
  const pipe = path.join(mkdtempSync(path.join(tmpdir(), 'spout-checks-')), 'pipe')
  execFileSync('mkfifo', [pipe])
  const results = await runAtOnce([script('first', `cat ${pipe}`), script('second', `echo over > ${pipe}; exit 1`)])
  expect(results).toMatchObject([
    { name: 'first', ok: true, output: 'over' },
    { name: 'second', ok: false },
  ])
  rmSync(path.dirname(pipe), { recursive: true })
})

it('a program that is ended because it takes too long says so', async () => {
  const { code, stderr } = await run(['sleep', '600'], { timeoutMs: 100 })
  expect({ code, stderr }).toEqual({ code: 124, stderr: expect.stringMatching(/\nended after 0\.1 s$/) })
})
