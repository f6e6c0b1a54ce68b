import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { CONFIG_MAPS } from '../in-cluster/installation.ts'
import type { KubernetesObject } from '../in-cluster/pod.ts'
import { WORKLOADS } from '../in-cluster/workloads.ts'
import { chartFiles } from './chart.ts'
import { FILLINGS, HOLES } from './holes.ts'
import { SEVERAL_FILLINGS } from './several.ts'
import { chartValues, DEFAULT_VALUES } from './values.ts'

const DIRECTORY = path.join(import.meta.dirname, '../../../../deploy/chart/spout')
const all = chartFiles()

it.each(Object.keys(all))('deploy/chart/spout/%s is made from the installation and the values', async (file) => {
  await expect(all[file]).toMatchFileSnapshot(path.join(DIRECTORY, file))
})

it('has no file that nothing generates', () => {
  const entries = readdirSync(DIRECTORY, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map(({ parentPath, name }) => path.relative(DIRECTORY, path.join(parentPath, name)))
  expect(files.sort()).toEqual(Object.keys(all).sort())
})

const objects = new Map(
  [...CONFIG_MAPS, ...WORKLOADS].map((object) => [`${object.kind}/${object.metadata.name}`, object]),
)
/** What is in a place of an object, through the YAML of its texts. */
const at = (object: KubernetesObject | undefined, keys: readonly (string | number)[]): unknown =>
  keys.reduce<unknown>((found, key) => {
    const within = typeof found === 'string' ? parse(found) : found
    return (within as Record<string | number, unknown> | undefined)?.[key]
  }, object)

it.each(HOLES)('the default of $value is what $object has there without the chart', ({ object, at: keys, value }) => {
  const byDefault = value
    .split('.')
    .reduce<unknown>((found, key) => (found as Record<string, unknown>)[key], DEFAULT_VALUES)
  expect(at(objects.get(object), keys)).toEqual(byDefault)
})

it('every value goes into a template, and every place is in an object that there is', () => {
  const templates = Object.entries(all).flatMap(([file, text]) => (file.startsWith('templates/') ? [text] : []))
  const unused = pathsOf(DEFAULT_VALUES).filter((value) => !templates.some((text) => text.includes(`.Values.${value}`)))
  expect(unused).toEqual([])
  for (const { object } of [...HOLES, ...FILLINGS, ...SEVERAL_FILLINGS]) expect(objects.has(object), object).toBe(true)
})

/** Paths of values that are no mapping with names of its own. */
function pathsOf(values: object, schema: { readonly shape: object } = chartValues): readonly string[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const below = sectionOf((schema.shape as Record<string, unknown>)[key])
    return below === null ? [key] : pathsOf(value as object, below).map((rest) => `${key}.${rest}`)
  })
}
interface Wrapped {
  readonly def: { readonly type: string; readonly innerType?: Wrapped }
  readonly shape?: object
}
function sectionOf(schema: unknown): { readonly shape: object } | null {
  const { def, shape } = schema as Wrapped
  if (def.innerType !== undefined) return def.type === 'prefault' ? sectionOf(def.innerType) : null
  return shape === undefined ? null : { shape }
}

it('templates name no namespace of their own', () => {
  for (const [file, text] of Object.entries(all))
    if (file.startsWith('templates/')) expect(text, file).not.toMatch(/namespace: spout\b|[ .]spout[/.](?!dev)[a-z]/)
})

it.each([
  [{ imge: 'spout:2' }, 'imge'],
  [{ announcer: 'ospf' }, 'announcer'],
  [{ pageUrl: 'https://ann:pw@spout.example/ui/' }, 'pageUrl'],
  [{ managementCidrs: ['10.0.0.0'] }, 'managementCidrs'],
  [{ agent: { tolerations: [{ effect: 'Never' }] } }, 'agent'],
  [{ store: { volume: { enabled: 'yes' } } }, 'store'],
])('%j is refused', (values, field) => {
  const { error } = chartValues.safeParse(values)
  expect(JSON.stringify(error?.issues)).toContain(field)
})
