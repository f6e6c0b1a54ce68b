import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fieldWords } from './field-words.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'spout-words-'))
  writeFileSync(
    path.join(directory, 'pool.ts'),
    `export const pool = z.strictObject({
  /** How much it gets. Earlier versions do not know the field. */
  weight: z.number(),
  /**
   * Two lines
   * of text. At most \`MOST_POOLS\`.
   */
  pools,
  tls: z.strictObject({
    /** Another one. */
    weight: z.number(),
    /** Absent in routes of an earlier version. */
    filters,
  }),
})
/** About no field. */
export type Pool = z.infer<typeof pool>
`,
  )
})
afterAll(() => rmSync(directory, { recursive: true }))

it('reads the comments above fields, without what is not for people', () => {
  const words = fieldWords(directory, ['*.ts'])
  expect(Object.fromEntries(words)).toEqual({
    weight: ['How much it gets.', 'Another one.'],
    pools: ['Two lines of text.'],
    filters: [''],
  })
})
