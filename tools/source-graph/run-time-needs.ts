import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { cModules } from './c-modules.ts'
import type { Graph } from './graph.ts'

/** Ends the name of the node for a package's index with all that it exports. The index alone stands for its own text. */
const WHOLE = ' and all that it exports'
/** The C programs, by the module with `main`. */
const NATIVE_PROGRAMS = {
  helper: 'native/helper/main',
  mover: 'native/mover/main',
  flows: 'native/flows/main',
} as const

/**
 * What each TypeScript file needs at run time: its imports without types; of workspace packages, the imported names;
 * programs that it starts; C programs that it names; files and folders that it reads. It may include too much: every
 * string counts that names a file or folder of the repository.
 */
export function runTimeNeeds(root: string): Graph {
  const files = globSync('{packages,apps,tools,e2e,testbed}/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] })
  const byName = Map.groupBy(files, (file) => path.basename(file))
  const packages = packagesOf(root)
  const graph = new Map<string, Set<string>>()
  for (const file of files) {
    const text = withoutComments(readFileSync(path.join(root, file), 'utf8'))
    graph.set(file, new Set([...importsOf(file, text, packages), ...named(root, file, text, byName)]))
  }
  for (const { index, exported } of packages.values()) {
    // A file that imports by name does not need the rest of the index.
    const rest = new Set([...(graph.get(index) ?? [])].filter((one) => ![...exported.values()].includes(one)))
    graph.set(`${index}${WHOLE}`, new Set([index, ...exported.values(), ...rest]))
    graph.set(index, new Set())
  }
  for (const [module, used] of cModules(root)) graph.set(module, new Set(used))
  return graph
}

/** The files that need one of these, directly or indirectly. A changed `.c` or `.h` file stands for its module. */
export function needing(graph: Graph, changed: readonly string[]): ReadonlySet<string> {
  const neededBy = new Map<string, string[]>()
  for (const [file, needs] of graph) for (const one of needs) neededBy.set(one, [...(neededBy.get(one) ?? []), file])
  const found = new Set<string>()
  const open = changed.flatMap((file) => [file.replace(/\.[ch]$/, ''), ...ancestors(file), file])
  while (open.length > 0) {
    const one = open.pop()!
    if (found.has(one)) continue
    found.add(one)
    open.push(...(neededBy.get(one) ?? []))
  }
  return found
}

interface Package {
  readonly index: string
  /** The file that defines each name of the index. */
  readonly exported: ReadonlyMap<string, string>
  /** Other entry points: `./node-state` and their files. */
  readonly entries: ReadonlyMap<string, string>
}

function packagesOf(root: string): ReadonlyMap<string, Package> {
  const manifests = globSync('{packages/*,packages/intents/*}/package.json', { cwd: root })
  return new Map(
    manifests.map((manifest) => {
      const directory = path.dirname(manifest)
      const { name, exports } = JSON.parse(readFileSync(path.join(root, manifest), 'utf8')) as {
        readonly name: string
        readonly exports: Readonly<Record<string, string>>
      }
      const entries = Object.entries(exports).map(([entry, file]): [string, string] => [
        entry,
        path.join(directory, file),
      ])
      const index = path.join(directory, exports['.'] ?? 'src/index.ts')
      const exported = definersOf(root, index)
      return [name, { index, exported, entries: new Map(entries) }]
    }),
  )
}

/** The file that defines each name that an index exports. */
function definersOf(root: string, index: string): ReadonlyMap<string, string> {
  const read = (file: string) => (existsSync(path.join(root, file)) ? readFileSync(path.join(root, file), 'utf8') : '')
  const definers = new Map<string, string>()
  for (const [, names, from = ''] of read(index).matchAll(/export\s*(?:\*|\{([^}]*)\})\s*from\s*'(\.[^']+)'/g)) {
    const file = path.join(path.dirname(index), from)
    const all = names === undefined ? definedNames(read(file)) : namesOf(names).map((one) => one.as)
    for (const name of all) definers.set(name, file)
  }
  return definers
}

const definedNames = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:async )?(?:const|function\*?|class|let) (\w+)/gm)].map(([, name = '']) => name)

/** `a, type B, c as d`: what is imported or exported, types left out. */
const namesOf = (list: string): readonly { readonly name: string; readonly as: string }[] =>
  list
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('type '))
    .map((one) => {
      const [name = '', as = name] = one.split(/\s+as\s+/)
      return { name, as }
    })

function importsOf(file: string, text: string, packages: ReadonlyMap<string, Package>): readonly string[] {
  const clauses = text.matchAll(
    /\b(?:import|export)\s+(type\s)?([^'"();]*?)\bfrom\s*'([^']+)'|\bimport\s*\(?\s*'([^']+)'/g,
  )
  return [...clauses].flatMap(([, type, clause = '', from, alone]) => {
    const target = from ?? alone ?? ''
    if (type !== undefined) return []
    const near = path.join(path.dirname(file), target)
    const [scope, name, ...rest] = target.startsWith('.') ? [] : target.split('/')
    const found = target.startsWith('.')
      ? [...packages.values()].find(({ index }) => index === near)
      : packages.get(`${scope}/${name}`)
    if (found === undefined) return target.startsWith('.') ? [near] : []
    if (rest.length > 0) return [found.entries.get(`./${rest.join('/')}`) ?? `${found.index}${WHOLE}`]
    const list = /^\{([^}]*)\}\s*$/.exec(clause)?.[1]
    if (list === undefined) return [`${found.index}${WHOLE}`]
    return [found.index, ...namesOf(list).map((one) => found.exported.get(one.name) ?? `${found.index}${WHOLE}`)]
  })
}

/**
 * What a file's strings name: sources to start, C programs, files and folders. A template counts up to its first hole.
 */
function named(
  root: string,
  file: string,
  text: string,
  byName: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  return [...text.matchAll(/'([^'\n]*)'|`([^`]*)`/g)].flatMap(([, plain, template]) => {
    const literal = plain ?? template ?? ''
    const programs = Object.entries(NATIVE_PROGRAMS).flatMap(([program, main]) =>
      literal.includes(`spout-${program}`) && !literal.startsWith('/usr/') ? [main] : [],
    )
    const beginning = literal.includes('${') ? path.dirname(`${literal.slice(0, literal.indexOf('${'))}x`) : literal
    if (!/^[\w./@-]+$/.test(beginning)) return programs
    const places = [path.join(path.dirname(file), beginning), path.normalize(beginning)].filter(
      (place) => !place.startsWith('.') && place.includes('/') && isThere(root, place),
    )
    const sources = places.length === 0 && literal.endsWith('.ts') ? (byName.get(path.basename(literal)) ?? []) : []
    return [...programs, ...places.filter((place) => place !== path.dirname(file) && isNarrow(root, place)), ...sources]
  })
}

const isThere = (root: string, place: string): boolean => existsSync(path.join(root, place))
/** A file, or a folder with data: code that walks whole packages or the repository is a check of `tools/checks`. */
const isNarrow = (root: string, place: string): boolean =>
  statSync(path.join(root, place)).isFile() || /(^|\/)(testdata|deploy|docs|testbed)(\/|$)/.test(place)

/** `a`, `a/b` for `a/b/c`. */
const ancestors = (file: string): readonly string[] => {
  const parts = file.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Removes block comments and comments on lines of their own: prose names much of the repository. */
const withoutComments = (text: string): string => text.replaceAll(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*/gm, '')
