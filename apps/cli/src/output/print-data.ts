import { stringify } from 'yaml'

/** The formats of what has a text of its own for people. */
export const DATA_FORMATS = ['text', 'json', 'yaml'] as const
export type DataFormat = (typeof DATA_FORMATS)[number]

/** Prints data as JSON or YAML; in any other format as its text for people. */
export function printData(data: object, format: string, text: () => string): string {
  if (format === 'json') return `${JSON.stringify(data, null, 2)}\n`
  return format === 'yaml' ? stringify(data) : text()
}
