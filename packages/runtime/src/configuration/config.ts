import { LineCounter, parse, parseDocument } from 'yaml'
import { z } from 'zod'
import { Secret } from '../secrets/secret.ts'

/** Where a setting came from. */
export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'flag'; readonly text: string }

export interface ConfigSources {
  readonly file?: { readonly name: string; readonly text: string }
  /** Variables are `<prefix>_<SECTION>_<KEY>`: `api.listenPort` is `SPOUT_API_LISTEN_PORT`. */
  readonly environment?: { readonly prefix: string; readonly variables: Readonly<Record<string, string | undefined>> }
  /** `section.key=value`. Overrides all other sources. */
  readonly set?: readonly string[]
}

export interface LoadedConfig<T> {
  readonly config: T
  /** One line `section.key = value  # origin` per setting, with secrets redacted. */
  print(): string
}

/** A setting is wrong. The message names the source, the setting and the reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** A setting whose value is never shown. */
export const secret = z.string().transform((text) => new Secret(text))

type Path = readonly string[]
type Tree = { [key: string]: unknown }

/**
 * Reads settings from four sources, each overriding the one before: the schema's defaults, a YAML file, the
 * environment, flags.
 * @throws ConfigError for the first setting that is unknown or wrong, in whichever source it is
 */
export function loadConfig<S extends z.ZodObject>(schema: S, sources: ConfigSources): LoadedConfig<z.output<S>> {
  const tree: Tree = {}
  const origins = new Map<string, Origin>()
  const put = (path: Path, value: unknown, origin: Origin) => {
    setAt(tree, path, value)
    for (const known of [...origins.keys()]) if (known.startsWith(`${key(path)}.`)) origins.delete(known)
    origins.set(key(path), origin)
  }
  if (sources.file) readFile(schema, sources.file, put)
  if (sources.environment) readEnvironment(schema, sources.environment, put)
  for (const text of sources.set ?? []) readFlag(schema, text, put)

  const originOf = (path: Path): Origin => {
    for (let length = path.length; length > 0; length--) {
      const origin = origins.get(key(path.slice(0, length)))
      if (origin !== undefined) return origin
    }
    return { from: 'default' }
  }
  const result = schema.safeParse(tree)
  if (!result.success) {
    const issue = result.error.issues[0]
    const path = (issue?.path ?? []).map(String)
    const whole = issue?.code === 'unrecognized_keys' ? [...path, issue.keys[0] ?? ''] : path
    const reason = issue?.code === 'unrecognized_keys' ? 'is not a known setting' : (issue?.message ?? 'is not valid')
    throw new ConfigError(`${place(originOf(whole))}: ${key(whole) || '(document)'}: ${reason}`)
  }
  return {
    config: result.data,
    print: () =>
      [...flatten(result.data, [])]
        .map(([path, value]) => `${key(path)} = ${shown(value)}  # ${place(originOf(path))}`)
        .join('\n'),
  }
}

type Put = (path: Path, value: unknown, origin: Origin) => void

const key = (path: Path): string => path.join('.')

const place = (origin: Origin): string => {
  if (origin.from === 'file') return `${origin.file}:${origin.line}:${origin.column}`
  if (origin.from === 'environment') return `environment ${origin.variable}`
  return origin.from === 'flag' ? `--set ${origin.text}` : 'default'
}

function readFile(schema: z.ZodObject, file: { readonly name: string; readonly text: string }, put: Put): void {
  const lines = new LineCounter()
  const document = parseDocument(file.text, { lineCounter: lines })
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset)
    return { from: 'file', file: file.name, line, column: col }
  }
  const broken = document.errors[0]
  if (broken) throw new ConfigError(`${place(at(broken.pos[0]))}: ${broken.message.split('\n')[0]}`)
  const value: unknown = document.toJS()
  if (value === null || value === undefined) return
  if (!isTree(value)) throw new ConfigError(`${file.name}:1:1: (document): must be a mapping of settings`)
  for (const [path, leaf] of flatten(value, [], (at) => fieldAt(schema, at) instanceof z.ZodObject)) {
    const node: unknown = document.getIn(path, true)
    put(path, leaf, at(hasRange(node) ? node.range[0] : 0))
  }
}

const hasRange = (node: unknown): node is { readonly range: readonly [number, number, number] } =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)

function readEnvironment(schema: z.ZodObject, environment: NonNullable<ConfigSources['environment']>, put: Put): void {
  for (const path of settings(schema, [])) {
    const variable = [environment.prefix, ...path.map(upperSnake)].join('_')
    const text = environment.variables[variable]
    if (text === undefined) continue
    const origin: Origin = { from: 'environment', variable }
    put(path, settingValue(schema, path, text, origin), origin)
  }
}

function readFlag(schema: z.ZodObject, text: string, put: Put): void {
  const split = text.indexOf('=')
  const path = text.slice(0, split).split('.')
  const name = text.slice(0, split)
  if (split < 1) throw new ConfigError(`--set ${text}: must read section.key=value`)
  if (fieldAt(schema, path) === undefined) throw new ConfigError(`--set ${name}: ${name}: is not a known setting`)
  // The origin names the setting only, because its value may be a secret.
  const origin: Origin = { from: 'flag', text: name }
  put(path, settingValue(schema, path, text.slice(split + 1), origin), origin)
}

/** Text settings take the text unchanged (a password `0123` keeps its zero). All others are parsed as YAML. */
function settingValue(schema: z.ZodObject, path: Path, text: string, origin: Origin): unknown {
  const field = fieldAt(schema, path)
  if (takesText(field)) return text
  try {
    return parse(text)
  } catch {
    throw new ConfigError(`${place(origin)}: ${key(path)}: is not a YAML value`)
  }
}

const upperSnake = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()

function* settings(schema: z.ZodObject, at: Path): Iterable<Path> {
  for (const name of Object.keys(schema.shape)) {
    const path = [...at, name]
    const field = fieldAt(schema, [name])
    if (field instanceof z.ZodObject) yield* settings(field, path)
    else yield path
  }
}

/** The schema of a setting without its defaults; undefined when the path is unknown. */
function fieldAt(schema: z.ZodObject, path: Path): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema
  for (const name of path) {
    if (!(at instanceof z.ZodObject) || !Object.hasOwn(at.shape, name)) return undefined
    at = bare(at.shape[name])
  }
  return at
}

function bare(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let at = schema
  while (
    at instanceof z.ZodDefault ||
    at instanceof z.ZodPrefault ||
    at instanceof z.ZodOptional ||
    at instanceof z.ZodNullable
  )
    at = at.unwrap()
  return at
}

const takesText = (field: z.core.$ZodType | undefined): boolean =>
  field instanceof z.ZodString ||
  field instanceof z.ZodStringFormat ||
  field instanceof z.ZodEnum ||
  (field instanceof z.ZodPipe && takesText(bare(field.in)))

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** The leaves of a tree. `enter` says which mappings are sections and which are values. */
function* flatten(value: Tree, at: Path, enter: (path: Path) => boolean = () => true): Iterable<[Path, unknown]> {
  for (const [name, field] of Object.entries(value)) {
    const path = [...at, name]
    if (isTree(field) && enter(path)) yield* flatten(field, path, enter)
    else yield [path, field]
  }
}

function setAt(tree: Tree, path: Path, value: unknown): void {
  let at = tree
  for (const name of path.slice(0, -1)) {
    const next = Object.hasOwn(at, name) ? at[name] : undefined
    if (isTree(next)) at = next
    else {
      const made: Tree = {}
      Object.defineProperty(at, name, { value: made, writable: true, enumerable: true, configurable: true })
      at = made
    }
  }
  const last = path.at(-1)
  if (last !== undefined)
    Object.defineProperty(at, last, { value, writable: true, enumerable: true, configurable: true })
}

const shown = (value: unknown): string => (value instanceof Secret ? String(value) : JSON.stringify(value))
