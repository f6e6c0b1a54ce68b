/** A version as numbers; null for a text that is none. Of `1.2.3-rc.1` the part after the numbers is `rc.1`. */
function parts(version: string): { readonly numbers: readonly number[]; readonly pre: string | null } | null {
  const [, major, minor, patch, pre] = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+.*)?$/.exec(version) ?? []
  if (major === undefined) return null
  return { numbers: [major, minor, patch].map(Number), pre: pre ?? null }
}

/**
 * Which of two versions is the newer one, by their numbers: a version is newer than its own pre-releases (semver.org,
 * section 11), which are in the order of their texts.
 * @returns below zero if `a` is older, above zero if it is newer; null if one of them is no version
 */
export function compareVersions(a: string, b: string): number | null {
  const [left, right] = [parts(a), parts(b)]
  if (left === null || right === null) return null
  for (const [at, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[at] ?? 0)
    if (difference !== 0) return difference
  }
  if (left.pre === right.pre) return 0
  if (left.pre === null) return 1
  if (right.pre === null) return -1
  return left.pre < right.pre ? -1 : 1
}
