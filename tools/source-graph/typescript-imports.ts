import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Graph } from './graph.ts'

/** Every TypeScript file of the repository and the files that it imports by a relative path, types included. */
export function typescriptImports(root: string): Graph {
  const files = globSync('{packages,apps,tools,bench,e2e,testbed}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  return new Map(
    files.map((file) => {
      const imported = readFileSync(path.join(root, file), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
      return [file, new Set([...imported].map(([, target = '']) => path.join(path.dirname(file), target)))]
    }),
  )
}
