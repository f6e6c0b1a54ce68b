import { globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

interface Manifest {
  version?: string
  name?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** The version of a checkout: of the last release, or of the next one. */
export const versionOf = (root: string): string =>
  (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly version: string }).version

const PACKAGES = ['package.json', '{packages/*,packages/intents/*,apps/*}/package.json']
/** Says which version may be replaced by the new one. */
const PROMISE = 'apps/cli/src/commands/upgrade/promise.ts'
/** Files that name the image or the chart of this version. */
const NAMING = [
  'packages/kubernetes-manifests/src/**/names.ts',
  'deploy/{kubernetes,chart,kustomize}/**/*.{yaml,json,md}',
  'docs/*.md',
  'README.md',
]

/**
 * Writes a version wherever the checkout names its own.
 * @returns the changed files
 */
export function setVersion(root: string, version: string): readonly string[] {
  const before = versionOf(root)
  const files = (globs: readonly string[]) => globSync(globs, { cwd: root, exclude: ['**/node_modules/**'] }).sort()
  const rewrite = (file: string, change: (text: string) => string): readonly string[] => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const changed = change(text)
    if (changed === text) return []
    writeFileSync(path.join(root, file), changed)
    return [file]
  }
  return [
    ...files(NAMING).flatMap((file) => rewrite(file, (text) => named(text, before, version))),
    ...rewrite('package-lock.json', (text) => lockFile(text, version)),
    ...(numbersOf(before) === numbersOf(version)
      ? []
      : files([PROMISE]).flatMap((file) => rewrite(file, (text) => promised(text, before)))),
    ...files(PACKAGES).flatMap((file) => rewrite(file, (text) => manifest(text, version))),
  ]
}

/** Names of the image (`spout:1.2.3`, `spout_1.2.3_amd64.oci.tar`), and lines of a chart and of kustomize. */
const named = (text: string, before: string, after: string): string =>
  text
    .replaceAll(new RegExp(`\\bspout:${RegExp.escape(before)}(?![\\w.-])`, 'g'), `spout:${after}`)
    .replaceAll(`spout_${before}_`, `spout_${after}_`)
    .replaceAll(
      new RegExp(`^(\\s*(?:version|appVersion|newTag): )(["']?)${RegExp.escape(before)}\\2$`, 'gm'),
      `$1$2${after}$2`,
    )

/** Candidates of a version take over from the same one as it. */
const numbersOf = (version: string): string => version.replace(/-.*/, '')

/** The version before, which the new one takes over from. */
const promised = (text: string, before: string): string =>
  text.replace(/^(export const UPGRADES_FROM = )'.*'$/m, `$1'${before}'`)

const manifest = (text: string, version: string): string => json(ownVersions(JSON.parse(text), version))

function lockFile(text: string, version: string): string {
  const lock = JSON.parse(text) as Manifest & { packages: Record<string, Manifest> }
  lock.version = version
  for (const [at, one] of Object.entries(lock.packages)) if (!at.includes('node_modules/')) ownVersions(one, version)
  return json(lock)
}

function ownVersions(one: Manifest, version: string): Manifest {
  if (one.version !== undefined) one.version = version
  for (const needed of [one.dependencies ?? {}, one.devDependencies ?? {}])
    for (const name of Object.keys(needed)) if (name.startsWith('@spout/')) needed[name] = version
  return one
}

/** As npm writes it. */
const json = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`
