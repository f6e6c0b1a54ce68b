import { existsSync, realpathSync } from 'node:fs'
import path from 'node:path'

/**
 * Where the built page may be, from the directory of the control plane's program: as packages install it, beside its
 * sources, and beside its bundles.
 */
const PLACES = ['../dashboard', '../../../build/dashboard', '../../../dashboard'] as const

/**
 * The directory of the built page. It need not exist.
 * @param configured the setting `ui.directory`; empty: found by the program
 * @param program file of the running program
 */
export function pageDirectory(configured: string, program: string): string {
  if (configured !== '') return configured
  const places = PLACES.map((place) => path.resolve(path.dirname(realpathSync(program)), place))
  return places.find((place) => existsSync(path.join(place, 'index.html'))) ?? places[0] ?? ''
}
