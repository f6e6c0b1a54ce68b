import { expect, it } from 'vitest'
import { checkedText } from './checked-text.ts'

it.each([
  ['a colon left out', 'name: shop\nlisteners\n  - port: 80\n', 2, 'After this name a colon is missing.'],
  ['a colon left out at the end', 'name: shop\nadminUp\n', 2, 'After this name a colon is missing.'],
  [
    'two names in a line',
    'name: shop: 1\n',
    1,
    'After a value a further name follows. Begin it in a line of its own, below the names beside it.',
  ],
  [
    'a line that is one column too far right',
    'listeners:\n  - port: 80\n   protocol: http\n',
    3,
    'This line begins in another column than the lines that it belongs to.',
  ],
  [
    'a line that is one column too far right, ahead of a quoted text',
    'listeners:\n  - port: 80\n   protocol: http\nname: "shop"\n',
    3,
    'This line begins in another column than the lines that it belongs to.',
  ],
  [
    'a line that is a column too far left',
    'listeners:\n  - port: 80\n  protocol: http\n',
    3,
    'This line begins in another column than the lines that it belongs to.',
  ],
  [
    'an entry that is a column too far left',
    'listeners:\n  - a\n - b\n',
    3,
    'This line begins in another column than the lines that it belongs to.',
  ],
  ['a tab', 'listeners:\n\t- port: 80\n', 2, 'A tab indents this line. Use spaces.'],
  ['an open quotation', 'name: "shop\nadminUp: true\n', 1, 'A text that begins with " does not end with one.'],
  ['the other open quotation', "name: 'shop\nadminUp: true\n", 1, "A text that begins with ' does not end with one."],
  ['a name twice', 'name: a\nname: b\n', 2, 'The name of this line stands in the same object twice.'],
  ['an open list', 'pools: [1, 2\nname: b\n', 2, 'Before this line a ] is missing.'],
  ['an open object', 'pools: {a: 1\n', 2, 'Before this line a } is missing.'],
  ['a reserved character', 'name: @shop\n', 1, 'A text that begins with @ must stand in quotes.'],
  ['a percent sign', 'name: %shop\n', 1, 'A text that begins with % must stand in quotes.'],
])('says %s in plain words', (_, text, line, reason) => {
  expect(checkedText(text).fault).toEqual({ line, reason })
})

it('keeps the words of the parser for what is rare', () => {
  expect(checkedText('name: "\\q"\n').fault).toEqual({ line: 1, reason: 'Invalid escape sequence \\q' })
})
