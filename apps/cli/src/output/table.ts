import { styleText } from 'node:util'
import { displayWidth } from './width.ts'

/** Left-aligned columns two spaces apart, a bold heading, no trailing spaces. */
export function renderTable(titles: readonly string[], rows: readonly (readonly string[])[], colour: boolean): string {
  const widths = titles.map((title, column) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[column] ?? ''))),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === cells.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell)),
      )
      .join('  ')
      .trimEnd()
  const heading = line(titles)
  return [colour ? styleText('bold', heading) : heading, ...rows.map(line)].map((text) => `${text}\n`).join('')
}
