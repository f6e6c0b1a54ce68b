import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Graph } from './graph.ts'

const OBJECTS = 'native/build/release'

/**
 * The C modules and the modules that each uses. A module is a `.c` file with the header of the same name, named by
 * their path without extension, such as `native/mover/run`. It uses modules whose header it includes, and modules that
 * define what it calls: one header may declare what several modules define. Calls are read from the objects of the last
 * build.
 * @throws when a `.c` file has not been built
 */
export function cModules(root: string): Graph {
  const uses = new Map<string, Set<string>>()
  const files = globSync('native/*/**/*.[ch]', { cwd: root, exclude: ['native/build/**', 'native/test/**'] })
  for (const file of files) uses.set(moduleOf(file), new Set())
  for (const file of files)
    for (const [, header = ''] of readFileSync(path.join(root, file), 'utf8').matchAll(/^#include "(.+)"/gm))
      uses.get(moduleOf(file))!.add(moduleOf(path.join(path.dirname(file), header)))
  const symbols = symbolsOf(root, files.filter((file) => file.endsWith('.c')).map(moduleOf))
  for (const [module, { needed }] of symbols)
    for (const [other, { defined }] of symbols)
      if (mayLink(module, other) && needed.some((name) => defined.has(name))) uses.get(module)!.add(other)
  for (const [module, used] of uses) used.delete(module)
  return uses
}

const moduleOf = (file: string): string => file.replace(/\.[ch]$/, '')

/** Each folder of `native` is a program, except folders that several link: names are unique only within a program. */
const mayLink = (user: string, definer: string): boolean =>
  programOf(user) === programOf(definer) || /^native\/(net|daemon)\//.test(definer)

const programOf = (module: string): string | undefined => module.split('/')[1]

interface Symbols {
  readonly defined: Set<string>
  readonly needed: string[]
}

/** Symbols of each module. A line of `nm` is `OBJECT: NAME TYPE …`; type `U` must be defined by another module. */
function symbolsOf(root: string, modules: readonly string[]): ReadonlyMap<string, Symbols> {
  const moduleOfObject = new Map(modules.map((module) => [objectOf(root, module), module]))
  const symbols = new Map(modules.map((module): [string, Symbols] => [module, { defined: new Set(), needed: [] }]))
  const argv = ['--print-file-name', '--portability', '--extern-only', ...moduleOfObject.keys()]
  for (const line of execFileSync('nm', argv, { encoding: 'utf8' }).trim().split('\n')) {
    const [object = '', name = '', type] = line.split(/:? /)
    const { defined, needed } = symbols.get(moduleOfObject.get(object) ?? '')!
    if (type === 'U') needed.push(name)
    else defined.add(name)
  }
  return symbols
}

const objectOf = (root: string, module: string): string =>
  path.join(root, OBJECTS, `${module.replace(/^native\//, '')}.o`)
