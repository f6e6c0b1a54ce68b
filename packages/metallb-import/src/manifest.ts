import { parseAllDocuments } from 'yaml'

/** An object of the other project's installation, and where it was read from. */
export interface Manifest {
  /** Such as `pools.yaml, document 2`. */
  readonly where: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Empty when none is said. */
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: unknown
  /** Of a ConfigMap. */
  readonly data: unknown
  readonly status: unknown
}

/** The input cannot be read; each line names file, document and field. */
export class BadManifests extends Error {
  override readonly name = 'BadManifests'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Foreign text, for a message of one line. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  const plain = text.replaceAll(/[^\x20-\x7e]/g, '?')
  return plain.length > 120 ? `${plain.slice(0, 117)}...` : plain
}

/** Items of a `kind: List` count as documents of their own. @throws BadManifests */
export function readManifests(file: string, text: string): readonly Manifest[] {
  const manifests: Manifest[] = []
  const bad: string[] = []
  for (const [index, document] of parseAllDocuments(text, { version: '1.1' }).entries()) {
    const where = `${file}, document ${index + 1}`
    const [mistake] = document.errors
    if (mistake !== undefined) {
      bad.push(`${where}: line ${mistake.linePos?.[0].line ?? 1}: ${mistake.message.split('\n')[0]}`)
      continue
    }
    let value: unknown
    try {
      // Aliases that expand to more than this are an attack.
      value = document.toJS({ maxAliasCount: 100 })
    } catch (error) {
      bad.push(`${where}: ${(error as Error).message.split('\n')[0]}`)
      continue
    }
    if (value !== null && value !== undefined) take(where, value)
  }
  if (bad.length > 0) throw new BadManifests(bad)
  return manifests

  function take(where: string, value: unknown): void {
    if (!isObject(value)) return void bad.push(`${where}: is no object`)
    const { apiVersion, kind, metadata, items, spec, data, status } = value
    if (typeof kind !== 'string') return void bad.push(`${where}: kind: is missing`)
    if (typeof apiVersion !== 'string') return void bad.push(`${where}: apiVersion: is missing`)
    if (kind.endsWith('List') && Array.isArray(items)) {
      for (const [index, item] of items.entries()) take(`${where}, item ${index + 1}`, item)
      return
    }
    const { name, namespace, labels, annotations } = isObject(metadata) ? metadata : {}
    if (typeof name !== 'string' || !/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name))
      return void bad.push(`${where}: metadata.name: ${name === undefined ? 'is missing' : 'is no name'}`)
    manifests.push({
      where,
      apiVersion,
      kind,
      name,
      namespace: typeof namespace === 'string' ? namespace : '',
      labels: textsIn(labels),
      annotations: textsIn(annotations),
      spec: spec ?? {},
      data: data ?? {},
      status: status ?? {},
    })
  }
}

const textsIn = (value: unknown): Readonly<Record<string, string>> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])) : {}
