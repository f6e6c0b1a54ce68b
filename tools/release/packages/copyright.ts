import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { LockFile } from '../sbom.ts'

/** The licence of Spout, then those of the npm packages that its programs contain, with their texts. */
export function copyrightFile(root: string): string {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as LockFile
  const contained = Object.entries(packages)
    .filter(([at, { dev, link }]) => at.includes('node_modules/') && !dev && !link)
    .map(([at]) => at)
    // Of the two of Node.js the one for this processor is installed.
    .filter((at) => globSync('package.json', { cwd: path.join(root, at) }).length > 0)
    .sort()
  return [
    'Spout\n',
    readFileSync(path.join(root, 'LICENSE'), 'utf8'),
    ...contained.map((at) => notice(path.join(root, at))),
  ].join(`\n${'-'.repeat(80)}\n\n`)
}

function notice(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Record<
    string,
    string
  >
  const texts = globSync('{LICENSE,LICENCE,License,license,NOTICE}*', { cwd: directory }).sort()
  return [
    `${name} ${version}: ${license ?? 'see its text'}\n`,
    ...texts.map((file) => readFileSync(path.join(directory, file), 'utf8')),
  ].join('\n')
}
