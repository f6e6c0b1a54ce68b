import { run } from '@spout/testkit'
import { ROOT, type Verb } from './verb.ts'

const CHECKS: readonly { readonly name: string; readonly argv: readonly string[] }[] = [
  { name: 'types', argv: ['tsc', '-p', ROOT] },
  { name: 'lint and format', argv: ['biome', 'check', '--error-on-warnings', ROOT] },
  {
    name: 'layers, docs links, generated reference',
    argv: ['vitest', 'run', '--root', ROOT, '--project', 'unit', 'tools/'],
  },
  // Goldens are compared by the tests that own them; CI mode never writes a missing one.
  { name: 'goldens', argv: ['vitest', 'run', '--root', ROOT, '--project', 'unit', '--testNamePattern', '[Gg]olden'] },
  { name: 'dead code', argv: ['knip', '--no-progress', '--directory', ROOT] },
  { name: 'lock file', argv: ['npm', '--prefix', ROOT, 'ci', '--dry-run', '--ignore-scripts', '--no-audit'] },
]

/** `./dev check` */
export const check: Verb = {
  name: 'check',
  usage: '',
  summary: 'types, lint, format, layers, dead code, goldens, docs links',
  async run() {
    let failed = 0
    for (const { name, argv } of CHECKS) {
      const started = performance.now()
      const result = await run(argv, { env: { CI: 'true', NO_COLOR: '1' }, timeoutMs: 300_000 })
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      process.stdout.write(`${result.code === 0 ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)\n`)
      if (result.code !== 0) {
        failed++
        process.stdout.write(`${`${result.stdout}\n${result.stderr}`.trim()}\n`)
      }
    }
    return failed === 0 ? 0 : 1
  },
}
