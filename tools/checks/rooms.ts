import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The folders of a package, lowest first: a file imports from its own folder and from those before it. Files beside the
 * folders, `index.ts` first of all, put the folders together and may import from each.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'packages/controllers/src': [
    'node-states',
    'indexes',
    'liveness',
    'reports',
    'shards',
    'publishing',
    'planning',
    'node-status',
    'withdrawals',
    'status',
    'clean-up',
  ],
}

const isTest = (file: string): boolean => /\.test\.ts$|^testing\//.test(file)

/** Every import that goes up, and every folder that stands in no list, as `file: reason`. */
export function roomViolations(root: string, rooms: Readonly<Record<string, readonly string[]>>): readonly string[] {
  return Object.entries(rooms).flatMap(([source, order]) => {
    const directory = path.join(root, source)
    return globSync('*/**/*.ts', { cwd: directory })
      .filter((file) => !isTest(file))
      .flatMap((file) => {
        const room = roomOf(file)
        if (!order.includes(room)) return [`${source}/${file}: ${room} is no room of ${source}`]
        return importsOf(readFileSync(path.join(directory, file), 'utf8'))
          .map((imported) => roomOf(path.join(path.dirname(file), imported)))
          .filter((other) => other !== room && !order.slice(0, order.indexOf(room)).includes(other))
          .map((other) => `${source}/${file}: ${room} imports from ${other}, which does not come before it`)
      })
  })
}

const roomOf = (file: string): string => file.split('/')[0] ?? ''

const importsOf = (source: string): readonly string[] =>
  [...source.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map((match) => match[1] ?? '')
