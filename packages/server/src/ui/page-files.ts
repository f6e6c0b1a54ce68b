import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** A file of the built page. */
export interface PageFile {
  readonly type: string
  readonly content: Buffer
  /** Whether compressing makes it smaller. */
  readonly isText: boolean
  /** Of the content, without quotes. */
  readonly digest: string
  readonly cacheControl: string
}

/** The files of the built page, by their paths below `/ui/`. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** What answers every path of the page: the page itself finds out what to show there. */
export const INDEX = 'index.html'

/** The build puts a hash of the content into the names of these. */
const HASHED = /^assets\//
const FOREVER = 'public, max-age=31536000, immutable'
/** Kept, but never used without asking. */
const ASKED_EACH_TIME = 'no-cache'
const DIGEST_DIGITS = 32

interface FileType {
  readonly type: string
  readonly isText: boolean
}

/** What the build makes. Other files, such as source maps, are not served. */
const TYPES: Readonly<Record<string, FileType>> = {
  '.html': { type: 'text/html; charset=utf-8', isText: true },
  '.js': { type: 'text/javascript; charset=utf-8', isText: true },
  '.css': { type: 'text/css; charset=utf-8', isText: true },
  '.svg': { type: 'image/svg+xml', isText: true },
  '.json': { type: 'application/json', isText: true },
  '.png': { type: 'image/png', isText: false },
  '.ico': { type: 'image/x-icon', isText: false },
  '.woff2': { type: 'font/woff2', isText: false },
}

/**
 * Reads the built page into memory. No request looks into the file system, so none can leave the directory.
 * @returns null when nothing was built there
 */
export function readPage(directory: string): PageFiles | null {
  const files = new Map<string, PageFile>()
  for (const entry of entriesOf(directory)) {
    const known = TYPES[path.extname(entry.name)]
    if (!entry.isFile() || known === undefined) continue
    const file = path.join(entry.parentPath, entry.name)
    const content = readFileSync(file)
    const at = path.relative(directory, file)
    files.set(at, {
      ...known,
      content,
      digest: hash('sha256', content).slice(0, DIGEST_DIGITS),
      cacheControl: HASHED.test(at) ? FOREVER : ASKED_EACH_TIME,
    })
  }
  return files.has(INDEX) ? files : null
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
