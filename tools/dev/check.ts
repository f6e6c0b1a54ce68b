import { checkLines, runAtOnce, runCheck, STATIC_CHECKS, unitTestsThatCheck } from './checks.ts'
import type { Verb } from './verb.ts'

/** `./dev check` */
export const check: Verb = {
  name: 'check',
  usage: '',
  summary: 'types, lint, format, layers, circles, dead code, goldens, docs links, commit subjects',
  async run() {
    const results = await runAtOnce(STATIC_CHECKS)
    for (const result of results) process.stdout.write(checkLines(result))
    // Tests take all processors.
    const tested = await runCheck(unitTestsThatCheck())
    process.stdout.write(checkLines(tested))
    return [...results, tested].every(({ ok }) => ok) ? 0 : 1
  },
}
