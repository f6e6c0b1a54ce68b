import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A function of external linkage, defined at the left margin with its brace on a line of its own. */
const DEFINITION = /^(?!static\b)[a-z][\w *]*?\b(\w+)\([^;{}]*\)\n\{/gm
const INCLUDE = /^#include "([^"]+)"/gm

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? '')
const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/"(?:\\.|[^"\\\n])*"(?!>)/g, '""')

/** C sources below a folder by their path in it, without what was built and the tests, which are programs of their own. */
export function nativeSources(folder: string): ReadonlyMap<string, string> {
  const files = globSync('*/*.{c,h}', { cwd: folder, exclude: ['build/**', 'test/**'] }).sort()
  return new Map(files.map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]))
}

/**
 * Groups of C files that need each other: each uses, directly or through others of the group, a function that another one
 * defines. A use is a name that a header of the other file's folder declares, which the file includes, directly or not.
 */
export function nativeCircles(sources: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const needs = neededFiles(sources)
  const reached = new Map([...needs.keys()].map((file) => [file, closure(file, needs)]))
  const circles = new Map<string, readonly string[]>()
  for (const [file, others] of reached) {
    if (!others.has(file)) continue
    const group = [...others].filter((other) => reached.get(other)?.has(file)).sort()
    circles.set(group.join(), group)
  }
  return [...circles.values()]
}

function neededFiles(sources: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const includes = new Map(
    [...sources].map(([file, text]) => [
      file,
      new Set(matches(text, INCLUDE).map((name) => path.join(path.dirname(file), name))),
    ]),
  )
  const code = new Map([...sources].map(([file, text]) => [file, withoutComments(text)]))
  const units = [...code].filter(([file]) => file.endsWith('.c'))
  const definedIn = units.flatMap(([file, text]) => matches(text, DEFINITION).map((name) => ({ name, file })))
  const words = new Map([...code].map(([file, text]) => [file, new Set(text.match(/\w+/g))]))
  return new Map(
    units.map(([file]) => {
      const headers = [...closure(file, includes)]
      const used = definedIn.filter(
        (one) =>
          one.file !== file &&
          words.get(file)?.has(one.name) &&
          headers.some((header) => path.dirname(header) === path.dirname(one.file) && words.get(header)?.has(one.name)),
      )
      return [file, new Set(used.map((one) => one.file))]
    }),
  )
}

/** All that is reached from one, itself only when it is reached again. */
function closure(from: string, edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const to of edges.get(next) ?? []) {
      if (reached.has(to)) continue
      reached.add(to)
      open.push(to)
    }
  return reached
}
