/** The heading above what was changed since the last release. */
const UNRELEASED = '## Not released'

/**
 * The changelog with what is not released yet under the heading of a version.
 * @param day such as 2026-11-28
 * @throws Error when nothing is said of the version
 */
export function releasedChangelog(text: string, version: string, day: string): string {
  if (text.includes(`\n## ${version} (`)) return text
  const [before, rest] = split(text)
  const [said = ''] = rest.split(/^## /m)
  if (said.trim() === '') throw new Error(`CHANGELOG.md says nothing of ${version} under "${UNRELEASED}"`)
  return `${before}${UNRELEASED}\n\n## ${version} (${day})${rest}`
}

function split(text: string): readonly [string, string] {
  const at = text.indexOf(UNRELEASED)
  if (at === -1) throw new Error(`CHANGELOG.md has no heading "${UNRELEASED}"`)
  return [text.slice(0, at), text.slice(at + UNRELEASED.length)]
}
