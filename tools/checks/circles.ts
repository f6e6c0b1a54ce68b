import { existsSync } from 'node:fs'
import path from 'node:path'
import { cModules } from '../source-graph/c-modules.ts'
import { circlesOf, type Graph } from '../source-graph/graph.ts'
import { typescriptImports } from '../source-graph/typescript-imports.ts'

/**
 * The C modules with code, and the modules that each uses. A header without a `.c` file only describes data: two
 * modules that use the same structure do not depend on each other.
 */
export function modulesWithCode(root: string): Graph {
  const hasCode = (module: string) => existsSync(path.join(root, `${module}.c`))
  return new Map(
    [...cModules(root)]
      .filter(([module]) => hasCode(module))
      .map(([module, uses]) => [module, new Set([...uses].filter(hasCode))]),
  )
}

/** Every group of files that depend on each other, one per line. */
export const circlesIn = (graphs: readonly Graph[]): readonly string[] =>
  graphs.flatMap(circlesOf).map((circle) => `a circle: ${circle.join(', ')}`)

/** Circles in the repository: imports in TypeScript, and calls between C modules. */
export const circlesOfRepository = (root: string): readonly string[] =>
  circlesIn([typescriptImports(root), modulesWithCode(root)])
