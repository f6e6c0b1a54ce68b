import { copyFileSync, cpSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { builtPage, bundleOf, must } from '@spout/testkit'
import { copyrightFile } from './copyright.ts'
import { DOCUMENTS, installedText, LIBRARY } from './installed-text.ts'
import type { App, DebianPackage, ServiceFiles } from './package-table.ts'

const COMPLETIONS = {
  bash: '/usr/share/bash-completion/completions/spout',
  zsh: '/usr/share/zsh/vendor-completions/_spout',
  fish: '/usr/share/fish/vendor_completions.d/spout.fish',
} as const

/**
 * Puts a package's files below `tree`, which stands for `/`. Programs are the bundles that the tests start, without source
 * maps; C programs are stripped, which also takes away what names the directory that they were built in.
 */
export async function placeFiles(root: string, described: DebianPackage, tree: string) {
  const { name, program, page, command, native, service } = described
  const inTree = (file: string): string => {
    const placed = path.join(tree, file)
    mkdirSync(path.dirname(placed), { recursive: true })
    return placed
  }
  const text = (file: string, content: string) => writeFileSync(inTree(file), content)

  copyBundle(root, program, (file) => inTree(path.join(LIBRARY, program, file)))
  if (page) cpSync(builtPage(), inTree(`${LIBRARY}/dashboard`), { recursive: true })
  for (const one of native) {
    const stripped = ['--strip-unneeded', '--remove-section=.note.gnu.build-id', '-o', inTree(path.join(LIBRARY, one))]
    await must(['strip', ...stripped, path.join(root, 'native/build', one)])
  }
  text(`/usr/share/doc/${name}/copyright`, copyrightFile(root))
  if (service !== null) placeService(root, service, text)
  if (command !== null) text(command, `#!/bin/sh\nexec ${LIBRARY}/node ${LIBRARY}/${program}/main.js "$@"\n`)
  if (program === 'cli') await placeRuntime(root, inTree, text)
}

function copyBundle(root: string, app: App, target: (file: string) => string): void {
  const directory = path.dirname(bundleOf(path.join(root, 'apps', app, 'src/main.ts')))
  for (const file of readdirSync(directory).filter((each) => !each.endsWith('.map')))
    copyFileSync(path.join(directory, file), target(file))
}

function placeService(
  root: string,
  { unit, settings }: ServiceFiles,
  text: (file: string, content: string) => void,
): void {
  const source = (file: string) => readFileSync(path.join(root, 'deploy/systemd', file), 'utf8')
  text(`/usr/lib/systemd/system/${unit}`, installedText(source(unit)))
  text(`/etc/spout/${settings}`, source(settings))
}

/** The Node.js of all packages, completions of the command, and the manual. */
async function placeRuntime(
  root: string,
  inTree: (file: string) => string,
  text: (file: string, content: string) => void,
): Promise<void> {
  copyFileSync(process.execPath, inTree(`${LIBRARY}/node`))
  for (const [shell, file] of Object.entries(COMPLETIONS))
    text(file, await must([process.execPath, inTree(`${LIBRARY}/cli/main.js`), 'completion', shell]))
  const docs = path.join(root, 'docs')
  for (const page of globSync('**/*.md', { cwd: docs, exclude: ['design/**'] }))
    copyFileSync(path.join(docs, page), inTree(path.join(DOCUMENTS, page)))
}
