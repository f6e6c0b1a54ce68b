import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Plugin } from 'rolldown'

const BESIDE = /new URL\(\s*'(\.[^']+)',\s*import\.meta\.url,?\s*\)/g
const PLACE = /\bimport\.meta\.(dirname|filename|url|resolve)\b/

/**
 * Takes files that sources name with `new URL('./NAME', import.meta.url)` into the bundle: programs and threads (`.ts`)
 * are bundled too, others are copied under their names.
 *
 * @throws Error for another way to name a file beside the source, which would not be found in the bundle
 */
export const filesBeside: Plugin = {
  name: 'files-beside',
  transform: {
    filter: { id: { include: /^\//, exclude: /\/node_modules\// }, code: PLACE },
    handler(code, id) {
      const changed = code.replaceAll(BESIDE, (_, name: string) => {
        const file = path.resolve(path.dirname(id), name)
        this.addWatchFile(file)
        const reference = file.endsWith('.ts')
          ? this.emitFile({ type: 'chunk', id: file, name: path.basename(file, '.ts') })
          : this.emitFile({ type: 'asset', fileName: path.basename(file), source: readFileSync(file) })
        return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`
      })
      const other = PLACE.exec(changed)?.[0]
      if (other !== undefined)
        this.error(`${id} has ${other}; name a file beside it as new URL('./NAME', import.meta.url)`)
      return { code: changed }
    },
  },
}
