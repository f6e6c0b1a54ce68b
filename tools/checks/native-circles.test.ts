import path from 'node:path'
import { expect, it } from 'vitest'
import { nativeCircles, nativeSources } from './native-circles.ts'

it('no C file needs one that needs it', () => {
  const sources = nativeSources(path.resolve(import.meta.dirname, '../../native'))
  expect(sources.size).toBeGreaterThan(50)
  expect(nativeCircles(sources)).toEqual([])
})

const ENTRY = 'int main(void)\n{\n\treturn b_run();\n}\n\nint say(int code)\n{\n\treturn code;\n}\n'

it('finds a circle through a function that is not in the header of its name', () => {
  const sources = new Map([
    ['x/shared.h', 'int say(int code);\n'],
    ['x/a.c', `#include "b.h"\n#include "shared.h"\n\n${ENTRY}`],
    ['x/b.h', 'int b_run(void);\n'],
    ['x/b.c', '#include "b.h"\n#include "../x/shared.h"\n\nint b_run(void)\n{\n\treturn say(1);\n}\n'],
    ['x/c.c', '#include "b.h"\n\n/* say */\nint c_run(void)\n{\n\treturn b_run();\n}\n'],
  ])
  expect(nativeCircles(sources)).toEqual([['x/a.c', 'x/b.c']])
})

it('takes a name for a use only where a header declares it', () => {
  const sources = new Map([
    ['x/shared.h', 'int say(int code);\n'],
    ['x/a.c', `#include "b.h"\n#include "shared.h"\n\n${ENTRY}`],
    ['x/b.h', 'int b_run(void);\n'],
    [
      'x/b.c',
      '#include "b.h"\n\nstatic int say(int code)\n{\n\treturn code;\n}\n\nint b_run(void)\n{\n\treturn say(1);\n}\n',
    ],
  ])
  expect(nativeCircles(sources)).toEqual([])
})
