/** Bundles a program unless that is up to date: `node bundle-program.ts ENTRY`, under the lock of its bundles. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { THIS_CHECKOUT } from '../system/checkout.ts'
import { type BuildRecord, bundlesOf, recordFile, stampOf, upToDate } from './build-record.ts'
import { filesBeside } from './files-beside.ts'

const UNFINISHED = 'unfinished'
/** Processes of earlier bundles may still load parts of them. */
const KEPT_MS = 24 * 60 * 60_000
const MOST_TRIES = 5

async function build(entry: string): Promise<void> {
  const directory = bundlesOf(entry)
  const unfinished = path.join(directory, UNFINISHED)
  for (let tries = 0; tries < MOST_TRIES && upToDate(entry) === null; tries++) {
    // The lock is exclusive: an unfinished bundle belongs to a process that was killed.
    rmSync(unfinished, { recursive: true, force: true })
    const { hash, files } = await bundle(entry, unfinished)
    const record: BuildRecord = {
      program: path.join(hash, `${path.basename(entry, '.ts')}.js`),
      stamps: Object.fromEntries(files),
    }
    // The path stays while the content does, and so does what Node.js has cached of it.
    const target = path.join(directory, hash)
    if (existsSync(target)) rmSync(unfinished, { recursive: true })
    else renameSync(unfinished, target)
    writeFileSync(`${recordFile(entry)}.new`, JSON.stringify(record))
    renameSync(`${recordFile(entry)}.new`, recordFile(entry))
    removeOld(directory, hash)
  }
}

type Stamped = readonly [file: string, stamp: string]

async function bundle(
  entry: string,
  directory: string,
): Promise<{ readonly hash: string; readonly files: readonly Stamped[] }> {
  // Stamped before it is read: a file that changes meanwhile makes the bundle outdated.
  const stamped: Stamped[] = decisive().map((file) => [file, stampOf(file)])
  const seen = new Set<string>()
  const bundling = await rolldown({
    input: entry,
    // Comments in the bundle name sources relative to it: they must not depend on where this was started.
    cwd: THIS_CHECKOUT,
    platform: 'node',
    // This and `minify` take calls away whose result nobody uses, but whose error somebody catches.
    treeshake: false,
    plugins: [
      filesBeside,
      {
        name: 'stamps',
        load: {
          order: 'pre',
          filter: { id: { include: /^\//, exclude: /\/node_modules\// } },
          handler(id) {
            const file = path.relative(THIS_CHECKOUT, id)
            if (seen.has(file)) return
            seen.add(file)
            stamped.push([file, stampOf(file)])
          },
        },
      },
    ],
  })
  try {
    mkdirSync(directory, { recursive: true })
    const { output } = await bundling.write({
      dir: directory,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      sourcemap: true,
      minify: false,
    })
    const hash = createHash('sha256')
    for (const part of output.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1)))
      hash.update(`${part.fileName}\n`).update(part.type === 'chunk' ? part.code : part.source)
    writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}\n')
    const others = (await bundling.watchFiles)
      .map((file) => path.relative(THIS_CHECKOUT, file))
      .filter((file) => !file.includes('node_modules/') && !seen.has(file))
    return {
      hash: hash.digest('hex').slice(0, 16),
      files: [...stamped, ...others.map((one): Stamped => [one, stampOf(one)])],
    }
  } finally {
    await bundling.close()
  }
}

/** What decides which files are bundled, and how. The packages of others change only with their installation. */
const decisive = (): readonly string[] => [
  'node_modules/.package-lock.json',
  ...globSync(['package.json', '{packages/*,packages/intents/*,apps/*}/package.json'], { cwd: THIS_CHECKOUT }),
  ...globSync('*.ts', { cwd: import.meta.dirname }).map((file) =>
    path.relative(THIS_CHECKOUT, path.join(import.meta.dirname, file)),
  ),
]

function removeOld(directory: string, current: string): void {
  for (const name of readdirSync(directory)) {
    const one = path.join(directory, name)
    const old = Date.now() - statSync(one).mtimeMs > KEPT_MS
    if (statSync(one).isDirectory() && name !== current && old) rmSync(one, { recursive: true, force: true })
  }
}

const [entry = ''] = process.argv.slice(2)
await build(entry)
