import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** The anchor of a heading on a Git host. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/[`*]/g, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')

const anchorsIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^#{1,6} (.+)$/gm)].map((match) => anchorOf(match[1] ?? '')))

/** Broken links in the repository's Markdown, as `file: link`. Links to other hosts are not checked. */
export function brokenLinks(root: string): readonly string[] {
  const files = globSync('**/*.md', { cwd: root, exclude: ['**/node_modules/**', 'build/**'] })
  return files.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/```[\s\S]*?```/g, '')
    return [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)]
      .map((match) => match[1] ?? match[2] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [target = '', anchor] = link.split('#')
        const place = target === '' ? path.join(root, file) : path.join(root, path.dirname(file), target)
        if (!existsSync(place)) return true
        return anchor !== undefined && place.endsWith('.md') && !anchorsIn(readFileSync(place, 'utf8')).has(anchor)
      })
      .map((link) => `${file}: ${link}`)
  })
}
