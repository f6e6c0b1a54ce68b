import path from 'node:path'
import { expect, it } from 'vitest'
import { inertTests, testsWithoutExpectation } from './expectations.ts'

it('no test passes whatever the product does', () =>
  expect(testsWithoutExpectation(path.resolve(import.meta.dirname, '../..'))).toEqual([]))

const TESTS = `const asked = (): string => system.answer()

async function answersBecome(text: string) {
  await waitFor(() => asked() === text)
}

describe('a listener', () => {
  it('is asked', async () => {
    await change()
    asked()
  })

  it('is asked with an answer', async () => {
    await change()
    await answersBecome('yes')
  })

  it.each([1, 2])('says %i', (n) => expect(asked()).toBe(n))

  test('is closed', () => system.close())
})
`

it('finds tests that expect nothing, themselves or in functions of their file', () =>
  expect(inertTests(TESTS)).toEqual(["8: it('is asked', async () => {", "20: test('is closed', () => system.close())"]))
