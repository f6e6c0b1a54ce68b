import { checkLines, runCheck, STATIC_CHECKS, unitTestsThatCheck } from './checks.ts'
import type { Verb } from './verb.ts'

/** `./dev check` */
export const check: Verb = {
  name: 'check',
  usage: '',
  summary: 'types, lint, format, layers, circles, dead code, goldens, docs links, commit subjects',
  async run() {
    let failed = 0
    for (const one of [...STATIC_CHECKS, unitTestsThatCheck()]) {
      const result = await runCheck(one)
      process.stdout.write(checkLines(result))
      if (!result.ok) failed++
    }
    return failed === 0 ? 0 : 1
  },
}
