import type { Interaction } from './interaction.ts'

/** Names begin with words: what somebody types then stands neither in an address nor in the id of another one. */
const WORDS = ['api', 'mail', 'shop', 'web'] as const
export const nameOf = (n: number): string => `${WORDS[n % WORDS.length]}-${n}`
/** Some are switched off, so that a filter by health finds few. */
export const isEnabled = (n: number): boolean => n % 8 !== 5

const [FIRST, FIRST_OFF] = [nameOf(0), nameOf(5)]
/** By the first letter that is typed: the first of the table. */
const FOUND = { m: nameOf(1), s: nameOf(2), w: nameOf(3) } as const
const FAR_PX = 60_000

const SHOWN = `document.querySelector('tbody th[scope=row] a')?.textContent`
const firstIs = (name: string): string => `${SHOWN} === '${name}'`
/** No place in sight waits for its row. */
const IS_FULL = `[200, 480, 780].every((y) => document.elementFromPoint(700, y)?.closest('tr[aria-rowindex]'))`
const health = (isShown: string): Interaction => ({
  ...{ event: 'click', isShown },
  act: (page) => page.getByRole('button', { name: /^Off/ }).click(),
})
const sort = (isShown: string): Interaction => ({
  ...{ event: 'click', isShown },
  act: (page) => page.getByRole('button', { name: 'Name' }).click(),
})

/**
 * What a person does with the table, which is sorted by name and shows all before and after.
 * @param count of its rows, a multiple of the words
 * @param round another letter is typed in each
 */
export function tableInteractions(count: number, round: number): readonly (readonly [string, Interaction])[] {
  const letters = Object.keys(FOUND) as (keyof typeof FOUND)[]
  const letter = letters[round % letters.length] ?? 's'
  return [
    [
      'scroll',
      {
        ...{ event: 'wheel', isShown: `scrollY >= ${FAR_PX} && ${IS_FULL}` },
        act: async (page) => {
          await page.mouse.move(700, 480)
          await page.mouse.wheel(0, FAR_PX)
        },
      },
    ],
    [
      'scroll',
      {
        ...{ event: 'keydown', isShown: `scrollY === 0 && ${IS_FULL} && ${firstIs(FIRST)}` },
        act: (page) => page.keyboard.press('Home'),
      },
    ],
    ['sort', sort(firstIs(nameOf(count - 1)))],
    ['sort', sort(firstIs(FIRST))],
    [
      'filter by text',
      {
        ...{ event: 'keydown', isShown: firstIs(FOUND[letter]) },
        act: async (page) => {
          await page.getByRole('searchbox').focus()
          await page.keyboard.press(letter)
        },
      },
    ],
    ['filter by text', { event: 'keydown', isShown: firstIs(FIRST), act: (page) => page.keyboard.press('Backspace') }],
    ['filter by health', health(firstIs(FIRST_OFF))],
    ['filter by health', health(firstIs(FIRST))],
    [
      'open one',
      {
        event: 'click',
        isShown: `document.querySelector('main h1')?.textContent === '${FIRST}' && document.querySelector('[aria-label="The path of a connection"] button') !== null`,
        act: (page) => page.getByRole('link', { name: FIRST, exact: true }).click(),
      },
    ],
    ['back', { event: 'popstate', isShown: firstIs(FIRST), act: (page) => page.evaluate('history.back()') }],
  ]
}
