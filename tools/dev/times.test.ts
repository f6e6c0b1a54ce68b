import { expect, it } from 'vitest'
import { timesReport } from './times.ts'

const file = (name: string, importMs: number, hooksMs: number, ...tests: readonly number[]) => ({
  ...{ file: name, importMs, hooksMs },
  tests: tests.map((ms, index) => ({ name: `test ${index}`, ms })),
})

it('adds up imports, hooks and tests by project, and names the slowest files and tests first', () => {
  const report = timesReport([
    {
      project: 'unit',
      wallMs: 2000,
      busyMs: 3900,
      processors: 2,
      files: [file('a.test.ts', 100, 0, 400, 500), file('b.test.ts', 1000, 0, 1000)],
    },
    { project: 'lab', wallMs: 9000, busyMs: 4500, processors: 2, files: [file('c.lab.test.ts', 200, 6000, 800)] },
  ])
  expect(report.join('\n')).toBe(`project               wall s   busy s   busy    files s = imports + hooks + tests
unit                     2.0      3.9   98 %        3.0      1.1      0.0      1.9
lab                      9.0      4.5   25 %        7.0      0.2      6.0      0.8

slowest files     files s   share  imports    hooks    tests
lab                   7.0   70 %      0.2      6.0      0.8  c.lab.test.ts
unit                  2.0   20 %      1.0      0.0      1.0  b.test.ts
unit                  1.0   10 %      0.1      0.0      0.9  a.test.ts

slowest tests           s
unit                  1.0  b.test.ts > test 0
lab                   0.8  c.lab.test.ts > test 0
unit                  0.5  a.test.ts > test 1
unit                  0.4  a.test.ts > test 0`)
})

it('shows twenty of each at most, and can say that nothing ran', () => {
  const many = Array.from({ length: 30 }, (_, n) => file(`${n}.test.ts`, 1, 0, n))
  expect(timesReport([{ project: 'unit', wallMs: 1, busyMs: 1, processors: 1, files: many }])).toHaveLength(
    2 + 2 + 20 + 2 + 20,
  )
  expect(timesReport([])).toContain('slowest tests           s')
})
