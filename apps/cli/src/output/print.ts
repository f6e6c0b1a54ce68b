import { printable } from '@spout/runtime/printable'
import { stringify } from 'yaml'
import type { Column, Row } from '../resources/resource.ts'
import { colourStatus } from './status-colour.ts'
import { renderTable } from './table.ts'

export const FORMATS = ['table', 'wide', 'json', 'yaml', 'name'] as const
export type Format = (typeof FORMATS)[number]

export interface Printing {
  readonly format: Format
  readonly colour: boolean
}

const text = (value: unknown): string =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
    ? '-'
    : printable(Array.isArray(value) ? value.join(', ') : String(value))

/** Prints a list in the requested format. */
export function printList(rows: readonly Row[], columns: readonly Column[], { format, colour }: Printing): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(rows, null, 2)}\n`
    case 'yaml':
      return stringify(rows)
    case 'name':
      return rows.map((row) => `${text(row.name ?? row.id)}\n`).join('')
    case 'table':
    case 'wide': {
      const shown = columns.filter((column) => format === 'wide' || !column.wide)
      const cells = rows.map((row) => shown.map((column) => colourStatus(text(column.value(row)), colour)))
      return rows.length === 0
        ? 'None.\n'
        : renderTable(
            shown.map((column) => column.title),
            cells,
            colour,
          )
    }
  }
}

/** Prints one object: one field per line. */
export function printOne(row: Row, columns: readonly Column[], { format, colour }: Printing): string {
  if (format === 'json') return `${JSON.stringify(row, null, 2)}\n`
  if (format === 'yaml') return stringify(row)
  if (format === 'name') return `${text(row.name ?? row.id)}\n`
  const width = Math.max(...columns.map((column) => column.title.length))
  return columns
    .map((column) => `${column.title.padEnd(width)}  ${colourStatus(text(column.value(row)), colour)}\n`)
    .join('')
}
