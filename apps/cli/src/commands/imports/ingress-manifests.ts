import type { ReadObjects } from '@spout/intent-ingress/import'
import { parseAllDocuments } from 'yaml'
import { UsageError } from '../connections/context.ts'
import type { ManifestText } from './manifest-files.ts'

type Fields = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Aliases that expand to more than this are an attack. */
const MOST_ALIASES = 100

/**
 * The Ingresses, IngressClasses and Services of manifests; other kinds are passed over. Items of a List count.
 * @throws UsageError naming file, document and field
 */
export function ingressObjects(texts: readonly ManifestText[]): ReadObjects {
  const found: Record<'Ingress' | 'IngressClass' | 'Service', Fields[]> = { Ingress: [], IngressClass: [], Service: [] }
  for (const { file, text } of texts)
    for (const [index, document] of parseAllDocuments(text, { version: '1.1' }).entries()) {
      const where = `${file}, document ${index + 1}`
      const [mistake] = document.errors
      if (mistake !== undefined)
        throw new UsageError(`${where}: line ${mistake.linePos?.[0].line ?? 1}: ${mistake.message.split('\n')[0]}`)
      take(
        where,
        plainOf(where, () => document.toJS({ maxAliasCount: MOST_ALIASES })),
      )
    }
  return { ingresses: found.Ingress, classes: found.IngressClass, services: found.Service } as unknown as ReadObjects

  function take(where: string, value: unknown): void {
    if (value === null || value === undefined) return
    if (!isObject(value)) throw new UsageError(`${where}: is no object`)
    const { kind, items } = value
    if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
      for (const [at, item] of items.entries()) take(`${where}, item ${at + 1}`, item)
      return
    }
    if (kind !== 'Ingress' && kind !== 'IngressClass' && kind !== 'Service') return
    const wrong = fieldAtFault(value, SHAPES[kind])
    if (wrong !== null) throw new UsageError(`${where} (${kind}): ${wrong}`)
    found[kind].push(value)
  }
}

/** As the API server returns it: times are texts, and null fields are missing. */
function plainOf(where: string, read: () => unknown): unknown {
  try {
    const value = read()
    return value === undefined ? undefined : withoutNull(value)
  } catch (error) {
    throw new UsageError(`${where}: ${(error as Error).message.split('\n')[0]}`)
  }
}

const withoutNull = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) => (one === null ? undefined : one))

/** The shape that the API server guarantees, and a file does not. `?` after a name: the field may be missing. */
type Shape = 'text' | readonly [Shape] | { readonly [field: string]: Shape } | { readonly '*': Shape }

const METADATA: Shape = {
  name: 'text',
  'namespace?': 'text',
  'annotations?': { '*': 'text' },
  'creationTimestamp?': 'text',
}
const BACKEND: Shape = { 'service?': { name: 'text', 'port?': { 'name?': 'text' } } }
const SHAPES: Readonly<Record<string, Shape>> = {
  Ingress: {
    metadata: METADATA,
    'spec?': {
      'ingressClassName?': 'text',
      'defaultBackend?': BACKEND,
      'tls?': [{ 'hosts?': ['text'], 'secretName?': 'text' }],
      'rules?': [
        { 'host?': 'text', 'http?': { 'paths?': [{ 'path?': 'text', 'pathType?': 'text', backend: BACKEND }] } },
      ],
    },
  },
  IngressClass: { metadata: METADATA, 'spec?': { 'controller?': 'text' } },
  Service: { metadata: METADATA, spec: { 'type?': 'text', 'ports?': [{ 'name?': 'text', 'protocol?': 'text' }] } },
}

/** @returns field and reason; null when the value has the shape */
function fieldAtFault(value: unknown, shape: Shape | undefined, field = ''): string | null {
  const at = field === '' ? 'the object' : field
  if (shape === 'text') return typeof value === 'string' ? null : `${at}: is no text`
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return `${at}: is no list`
    return first(value.entries(), ([index, one]) => fieldAtFault(one, shape[0], `${field}[${index}]`))
  }
  if (!isObject(value)) return `${at}: is no object`
  const under = (name: string) => (field === '' ? name : `${field}.${name}`)
  return first(Object.entries(shape ?? {}), ([key, own]) => {
    if (key === '*') return first(Object.entries(value), ([name, one]) => fieldAtFault(one, own, under(name)))
    const name = key.replace('?', '')
    if (value[name] === undefined || value[name] === null)
      return key.endsWith('?') ? null : `${under(name)}: is missing`
    return fieldAtFault(value[name], own, under(name))
  })
}

function first<T>(all: Iterable<T>, of: (one: T) => string | null): string | null {
  for (const one of all) {
    const found = of(one)
    if (found !== null) return found
  }
  return null
}
