import { Document, isMap, isScalar, type YAMLMap } from 'yaml'
import { z } from 'zod'
import { chartValues, DEFAULT_VALUES } from './values.ts'

interface SchemaNode {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaNode>>
}

const schema = (): SchemaNode => z.toJSONSchema(chartValues, { target: 'draft-7', io: 'input' }) as SchemaNode

/** The schema that Helm checks values with: an unknown or wrong value is refused by its name. */
export const valuesSchema = (): string => `${JSON.stringify(schema(), null, 2)}\n`

/** The defaults, each with its description as a comment. @param head the first line */
export function valuesYaml(head: string): string {
  const document = new Document(DEFAULT_VALUES, { version: '1.1', aliasDuplicateObjects: false })
  if (isMap(document.contents)) describe(document.contents as YAMLMap, schema(), 0)
  return `${head}\n${document.toString({ lineWidth: 0 }).replace(/^%YAML.*\n---\n/, '')}`
}

function describe(map: YAMLMap, { properties = {} }: SchemaNode, depth: number): void {
  for (const pair of map.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    const node = properties[key]
    if (!isScalar(pair.key) || node === undefined) continue
    if (node.description !== undefined)
      pair.key.commentBefore = node.description
        .split('\n')
        .map((line) => ` ${line}`)
        .join('\n')
    if (depth === 0 && pair !== map.items[0]) pair.key.spaceBefore = true
    if (isMap(pair.value)) describe(pair.value as YAMLMap, node, depth + 1)
  }
}
